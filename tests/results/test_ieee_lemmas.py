"""Multiplication and multiply-add against the floating-point theory: the lemmas hold, and say something."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction

import pytest
from ieee_lemmas import IeeeLemmas

from tcsmt.language.terms import FALSE
from tcsmt.matrix_units.arithmetic import datapath
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.prove.engine.options import SolvingOptions
from tests.support import solving_here


def small(exponent_bits: int, precision: int) -> Format:
    bias = (1 << (exponent_bits - 1)) - 1
    name = f"e{exponent_bits}p{precision}"
    return Format(name=name, exponent_bits=exponent_bits, fraction_bits=precision - 1, bias=bias)


TINY = IeeeLemmas(small(2, 2))
BINARY16 = IeeeLemmas(FORMATS["f16"])


def answer(text: str, timeout: float = 60) -> str:
    found = solving_here.solve(text, SolvingOptions("bitwuzla", timeout))
    assert found.answer != "unknown", found.reason
    return found.answer


def failing(lemmas: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The lemmas that do not hold."""
    return (name for name, text in lemmas if answer(text) == "sat")


@pytest.mark.slow
def test_tiny() -> None:
    assert [*failing(TINY.multiplication()), *failing(TINY.multiply_add())] == []


@pytest.mark.long
def test_multiplication_of_binary16() -> None:
    assert list(failing(BINARY16.multiplication())) == []


@pytest.mark.long
@pytest.mark.parametrize("fmt", [small(2, 3), small(3, 3), small(2, 4)], ids=lambda fmt: fmt.name)
def test_small(fmt: Format) -> None:
    assert list(failing(IeeeLemmas(fmt).multiply_add())) == []


@pytest.mark.long
@pytest.mark.parametrize("name", ["bf16", "f32", "f64"])
def test_multiplication(name: str) -> None:
    assert list(failing(IeeeLemmas(FORMATS[name]).multiplication())) == []


@pytest.mark.long
def test_multiply_add_of_binary16() -> None:
    """``results/comparisons/ieee.json`` has what each takes."""
    assert list(failing(BINARY16.multiply_add())) == []


@pytest.mark.long
def test_binary16_apart() -> None:
    """Of the long ones, those of the largest difference."""
    wanted = f"difference {BINARY16.differences[-1]}"
    found = [lemma for lemma in BINARY16.multiply_add() if lemma[0].endswith(wanted)]
    assert [name for name, _ in found] == [f"sum, {wanted}", f"ours, {wanted}"]
    assert list(failing(found)) == []


@pytest.mark.slow
def test_every_lemma_is_about_something() -> None:
    """What a lemma takes for granted holds for some inputs."""
    for lemmas in (TINY.multiplication(), TINY.multiply_add()):
        for name, text in lemmas:
            first, last = re.findall(r"^\(assert .*\)$", text, re.MULTILINE)
            assert answer(text.replace(last, "")) == "sat", name
            assert first != last


def test_all_numbers_are_met() -> None:
    """Exponents and their differences, of all numbers of the format, in fractions."""
    for lemmas in (TINY, IeeeLemmas(small(3, 3)), IeeeLemmas(small(2, 4))):
        fmt = lemmas.format
        exponents = {exponent(value) for value in finite(fmt) if value > 0}
        assert {*lemmas.numbers} == exponents
        products = {one + other for one in exponents for other in exponents}
        assert {*lemmas.products} == products
        assert {*lemmas.differences} == {one - other for one in products for other in exponents}


def test_wide_formats_are_exact() -> None:
    """Products and sums of all numbers fit into the wide formats."""
    lemmas = IeeeLemmas(small(2, 2))
    values = finite(lemmas.format)
    for x in values:
        for y in values:
            assert holds(lemmas.product_format, x * y)
            assert all(holds(lemmas.sum_format, x * y + z) for z in values)


def finite(fmt: Format) -> list[Fraction]:
    words = (word for word in range(1 << fmt.width) if not fmt.is_nan(word) and not fmt.is_infinite(word))
    return [fmt.value(word) for word in words]


def exponent(value: Fraction) -> int:
    found = value.numerator.bit_length() - value.denominator.bit_length()
    return found if Fraction(2) ** found <= value else found - 1


def holds(fmt: Format, value: Fraction) -> bool:
    if not value:
        return True
    low = exponent(abs(value)) - fmt.fraction_bits
    return fmt.e_min <= exponent(abs(value)) <= fmt.bias and (value / Fraction(2) ** low).denominator == 1


MODES_CHANGED = [
    ("multiplication", "ours RNE", " RNE ", " RNA "),
    ("multiplication", "ours RNA", " RNA ", " RNE "),
    ("multiplication", "ours RTZ", " RTZ ", " RTN "),
    ("multiplication", "product, exponents --", "fp.mul RTP", "fp.add RTP"),
    ("multiplication", "x zero, RTN", "fp.mul RTN", "fp.add RTN"),
    ("multiply_add", "sum, difference 0", "fp.add RTN", "fp.add RTP"),
    ("multiply_add", "sum, difference 1", "fp.add RTP", "fp.sub RTP"),
    ("multiply_add", "conversion RTP", " RTP ", " RTN "),
    ("multiply_add", "x zero, RTN", "fp.fma RTN", "fp.fma RTP"),
]


@pytest.mark.parametrize(("operation", "name", "old", "new"), MODES_CHANGED)
@pytest.mark.slow_cases("multiply_add-x zero, RTN-fp.fma RTN-fp.fma RTP")
def test_another_claim_is_refuted(operation: str, name: str, old: str, new: str) -> None:
    text = dict(getattr(TINY, operation)())[name]
    assert old in text
    assert answer(text.replace(old, new)) == "sat"


def test_planted_faults_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum without its sticky bit, a product without its last bit, a rounding that forgets a bit."""
    align, multiply, place = datapath.align, datapath.multiply, datapath.place

    def without_sticky(x, top, bits, rounding, *, sticky=False):
        found = align(x, top, bits, rounding, sticky=sticky)
        return replace(found, word=(found.word >> 1) << 1) if sticky else found

    def short(a, b):
        found = multiply(a, b)
        return replace(found, significand=(found.significand >> 1) << 1)

    def forgetful(fmt, x, bits):
        return replace(place(fmt, x, bits), lost=FALSE)

    with monkeypatch.context() as planted:
        planted.setattr(datapath, "align", without_sticky)
        lemmas = IeeeLemmas(small(3, 2)).multiply_add()
        assert next(failing(one for one in lemmas if one[0].startswith("ours, difference -8")))
    with monkeypatch.context() as planted:
        planted.setattr(datapath, "multiply", short)
        assert next(failing(IeeeLemmas(small(2, 2)).multiplication())).startswith("product")
    with monkeypatch.context() as planted:
        planted.setattr(datapath, "place", forgetful)
        assert next(failing(IeeeLemmas(small(3, 2)).multiplication())).startswith("ours")
