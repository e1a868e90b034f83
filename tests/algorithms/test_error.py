"""Errors in fixed point against fractions: all words of tiny formats."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np

from tcsmt.algorithms.error import ErrorGrid, magnitude, nearer, ulp
from tcsmt.terms import var
from tests.oracles import terms
from tests.oracles.numbers import counted, exponent, finite, truth
from tests.oracles.tiny_recipes import Drawn


def test_words_in_fixed_point() -> None:
    """What holds of a word: that it is counted; and its number."""
    counts: Counter[bool] = Counter()
    for seed in range(8):
        drawn = Drawn.of(f"grid {seed}", 1 << 10)
        wide = drawn.algorithm.wide
        grid = ErrorGrid.of(drawn.domain, drawn.algorithm.k, wide)
        word, columns = var("x", wide.width), {"x": np.arange(1 << wide.width)}
        holds, numbers = truth(grid.holds(word), columns), counted(grid.number(word), grid.low, columns)
        for x in range(1 << wide.width):
            value = finite(wide, x)
            right = value is not None and (value / Fraction(2) ** grid.low).denominator == 1
            right = right and value is not None and abs(value) < Fraction(2) ** grid.top
            assert holds[x] == right, (drawn, x)
            assert not right or numbers[x] == value, (drawn, x)
            counts[right] += 1
    assert counts[True] > 100 and counts[False] > 100


def test_the_nearer_of_two_words() -> None:
    """All words of which twice one, and the sum of two, fit."""
    small = np.arange(-8, 8)
    grid = np.meshgrid(small, small, small)
    one, two, exact = (axis.ravel() for axis in grid)
    rows = {"one": one & 31, "two": two & 31, "exact": exact & 31}
    found = truth(nearer(*(var(name, 5) for name in rows)), rows)
    assert np.array_equal(found, np.abs(one - exact) < np.abs(two - exact))
    sizes = terms.values([magnitude(var("x", 5))], {"x": np.arange(-16, 16) & 31})[0]
    assert sizes.tolist() == [abs(x) for x in range(-16, 16)]


def test_the_distance_of_numbers() -> None:
    drawn = Drawn.of("ulp", 1 << 10)
    wide = drawn.algorithm.wide
    for word in range(wide.infinity_word):
        x = wide.value(word)
        assert ulp(x, wide) == ulp(-x, wide) == Fraction(2) ** (exponent(wide, x) - wide.fraction_bits)
