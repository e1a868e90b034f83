"""Results of trees by their arithmetic and by their order, and the matrices on which they are compared."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.identification.kernels.tree import Arithmetic, SumTree
from tcsmt.identification.kernels.tree_results import (
    computable,
    order_data,
    order_results,
    random_words,
    results,
)
from tcsmt.matrix_units.arithmetic.conversion import floats
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


@pytest.mark.parametrize(("name", "others"), [
    ("f32", ("f64",)), ("bf16", ("f32",)), ("f16", ("f32",)), ("f16", ("f16",)), ("f32", ("bf16",)),
])  # fmt: skip
@pytest.mark.parametrize("k", [2, 7, 600])
def test_random_products(name: str, others: tuple[str, ...], k: int) -> None:
    """No sum of them reaches the end of a format; both signs; the spread of exponents changes."""
    fmt = FORMATS[name]
    formats = [fmt, *(FORMATS[other] for other in others)]
    spreads = set()
    for seed in range(40):
        a, b = random_words(fmt, k, (3, 2), formats, np.random.default_rng(seed))
        assert a.shape == (3, k) and b.shape == (k, 2)
        sizes = np.abs(floats(fmt, a)) @ np.abs(floats(fmt, b))
        assert (sizes < min(float(one.largest_finite) for one in formats)).all()
        exponents = np.frexp(floats(fmt, a))[1]
        spreads.add(int(exponents.max() - exponents.min()))
    assert 0 in spreads
    signs = np.sign(floats(fmt, random_words(fmt, 600, (3, 2), formats, np.random.default_rng(0))[0]))
    assert {*signs.reshape(-1).tolist()} == {-1, 1}
    if name != "f16":
        assert max(spreads) > 20


@pytest.mark.parametrize("name", ["f32", "f16"])
def test_products_in_which_no_rounding_matters(name: str) -> None:
    """A chain of binary64 gives what its order says, as any sums do."""
    fmt = FORMATS[name]
    tree = SumTree(((0, 1), *((n,) for n in range(2, 9))))
    for seed in range(50):
        data = order_data(fmt, FORMATS["f32"], 9, (4, 3), np.random.default_rng(seed))
        a, b = (floats(fmt, words).astype(np.float32) for words in (data.a, data.b))
        total = np.zeros((4, 3), np.float32)
        for n in range(9):
            total = total + a[:, n : n + 1] * b[n]
        rows, columns = (part.reshape(-1) for part in np.indices((4, 3)))
        assert (data.results(tree, rows, columns) == total[rows, columns]).all()
        assert len(np.unique(np.abs(a))) >= 2
