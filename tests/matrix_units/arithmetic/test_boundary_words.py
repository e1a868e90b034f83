"""Words from their parts: every one of small formats against ``Format.value`` and ``Format.word``."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from tcsmt.matrix_units.arithmetic.boundary_words import (
    FractionKind,
    fractions,
    from_exponent,
    from_exponents,
    from_fields,
    mixed_fractions,
)
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format, Specials

#: One for each kind of special word, without a sign, with ignored bits above and below, and made-up ones.
SMALL = {
    **{name: FORMATS[name] for name in ("e2m1", "e3m2", "e4m3", "e5m2", "e4m3fnuz", "ue8m0", "ue4m3")},
    "ignored": Format(name="ignored", exponent_bits=3, fraction_bits=2, bias=3, ignored_low_bits=4),
    "none": Format(name="none", exponent_bits=3, fraction_bits=2, bias=-1, specials=Specials.NONE),
}


def each(fmt: Format) -> list[tuple[int, int]]:
    """Every sign and fraction."""
    return list(product(range(1 + fmt.signed), range(1 << fmt.fraction_bits)))


@pytest.mark.parametrize("fmt", SMALL.values(), ids=SMALL)
def test_words_of_fields(fmt: Format) -> None:
    parts = [(*part, field) for part in each(fmt) for field in range(fmt.largest_finite_field + 1)]
    sign, fraction, field = np.array(parts).T
    words = from_fields(fmt, sign, field, fraction)
    assert words.dtype == np.uint64
    for (minus, below, power), word in zip(parts, words.tolist(), strict=True):
        if fmt.is_nan(word) or fmt.is_infinite(word):
            continue
        normal = power > 0 or not fmt.has_subnormals
        size = (normal + Fraction(below, 1 << fmt.fraction_bits)) * Fraction(2) ** max(
            power - fmt.bias, fmt.e_min
        )
        assert fmt.value(word) == (-size if minus else size)
        assert word & ((1 << fmt.ignored_low_bits) - 1) == 0


@pytest.mark.parametrize("fmt", SMALL.values(), ids=SMALL)
def test_words_of_exponents(fmt: Format) -> None:
    low, high = fmt.e_min - fmt.fraction_bits - 3, fmt.e_max + 3
    parts = [(*part, exponent) for part in each(fmt) for exponent in range(low, high + 1)]
    sign, fraction, exponent = np.array(parts).T
    words = from_exponents(fmt, sign, exponent, fraction).tolist()
    for (minus, below, power), word in zip(parts, words, strict=True):
        size = (1 + Fraction(below, 1 << fmt.fraction_bits)) * Fraction(2) ** min(power, fmt.e_max)
        last = Fraction(2) ** (fmt.e_min - fmt.fraction_bits)
        size = min(size // last * last, fmt.largest_finite)
        if not fmt.has_subnormals:
            size = max(size, last)
        expected = fmt.word(-size if minus else size)
        if minus and not size and fmt.has_negative_zero:
            expected = 1 << fmt.sign_bit
        assert word == expected, (minus, below, power)
        assert word == from_exponent(fmt, minus, power, below)


@pytest.mark.parametrize("bits", [0, 1, 3])
def test_fractions(bits: int) -> None:
    fmt = Format(name="made", exponent_bits=3, fraction_bits=bits, bias=3)
    for place, given in product(range(bits + 1), range(1 << bits)):
        texts = {
            kind: f"{int(fractions(fmt, kind, np.array([place]), np.array([given]))[0]):0{bits}b}"[
                -bits or 1 :
            ]
            for kind in FractionKind
        }
        here, written = bits - place, f"{given:0{bits}b}"[-bits or 1 :]
        one = ["0"] * bits
        if place < bits:
            one[bits - 1 - place] = "1"
        assert texts == {
            FractionKind.ZERO: "0" * bits,
            FractionKind.ONES: "1" * bits,
            FractionKind.ONE_BIT: "".join(one),
            FractionKind.ALL_BUT_ONE: "".join("10"[int(bit)] for bit in one),
            FractionKind.LOW_ONES: "0" * here + "1" * place,
            FractionKind.HIGH_ONES: "1" * here + "0" * place,
            FractionKind.RANDOM: written,
            FractionKind.SHORT: written[:here] + "0" * place,
        }


def test_binary64_loses_no_bit_at_its_boundaries() -> None:
    """Nothing is lost in binary64, whose words have 64 bits."""
    fmt, one = FORMATS["f64"], np.array([1])
    ones = fractions(fmt, FractionKind.ONES, one, one)
    (word,) = from_exponents(fmt, one, np.array([fmt.e_max]), ones).tolist()
    assert word == 1 << 63 | fmt.largest_finite_word
    assert from_exponents(fmt, one, np.array([5000]), ones).tolist() == [word]
    assert from_exponents(fmt, one, np.array([-5000]), ones).tolist() == [1 << 63]


@pytest.mark.parametrize("fmt", [*SMALL.values(), FORMATS["bf16"], FORMATS["f64"]])
def test_fractions_of_several_kinds_are_those_of_each(fmt: Format) -> None:
    kinds, random = tuple(FractionKind), np.random.default_rng(3)
    kind = random.integers(0, len(kinds), 500)
    place = random.integers(0, max(1, fmt.fraction_bits), 500)
    bits = random.integers(0, 1 << fmt.fraction_bits, 500)
    found = mixed_fractions(fmt, kinds, kind, place, bits)
    for number, one in enumerate(kinds):
        own = kind == number
        assert own.any() and (found[own] == fractions(fmt, one, place[own], bits[own])).all()
