"""What formats of every kind have in common: the same for each format that there is."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tcsmt.matrix_units.arithmetic.any_format import AnyFormat, leading_exponent, power_text
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.integer_format import INTEGERS, IntegerFormat

EVERY: list[AnyFormat] = [
    *FORMATS.values(),
    *INTEGERS.values(),
    IntegerFormat(name="q3", bits=6, fraction_bits=3),
]


@pytest.mark.parametrize("fmt", EVERY, ids=lambda fmt: fmt.name)
def test_every_format_has_a_largest_word_and_reads_back(fmt: AnyFormat) -> None:
    """The largest word is the largest number's, the words around it are not larger, and texts read back."""
    assert fmt.sign_bit == fmt.width - 1
    assert len(fmt.hex(0)) == 2 + fmt.hex_digits == 2 + (fmt.width + 3) // 4
    word = fmt.largest_finite_word
    assert int(fmt.hex(word), 16) == word < 1 << fmt.width
    near = [one for one in range(word - 3, word + 4) if not (one >> fmt.width or fmt.is_special(one))]
    assert fmt.value(word) == fmt.largest_finite == max(map(fmt.value, near))
    assert fmt.word(fmt.largest_finite) == fmt.nearest_word(fmt.largest_finite) == word
    assert fmt.holds(fmt)
    assert not fmt.is_special(word)
    assert fmt.is_special(fmt.infinity_word) == fmt.has_infinity
    if fmt.nan_word is not None:
        assert fmt.is_nan(fmt.nan_word) and fmt.is_special(fmt.nan_word)
        with pytest.raises(ValueError, match=r".+"):
            fmt.value(fmt.nan_word)
    if fmt.has_infinity:
        assert fmt.infinity_word == fmt.word(fmt.largest_finite) + (1 << getattr(fmt, "ignored_low_bits", 0))


def test_formats_of_another_kind_are_not_held() -> None:
    assert not FORMATS["f64"].holds(INTEGERS["s8"]) and not INTEGERS["s32"].holds(FORMATS["e2m1"])
    assert FORMATS["f32"].holds(FORMATS["f16"]) and not FORMATS["f16"].holds(FORMATS["bf16"])


@given(st.integers(-(2**70), 2**70), st.integers(1, 2**70))
def test_leading_exponents(over: int, under: int) -> None:
    assume(over)
    value = abs(Fraction(over, under))
    exponent = leading_exponent(Fraction(over, under))
    assert Fraction(2) ** exponent <= value < Fraction(2) ** (exponent + 1)


@given(st.integers(0, 2**60), st.integers(-90, 90))
def test_powers_in_text_read_back(number: int, power: int) -> None:
    """A significand in [1, 2), written out exactly; a power alone where it is 1."""
    value = number * Fraction(2) ** power
    significand, _, exponent = power_text(value).replace("2^", "·").rpartition("·")
    if "2^" not in power_text(value):
        assert Fraction(power_text(value)) == value and (value == 0 or 1 <= value < 2)
        return
    given_significand = Fraction(significand.rstrip("·") or 1)
    assert given_significand * Fraction(2) ** int(exponent) == value and 1 <= given_significand < 2


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(0), "0"),
        (Fraction(1), "1"),
        (Fraction(8), "2^3"),
        (Fraction(3, 16), "1.5·2^-3"),
        (Fraction(7, 4), "1.75"),
    ],
)
def test_powers_as_people_write_them(value: Fraction, text: str) -> None:
    assert power_text(value) == text
