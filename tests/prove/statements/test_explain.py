"""A computation stage by stage: exact values of every stage, and where two computations first differ."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import const
from tcsmt.matrix_units.arithmetic.datapath import Exponent, Fixed, Number
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd, Kind
from tcsmt.prove.statements.explain import (
    exponent_value,
    first_difference,
    fixed_value,
    known_words,
    number_value,
    short_text,
    signed_text,
    stage_lines,
    steps,
)
from tests.support.drawn import VOLTA, words

UNIT = row_named(VOLTA).model
assert isinstance(UNIT, FusedDotAdd)
NUMBERS = st.integers(-31, 31).map(lambda n: Fraction(n, 8))


@settings(max_examples=10, deadline=None)
@given(st.lists(NUMBERS, min_size=8, max_size=8), NUMBERS)
def test_stages_hold_exact_values(factors: list[Fraction], c: Fraction) -> None:
    """Products, and the sum, of numbers so close that nothing is cut."""
    formats = UNIT.input_formats.values()
    values = dict(
        zip(UNIT.input_names, (f.word(x) for f, x in zip(formats, [*factors, c], strict=True)), strict=True)
    )
    found = steps(UNIT.trace, values)
    assert [step.stage for step in found] == list(UNIT.trace.stages)
    products = [step.value for step in found if step.stage.kind is Kind.PRODUCT]
    expected = [x * y for x, y in zip(factors[:4], factors[4:], strict=True)]
    assert [value if isinstance(value, Fraction) else Fraction(0) for value in products] == expected
    known = known_words(UNIT.trace, values)
    for step in found:
        match step.stage.value:
            case Number() as x:
                assert number_value(x, known) in expected
            case Fixed() as x if x.addends:
                assert fixed_value(x, known) == sum(expected) + c
            case Exponent() as e:
                assert step.value == exponent_value(e, known) == e.low + evaluate([e.term], values)[0]
    assert found[-1].word == ("f32", evaluate([UNIT.trace.output], values)[0])


def test_values_of_words() -> None:
    known = {word: word.value for word in (const(0xE, 4), const(3, 4), const(1, 1), const(0, 1), const(2, 3))}
    exponent = Exponent(const(2, 3), -4, 3)
    assert exponent_value(exponent, known) == -2
    assert fixed_value(Fixed(const(0xE, 4), exponent, 1), known) == Fraction(-2, 8)
    number = Number(const(1, 1), exponent, const(3, 4), 1, const(0, 1), const(0, 1), const(0, 1))
    assert number_value(number, known) == Fraction(-3, 8)


def first(one: FusedDotAdd, two: FusedDotAdd, **texts: str) -> tuple[str, str, str] | None:
    values = words(one, **texts)
    found = first_difference(steps(one.trace, values), steps(two.trace, values))
    return None if found is None else (found[0].name, found[0].text, found[1].text)


def test_where_values_part() -> None:
    """Not where graphs do: other parameters with the same values do not count."""
    finer = UNIT.replace(fraction_bits=24)
    assert first(UNIT, finer, a0="1", b0="1", c="1") is None
    found = first(UNIT, finer, a0="1", b0="1", c="0xbf000001")
    assert found is not None and found[0] == "aligned c"
    zeros = first(UNIT, UNIT.replace(zero_exponent=-126))
    assert zeros is not None and zeros[0] == "largest exponent"
    rounded = first(UNIT, UNIT.replace(rounding="RTP"), a0="1", b0="1", a1="1", b1="1", c="0x3f800001")
    assert rounded is not None and rounded[0] == "result"


def test_stages_of_other_blocks_correspond_by_their_products() -> None:
    """Two lanes at a time: the products are the same; where the sums differ, the results do."""
    halves = UNIT.replace(n_fma=2)
    assert first(UNIT, halves, a0="1", b0="1") is None
    found = first(UNIT, halves, a0="1", b0="1", a1="-1", b1="1", a2="0x1p-12", b2="0x1p-12")
    assert found is not None


def test_special_values_are_texts() -> None:
    values = words(UNIT, a0="inf", b0="1")
    found = {step.name: step for step in steps(UNIT.trace, values)}
    product = found["product 0"]
    assert isinstance(product.value, str) and "inf" in product.text.lower()
    other = {step.name: step for step in steps(UNIT.trace, words(UNIT, a0="-inf", b0="1"))}
    assert product.differs(other["product 0"]) and not product.differs(product)


@pytest.mark.parametrize(
    ("value", "text"), [(Fraction(0), "0"), (Fraction(-3, 2), "-1.5"), (Fraction(5, 16), "1.25·2^-2")]
)
def test_signed_values(value: Fraction, text: str) -> None:
    assert signed_text(value) == text


def test_short_values() -> None:
    """In hexadecimal where a decimal significand is long."""
    assert short_text(Fraction(-5, 8)) == "-1.25·2^-1"
    value = -(1 + Fraction(3, 1 << 40))
    assert short_text(value).startswith("-0x1.") and float.fromhex(short_text(value)) == float(value)


def test_lines_of_all_stages() -> None:
    row = [words(UNIT, a0="1.5", b0="2", c="1")[name] for name in UNIT.input_names]
    lines = stage_lines(UNIT, row)
    assert len(lines) >= len(UNIT.trace.stages)
    assert any("product 0" in line and "1.5·2^1" in line for line in lines)
    assert "0x40800000" in lines[-1]
