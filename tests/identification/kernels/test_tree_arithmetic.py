"""How sums are rounded, read from functions that are trees of any arithmetic, summed by exact fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tcsmt.identification.kernels.tree import Arithmetic, SumTree
from tcsmt.identification.kernels.tree_arithmetic import larger_sums, read_arithmetic, with_unit
from tcsmt.identification.kernels.tree_order import AskedElement, MatrixProduct
from tcsmt.identification.kernels.tree_reading import read
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.support.errors import TcsmtError
from tests.support.trees import rounded, sum_by

F32, F64 = FORMATS["f32"], FORMATS["f64"]
KINDS = [("f32", "f32"), ("f32", "exact"), ("f64", "f32"), ("f64", "exact")]


def random_tree(rng: np.random.Generator, leaves: list[int], changing: float) -> dict[str, Any]:
    """As JSON: sums of two parts, each with an arithmetic of its own where it changes."""
    own = KINDS[rng.integers(len(KINDS))]

    def made(left: list[int], kind: tuple[str, str]) -> Any:
        if len(left) == 1:
            return left[0]
        if rng.random() < changing:
            kind = KINDS[rng.integers(len(KINDS))]
        cut = int(rng.integers(1, len(left)))
        parts = [made(part, kind) for part in (left[:cut], left[cut:])]
        return {"sums": kind[0], "products": kind[1], "steps": [parts]}

    found: dict[str, Any] = made(leaves, own)
    return found


def summing(tree: dict[str, Any]) -> Any:
    def multiply(a: Any, b: Any) -> Any:
        return np.array(
            [[float(rounded(sum_by(tree, row, column), "f32")) for column in b.T] for row in a], np.float32
        )

    return multiply


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "changing"),
    [*((seed, 0.0) for seed in range(4)), *((seed, 0.4) for seed in range(6)),
     *(pytest.param(seed, 0.0, marks=pytest.mark.long) for seed in range(4, 20)),
     *(pytest.param(seed, 0.4, marks=pytest.mark.long) for seed in range(6, 200))],
)  # fmt: skip
def test_any_tree(seed: int, changing: float) -> None:
    """One arithmetic is always read. Where it changes, a tree that is read gives new results."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 8))
    multiply = summing(random_tree(rng, [int(leaf) for leaf in rng.permutation(k)], changing))
    try:
        (region,) = read(multiply, F32, k, (1, 1), products=1000).regions
    except TcsmtError:
        if not changing:
            raise
        return
    assert region.tree is not None
    tree = region.tree.as_json()
    for _ in range(300):
        a, b = np.ldexp(rng.standard_normal((2, 1, k)), rng.integers(-9, 9, (2, 1, k))).astype(np.float32)
        assert rounded(sum_by(tree, a[0], b[0]), "f32") == Fraction(float(multiply(a, b.T)[0, 0]))


def test_larger_sums() -> None:
    assert not [*larger_sums(SumTree(((0, 1), (2,))))]
    assert [*larger_sums(SumTree(((0, 1, 2), (SumTree(((3, 4), (5, 6))),))))] == [[0, 1, 2], [5, 6]]


def test_units() -> None:
    """A unit's sums, each product in its lane; sums of sums in another format; what no unit adds."""
    unit = row_named("volta/mma.m8n8k4.f32.f16.f16.f32")
    inside, outside = Arithmetic(F32, unit=unit), Arithmetic(F64)
    eight = ((0, 1, 2, 3), (4, 5, 6, 7))
    assert with_unit(SumTree(eight), unit, F64) == SumTree(eight, inside)
    nine = SumTree((*eight, (SumTree(((8, 9, 10, 11),)),)))
    found = with_unit(nine, unit, F64)
    assert found == SumTree(((SumTree(eight, inside), SumTree(((8, 9, 10, 11),), inside)),), outside)
    assert with_unit(SumTree(((0, 1, 2, 4),)), unit, F64) is None  # two products in one lane
    assert with_unit(SumTree(((0, SumTree(((1, 2),))),)), unit, F64) is None
    half = row_named("volta/mma.m8n8k4.f32.f16.f16.f16")
    assert with_unit(SumTree(eight), half, F64) is None  # its c is of another format


def test_two_products_in_one_rounding_are_refused() -> None:
    """As an instruction that adds two exact products has it: no sum in a format gives both."""
    tree = {"sums": "f32", "products": "exact", "steps": [[0, 1]]}

    def exactly(a: Any, b: Any) -> Any:
        total = sum(Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a[0], b[:, 0], strict=True))
        return np.array([[float(rounded(Fraction(total), "f32"))]], np.float32)

    product = MatrixProduct(exactly, F32, 2, (1, 1))
    element = AskedElement(product, np.ones((1, 1), bool))
    element.answers([[1, 1]])
    (found,) = {one.arithmetic for one in read_arithmetic(element, SumTree(((0, 1),)))}
    assert found == Arithmetic(F64)  # the only format that holds both; the two roundings are seldom seen
    assert sum_by(tree, [1, 2], [3, 4]) == 11
