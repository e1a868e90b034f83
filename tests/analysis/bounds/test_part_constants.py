"""Parts of significands: their constants against all numbers in fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.bounds.part_constants import left_out, part_kept
from tcsmt.analysis.bounds.steps import Part
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tests.oracles import tiny

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
