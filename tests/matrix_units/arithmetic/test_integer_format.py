"""Integer and fixed-point formats: every word of narrow ones, and the ends of wide ones."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format, float_format, format_named
from tcsmt.matrix_units.arithmetic.integer_format import INTEGERS, IntegerFormat, decimal_text, integers_from
from tcsmt.support.errors import TcsmtError, UnknownName
from tcsmt.support.invariants import checked_cast
from tests.oracles import integers

NARROW = [
    IntegerFormat(name="some", bits=bits, signed=signed, fraction_bits=fraction)
    for bits in (1, 2, 3, 5) for signed in (True, False) for fraction in (0, 1, 3)
    if bits > signed
]  # fmt: skip


@pytest.mark.parametrize("fmt", NARROW, ids=lambda f: f"{'su'[not f.signed]}{f.bits}f{f.fraction_bits}")
def test_every_word(fmt: IntegerFormat) -> None:
    values = [Fraction(integers.count(fmt, word), 2**fmt.fraction_bits) for word in integers.words(fmt)]
    assert len(set(values)) == 2**fmt.width
    for word, value in enumerate(values):
        assert fmt.value(word) == value
        assert fmt.word(value) == word
        assert Fraction(fmt.describe(word)) == value
        assert not fmt.is_special(word)
    assert fmt.largest_finite == max(values)
    assert (fmt.low, fmt.high) == tuple(int(end * 2**fmt.fraction_bits) for end in (min(values), max(values)))
    step = Fraction(1, 2**fmt.fraction_bits)
    for number in range(-4 * 2**fmt.bits, 4 * 2**fmt.bits):
        value = number * step / 4
        if value not in values:
            with pytest.raises(ValueError, match="is not a valid some value"):
                fmt.word(value)
        nearest = min(values, key=lambda other: (abs(other - value), (other / step) % 2))
        if abs(nearest - value) <= step / 2 and min(values) <= value <= max(values):
            assert fmt.value(fmt.nearest_word(value)) == nearest


def test_one_format_holds_another() -> None:
    for one in NARROW:
        for other in NARROW:
            ours, theirs = ({fmt.value(word) for word in integers.words(fmt)} for fmt in (one, other))
            assert one.holds(other) == (theirs <= ours), (one, other)
    for fmt in (FORMATS["f64"], INTEGERS["s64"]):
        assert not any(
            fmt.holds(other) for other in (FORMATS["e2m1"], INTEGERS["s4"]) if type(other) is not type(fmt)
        )


def test_names() -> None:
    assert format_named("int8") is INTEGERS["s8"]
    assert format_named("uint32") is format_named("u32") is INTEGERS["u32"]
    named = [checked_cast(format_named(name), IntegerFormat) for name in ("s4", "u64")]
    assert [(fmt.bits, fmt.signed) for fmt in named] == [(4, True), (64, False)]
    with pytest.raises(UnknownName):
        format_named("s7")
    with pytest.raises(TcsmtError, match="s8 is not a floating-point format"):
        float_format(INTEGERS["s8"])
    assert isinstance(float_format(FORMATS["f16"]), Format)


@pytest.mark.parametrize("low", [-9, -8, -1, 0])
@pytest.mark.parametrize("high", [0, 1, 7, 8])
def test_the_narrowest_format_holds_both_ends_and_no_more(low: int, high: int) -> None:
    fmt = integers_from(low, high)
    assert fmt.signed
    assert fmt.low <= low <= high <= fmt.high
    assert fmt.bits == 2 or not -(2 ** (fmt.bits - 2)) <= low <= high < 2 ** (fmt.bits - 2)


def test_texts() -> None:
    assert decimal_text(Fraction(-27, 8)) == "-3.375"
    assert decimal_text(Fraction(1, 256)) == "0.00390625"
    assert decimal_text(Fraction(10)) == "10"
    assert INTEGERS["s8"].fields_text(0x80) == "two's complement 10000000"
    assert IntegerFormat(name="q", bits=4, signed=False, fraction_bits=2).fields_text(5) == (
        "unsigned 0101, 2 below the binary point"
    )


def test_too_few_bits() -> None:
    with pytest.raises(TcsmtError, match="bits = 1: must be 2 or more"):
        IntegerFormat(name="s1", bits=1)
    with pytest.raises(TcsmtError, match="fraction_bits = -1: must be 0 or more"):
        IntegerFormat(name="s8", bits=8, fraction_bits=-1)
