"""What trees give, against exact fractions that are rounded by hand; and the order alone."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.identification.kernels.tree import Arithmetic, SumTree
from tcsmt.identification.kernels.tree_results import computable, order_results, results
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.words import dtype_of, from_words, to_words
from tests.support.trees import rounded, sum_by


@st.composite
def trees(draw: st.DrawFn, leaves: tuple[int, ...], operand: str) -> SumTree:
    """Any tree of some products, with any arithmetic that can be computed."""
    fmt = FORMATS[operand]
    wide = st.sampled_from(("f16", "bf16", "f32", "f64"))
    sums, products = FORMATS[draw(wide)], draw(st.one_of(st.none(), wide.map(FORMATS.__getitem__)))
    if not computable(fmt, sums, products):
        products = None
    if not computable(fmt, sums, products):
        sums = fmt
    left = list(leaves)
    steps: list[tuple[Any, ...]] = []
    while left:
        parts: list[Any] = []
        for _ in range(1 if steps or len(left) == 1 else 2):
            size = draw(st.integers(1, max(1, len(left) - (not steps and not parts))))
            own, left = tuple(left[:size]), left[size:]
            parts.append(own[0] if size == 1 else draw(trees(own, operand)))
        steps.append(tuple(parts))
    return SumTree(tuple(steps), Arithmetic(sums, products))


@pytest.mark.parametrize("operand", ["f32", "f16", "bf16", "f64"])
@settings(max_examples=40)
@given(data=st.data())
def test_results_are_those_of_fractions(operand: str, data: st.DataObject) -> None:
    k = data.draw(st.integers(2, 7))
    tree = data.draw(trees(tuple(data.draw(st.permutations(range(k)))), operand))
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 30)))
    fmt = FORMATS[operand]
    values = np.ldexp(rng.standard_normal((2, 5, k)), rng.integers(-3, 3, (2, 5, k)))
    a, b = values.astype(dtype_of(fmt))
    words = results(tree, fmt, FORMATS["f32"], to_words(fmt, a, "A"), to_words(fmt, b, "B"))
    given = from_words(FORMATS["f32"], words)
    for row in range(5):
        wanted = rounded(sum_by(tree.as_json(), a[row], b[row]), "f32")
        assert Fraction(float(given[row])) == wanted


def test_large_numbers_swallow_small_ones_where_they_meet() -> None:
    """X swallows y in whichever sum they meet, also where X and -X cancel there."""
    tree = SumTree(((0, 1), (2,), (SumTree(((3, 4, 5),)),)))
    large = np.array([[1, 0, -1, 0, 0, 0], [1, -1, 0, 0, 0, 0], [0, 0, 0, 1, -1, 0], [1, 0, 0, 0, 0, 0]])
    small = (large == 0).astype(int)
    found = order_results(tree, large, small)
    assert [list(map(int, one)) for one in found] == [[0, 0, 0, 1], [3, 4, 3, 0]]
