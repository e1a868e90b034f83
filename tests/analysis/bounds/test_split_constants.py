"""Constants of a split: they hold of all numbers, whatever they were guessed from."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from tcsmt.analysis.bounds import split_constants
from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.bounds.split_constants import left_out, part_kept
from tcsmt.analysis.bounds.steps import Part
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Specials
from tcsmt.programs.steps.split import Split
from tcsmt.prove.statements.domain import Domain
from tests.oracles import recipes, tiny
from tests.oracles.numbers import exponent, lies

WIDE = tiny.described(exponent_bits=5, fraction_bits=4, bias=15)
NARROW = tiny.described(exponent_bits=4, fraction_bits=1, bias=7)
NO_INFINITY = tiny.described(exponent_bits=3, fraction_bits=1, bias=3, specials=Specials.NAN_ONLY)


@pytest.mark.parametrize(
    ("scale", "bits"),
    [(2, 3), *(pytest.param(*one, marks=pytest.mark.long) for one in ((0, 3), (0, 5), (2, 5)))],
)
def test_constants_of_all_numbers_from_one_guess(
    bits: int, scale: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guessed from one number that loses nothing: the others are found by trying all."""

    def one(domain: Domain, wide: Any, bits: int) -> np.ndarray:
        return np.array([wide.word(Fraction(2) ** domain.low)], np.uint32)

    monkeypatch.setattr(split_constants, "_samples", one)
    split_constants.prove_split_constants.cache_clear()
    split, domain = Split(format=NARROW, wide=WIDE, words=2, scale=scale), Domain(exponents=(-2, 1))
    found = split_constants.prove_split_constants(split, domain, bits, 2)
    split_constants.prove_split_constants.cache_clear()
    inside = np.array([x for x in range(1 << WIDE.width) if lies(domain, WIDE, x, bits) and WIDE.value(x)])
    sizes = [Fraction(0), Fraction(0)]
    exponents, left = [Fraction(0), Fraction(0)], Fraction(0)
    for x, *parts in zip(inside.tolist(), *(p.tolist() for p in recipes.split(split, inside)), strict=True):
        whole = WIDE.value(x)
        values = [NARROW.value(word) for word in parts]
        for n, value in enumerate(values):
            if value:
                sizes[n] = max(sizes[n], abs(value / whole) / 2 ** (scale * n))
                power = Fraction(2) ** (exponent(NARROW, value) - scale * n)
                exponents[n] = max(exponents[n], power / abs(whole))
        rest = whole - sum(value / 2 ** (scale * n) for n, value in enumerate(values))
        left = max(left, abs(rest / whole))
    for given, right in zip(
        (*found.sizes, *found.exponents, found.left), (*sizes, *exponents, left), strict=True
    ):
        assert right <= given <= right * Fraction(17, 16), (found, sizes, exponents, left)


@pytest.mark.parametrize("power", range(5, 15))
def test_numbers_beyond_a_format_without_infinities(power: int) -> None:
    """They become the largest number, which is said to have another exponent than it has."""
    split, domain = (
        Split(format=NO_INFINITY, wide=WIDE, words=1),
        Domain(exponents=(power, power), bits=(1, 1)),
    )
    assert NO_INFINITY.e_max == 4
    with pytest.raises(Unbounded, match="overflows"):
        split_constants.prove_split_constants(split, domain, 1, 1)


F5 = tiny.described(exponent_bits=4, fraction_bits=4, bias=7)


def significands(precision: int, bits: int) -> list[Fraction]:
    """From 1 to 2, of so many bits."""
    step = 1 << (precision - bits)
    return [Fraction(n, 1 << (precision - 1)) for n in range(1 << (precision - 1), 1 << precision, step)]


def taken(x: Fraction, part: Part) -> Fraction:
    """The bits of 2^-first and of so many places in all."""
    first, bits = part
    above = x // Fraction(2) ** (1 - first) * Fraction(2) ** (1 - first)
    last = Fraction(2) ** (1 - first - bits)
    return (x - above) // last * last


@pytest.mark.parametrize("bits", [1, 3, 5, 9])
@pytest.mark.parametrize("part", [(0, 5), (0, 2), (2, 3), (2, 1), (3, 4), (4, 1)])
def test_constants_of_a_part_are_the_largest_of_all_significands(part: Part, bits: int) -> None:
    numbers = significands(5, min(bits, 5))
    found = part_kept(F5, bits, part)
    assert found.size == max(taken(x, part) / x for x in numbers)
    assert found.exponent == max(Fraction(1, 2 ** part[0]) / x for x in numbers)


@pytest.mark.parametrize("bits", [(5, 5), (3, 4), (1, 5)])
@pytest.mark.parametrize(
    ("left", "right", "number"),
    [([(0, 2), (2, 3)], [(0, 3), (3, 2)], number) for number in (1, 2, 3, 4)]
    + [([(0, 1), (2, 2)], [(0, 5)], 2), ([(3, 6)], [(0, 2)], 1)],
)
def test_constants_of_left_out_parts_are_the_largest_of_all_pairs(
    left: list[Part], right: list[Part], number: int, bits: tuple[int, int]
) -> None:
    pairs = [(x, y) for y in right for x in left][:number]
    largest = Fraction(0)
    for x, y in product(*(significands(5, each) for each in bits)):
        rest = x * y - sum(taken(x, one) * taken(y, two) for one, two in pairs)
        assert rest >= 0
        largest = max(largest, rest / (x * y))
    assert left_out(F5, bits, tuple(pairs)) == largest


def test_bits_that_are_multiplied_twice() -> None:
    with pytest.raises(Unbounded, match="multiplied more than once"):
        left_out(F5, (5, 5), (((0, 3), (0, 5)), ((2, 3), (0, 5))))
    with pytest.raises(Unbounded, match="multiplied more than once"):
        left_out(F5, (5, 5), (((0, 3), (0, 5)), ((0, 3), (0, 5))))


def test_significands_that_are_too_long_to_count() -> None:
    with pytest.raises(Unbounded, match="24 bits: at most 11"):
        part_kept(FORMATS["f32"], 24, (0, 12))
