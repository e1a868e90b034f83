"""Intervals of terms hold for all values of the variables."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from tcsmt.language.graphs.bounds import Bounds
from tcsmt.language.terms import Term, const, umax, var
from tests.oracles import terms, wordmath
from tests.support.interpretations import MANY, Case, on_many_random_cases, on_random_cases, on_shapes

X, Y, Z = var("x", 4), var("y", 4), var("z", 2)
_GRID = np.meshgrid(np.arange(16), np.arange(16), np.arange(4))
COLUMNS = {name: words.ravel() for name, words in zip("xyz", _GRID, strict=True)}


def held(term: Term, bounds: Bounds) -> None:
    words = np.broadcast_to(terms.values([term], COLUMNS)[0].astype(np.int64), len(COLUMNS["x"]))
    low, high = bounds.unsigned(term)
    assert low <= words.min() and words.max() <= high, (term, term.args)
    numbers = words - (words >> (term.width - 1) << term.width)
    low, high = bounds.signed(term)
    assert low <= numbers.min() and numbers.max() <= high, (term, term.args)


def some_term(rng: Random, depth: int) -> Term:
    """A random term of 4 bits, with constants and with words whose range is known."""
    if not depth:
        leaves = (X, Y, Z.zext(4), Z.sext(4), Z.zext(4) + 5, const(rng.randrange(16), 4), X[2:1].zext(4))
        return rng.choice(leaves)
    one, two, three = (some_term(rng, rng.randrange(depth)) for _ in range(3))
    wide = (one.zext(6) + two.zext(6), one.zext(6) - two.zext(6), -one.sext(6), one.sext(6) + two.sext(6))
    condition = rng.choice(
        (one.eq(two), one.ult(two), two.eq(0), two.eq(1), const(0, 4).ult(two), two.ult(1))
    )
    return rng.choice((
        one + two, one - two, one * two, one & two, one | two, one ^ two, ~one, -one, umax(one, two, three),
        one << rng.randrange(4), one >> two, one >> rng.randrange(4), one.ashr(two), one << two,
        condition.ite(one, two), condition.ite(three, two), one[1:0].concat(two[3:2]), one[3:1].zext(4),
        rng.choice(wide)[4:1], rng.choice(wide)[3:0],
    ))  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_intervals_hold(seed: int) -> None:
    bounds, rng = Bounds(), Random(f"bounds {seed}")
    for _ in range(120):
        term = some_term(rng, rng.choice((1, 2, 2, 3)))
        held(term, bounds)
        held(term.zext(7) + some_term(rng, 1).zext(7), bounds)
        held(term.sext(7) + some_term(rng, 1).sext(7), bounds)


def test_words_chosen_where_another_is_not_zero_are_one_or_more() -> None:
    """It is 1 or more; not where the condition is another one."""
    bounds = Bounds()
    word = X.zext(5)
    chosen = word.eq(0).ite(7, word)
    held(chosen, bounds)
    assert bounds.unsigned(chosen) == (1, 15)
    for condition in (word.eq(1), const(0, 5).ult(word), word.eq(Y.zext(5))):
        held(condition.ite(7, word), bounds)


def test_intervals_are_those_that_are_needed() -> None:
    bounds = Bounds()
    small = Z.zext(4)
    for term, interval in (
        (small, (0, 3)), (small + 2, (2, 5)), (small.zext(6) * 5, (0, 15)),
        (umax(small, const(2, 4)), (2, 3)),
        (const(7, 4) - small, (4, 7)), (small << 1, (0, 6)), (X >> 2, (0, 3)), (X & small, (0, 3)),
        (Z.concat(const(1, 2)), (1, 13)), (X[3:2].zext(4), (0, 3)), (small + 13 + 13, (10, 13)),
    ):  # fmt: skip
        held(term, bounds)
        assert bounds.unsigned(term) == interval, term
    assert bounds.signed(-small) == (-3, 0)
    assert bounds.signed(Z.sext(4)) == (-2, 1)


def check_bounds(case: Case) -> None:
    """No value lies outside of the interval that is known of it."""
    bounds = Bounds()
    for node, term, values in zip(case.nodes, case.terms, case.values, strict=True):
        low, high = bounds.unsigned(term)
        assert low <= min(values) <= max(values) <= high, (case.name, node)
        low, high = bounds.signed(term)
        numbers = [wordmath.signed(value, term.width) for value in values]
        assert low <= min(numbers) <= max(numbers) <= high, (case.name, node)


def test_shapes() -> None:
    on_shapes(check_bounds)


def test_random_computations() -> None:
    on_random_cases(check_bounds, 80)


@pytest.mark.long
@pytest.mark.parametrize("steps", MANY)
def test_many_random_computations(steps: int) -> None:
    on_many_random_cases(check_bounds, steps)
