"""Errors in fixed point against fractions: all words of tiny formats, and words of FP32."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.analysis.error import ErrorGrid, exact_dot, magnitude, nearer, ulp
from tcsmt.analysis.sweeps.findings import TYPE1
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import var
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.programs.recipes import algorithm_named
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


def test_the_nearer_of_two_words_is_nearer_on_all_inputs() -> None:
    """All words of which twice one, and the sum of two, fit."""
    small = np.arange(-8, 8)
    grid = np.meshgrid(small, small, small)
    one, two, exact = (axis.ravel() for axis in grid)
    rows = {"one": one & 31, "two": two & 31, "exact": exact & 31}
    found = truth(nearer(*(var(name, 5) for name in rows)), rows)
    assert np.array_equal(found, np.abs(one - exact) < np.abs(two - exact))
    sizes = terms.values([magnitude(var("x", 5))], {"x": np.arange(-16, 16) & 31})[0]
    assert sizes.tolist() == [abs(x) for x in range(-16, 16)]


def test_an_ulp_is_the_distance_of_neighbouring_numbers() -> None:
    drawn = Drawn.of("ulp", 1 << 10)
    wide = drawn.algorithm.wide
    for word in range(wide.infinity_word):
        x = wide.value(word)
        assert ulp(x, wide) == ulp(-x, wide) == Fraction(2) ** (exponent(wide, x) - wide.fraction_bits)


F32 = FORMATS["f32"]


def value(word: int) -> Fraction:
    return F32.value(word)


MODERATE = st.builds(
    lambda sign, exponent, fraction: sign << 31 | (exponent + 127) << 23 | fraction,
    st.integers(0, 1), st.integers(-15, 14), st.integers(0, (1 << 23) - 1),
)  # fmt: skip


@given(words=st.lists(MODERATE, min_size=5, max_size=5), results=st.tuples(MODERATE, MODERATE))
@settings(max_examples=80, deadline=None)
def test_terms_compare_errors_exactly(words: list[int], results: tuple[int, int]) -> None:
    algorithm, _ = algorithm_named("fp32-fma", "volta", 2)
    domain = TYPE1
    grid = ErrorGrid.of(domain, 2, F32)
    values = dict(zip(("a0", "a1", "b0", "b1", "c"), words, strict=True))
    exact = exact_dot(values)
    terms = [grid.dot(domain, algorithm.trace), grid.dot(domain, algorithm.trace, absolute=True)]
    scale = Fraction(2) ** grid.low
    found = evaluate(terms, values)
    signed = found[0] - (found[0] >> (grid.width - 1) << grid.width)
    assert (signed * scale, found[1] * scale) == (exact, exact_dot(values, absolute=True))
    from tcsmt.language.terms import const

    one, two = (const(r, 32) for r in results)
    closer = nearer(grid.number(one), grid.number(two), const(found[0], grid.width))
    first, second = (abs(value(r) - exact) for r in results)
    assert evaluate([grid.holds(one), closer], {}) == [1, int(first < second)]


def test_ulp() -> None:
    assert ulp(Fraction(1)) == Fraction(1, 2**23)
    assert ulp(Fraction(2) - Fraction(1, 2**60)) == Fraction(1, 2**23)
    assert ulp(Fraction(0)) == ulp(Fraction(1, 2**140)) == Fraction(1, 2**149)
