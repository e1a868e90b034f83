"""Exponents, sums of two formats, powers of two, residues and exact sums, against fractions and integers."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import const
from tcsmt.matrix_units.arithmetic.formats import FORMATS, INTEGERS, Format, IntegerFormat, integers_from
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.programs.steps import digits
from tests.oracles import emulations as oracle
from tests.oracles.rationals import rounded
from tests.support.emulations import TINY

F32, F64 = FORMATS["f32"], FORMATS["f64"]
S32 = INTEGERS["s32"]


@pytest.mark.parametrize("name", ["e4m3", "e5m2", "e4m3fnuz", "e2m1", "tiny"])
def test_exponents_of_every_word(name: str) -> None:
    fmt = TINY if name == "tiny" else FORMATS[name]
    gives = digits.exponent_format(fmt)
    words = np.arange(1 << fmt.width).astype(unsigned(fmt))
    (found,) = digits.on_words(digits.exponent, (fmt,), (fmt,), words)
    for word, exponent in enumerate(found.tolist()):
        finite = not fmt.is_special(word)
        wanted = oracle.exponent(fmt, fmt.value(word)) if finite else fmt.e_max + 1
        assert gives.value(exponent) == wanted, hex(word)


def test_sums_of_two_formats() -> None:
    """Of integers and of binary32, in binary64 and in a tiny format: rounded once."""
    rng = Random(1)
    for fmt, source, shift in ((F64, S32, 14), (F64, F32, 300), (TINY, S32, 9), (TINY, S32, 0)):
        for _ in range(60):
            y = fmt.nearest_word(Fraction(rng.uniform(-4, 4)) / 2 ** rng.choice((0, 5, 20)))
            number = Fraction(rng.choice((0, 1, -1, 3 << 28, rng.randrange(-(1 << 31), 1 << 31))))
            x = source.nearest_word(number)
            words = const(x, source.width), const(y, fmt.width)
            (word,) = evaluate([digits.accumulated(source, fmt, shift, 0, *words).word()], {})
            exact = source.value(x) / 2**shift + fmt.value(y)
            assert fmt.value(word) == rounded(exact, fmt.precision, fmt.e_min, "RNE")


@pytest.mark.parametrize("source", [S32, integers_from(-(1 << 120), 1 << 120), F64], ids=str)
def test_powers_of_two(source: Format | IntegerFormat) -> None:
    """Results are subnormal, infinite, or between."""
    rng, powers = Random(2), (integers_from(-1022, 1024), INTEGERS["u8"])
    for _ in range(60):
        if isinstance(source, Format):
            x = F64.nearest_word(Fraction(rng.uniform(-4, 4)))
        else:
            x = source.word(Fraction(rng.randrange(source.low, source.high) >> rng.choice((0, 10, 28))))
        first, second = rng.choice((-1022, -1000, -900, 0, 1000, 1023)), rng.choice((0, 1, 255))
        words = [const(powers[0].word(Fraction(first)), 12), const(second, 8)]
        terms = const(x, source.width), *words
        (word,) = evaluate([digits.scaled(source, F64, powers, 70, 0, *terms).word()], {})
        exact = source.value(x) * Fraction(2) ** (first + second - 70)
        wanted = rounded(exact, 53, -1022, "RNE")
        if abs(wanted) > F64.largest_finite:
            assert word == F64.infinity_word | (exact < 0) << 63
        else:
            assert F64.value(word) == wanted


@pytest.mark.parametrize("modulus", [2, 9, 255, 256, 1056])
@pytest.mark.parametrize("base", [0, 4, 32])
def test_digits_of_residues(modulus: int, base: int) -> None:
    low, high = digits.residue_range(modulus, base)
    fmt = integers_from(low, high)
    numbers = np.arange(-3000, 3001)
    source = integers_from(-3000, 3000)
    words = (numbers & ((1 << source.bits) - 1)).astype(unsigned(source))
    places = (0, 1) if base else (0,)
    found = [
        [int(fmt.value(word)) for word in digits.residues(source, fmt, modulus, base, place, words).tolist()]
        for place in places
    ]
    for number, *own in zip(numbers.tolist(), *found, strict=True):
        residue = sum(digit * (base or 1) ** place for place, digit in enumerate(own))
        assert (residue - number) % modulus == 0
        assert -modulus <= 2 * residue < modulus
    assert low <= min(map(min, found)) <= max(map(max, found)) <= high


@pytest.mark.parametrize("modulus", [2, 255, 256, 65536, 65537, (1 << 63) + 1, 3**80])
def test_exact_sums(modulus: int) -> None:
    """Of integers and binary32 numbers; the remainder of least magnitude, the upper one of two."""
    rng = np.random.default_rng(3)
    integers = rng.integers(-(1 << 31), 1 << 31, 50)
    floats = np.concatenate([rng.integers(-(1 << 24), 1 << 24, 48), [0, modulus // 2 % 128]])
    integers[-2:] = 0
    weights = (modulus - 7, 1)
    values = (integers & 0xFFFFFFFF).astype(np.uint32), floats.astype(np.float32).view(np.uint32)
    found = digits.exact_sums((S32, F32), weights, modulus, values)
    fmt = digits.remainder_format(modulus)
    for word, first, second in zip(found.tolist(), integers.tolist(), floats.tolist(), strict=True):
        exact, result = first * weights[0] + second, int(fmt.value(word))
        assert (exact - result) % modulus == 0
        assert -modulus < 2 * result <= modulus
