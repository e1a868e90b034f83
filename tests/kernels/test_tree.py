"""Orders of summation read through products: of functions whose order is known, kernels, and a library."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tcsmt
from tcsmt.arithmetic.formats import FORMATS
from tcsmt.kernels.reduction import Reduction, fold, reduction_named
from tcsmt.kernels.tree import SumTree, read, sizes_of
from tcsmt.support.errors import TcsmtError

F32 = FORMATS["f32"]

pytestmark = pytest.mark.library


def added(order: Any, products: Any) -> Any:
    """Binary32 sums in an order: a number is a product, a pair a sum of two."""
    if isinstance(order, int):
        return products[order]
    one, two = order
    return np.float32(added(one, products) + added(two, products))


def random_order(rng: np.random.Generator, leaves: list[int]) -> Any:
    parts: list[Any] = [int(leaf) for leaf in rng.permutation(leaves)]
    while len(parts) > 1:
        one, two = sorted(rng.choice(len(parts), 2, replace=False))
        parts[one] = (parts[one], parts.pop(two))
    return parts[0]


def sums(order: Any) -> set[frozenset[int]]:
    """The products of every sum."""
    if isinstance(order, int):
        return set()
    one, two = order
    return {frozenset(leaves(order))} | sums(one) | sums(two)


def leaves(order: Any) -> list[int]:
    return [order] if isinstance(order, int) else leaves(order[0]) + leaves(order[1])


def sums_of(tree: SumTree) -> set[frozenset[int]]:
    found: set[frozenset[int]] = set()
    total: set[int] = set()
    for step in tree.steps:
        for part in step:
            found |= sums_of(part) if isinstance(part, SumTree) else set()
            total |= set(part.leaves) if isinstance(part, SumTree) else {part}
        found.add(frozenset(total))
    return found


@pytest.mark.parametrize("seed", range(6))
def test_any_order_of_additions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 14))
    order = random_order(rng, list(range(k)))

    def multiply(a: Any, b: Any) -> Any:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.array([[added(order, x * y) for y in b.T] for x in a])

    tree, calls = read(multiply, F32, k, (k, 3) if k > 3 else None)
    assert calls == (-(-k // 3) if k > 3 else 1)
    assert sums_of(tree) == sums(order)


def sizes_by(reduction: Reduction, k: int, step: int) -> Any:
    """How many products the smallest sum has that has both of two, where a sum has ``step`` and c."""

    def made(levels: Reduction, indices: Any) -> Any:
        if not levels.levels:
            return [indices[first : first + step].tolist() for first in range(0, len(indices), step)]
        level, inner = levels.levels[0], Reduction(levels.levels[1:])
        parts = [made(inner, part) for part in level.cut(indices, step)]
        return fold(level, parts, lambda one, two: [[one, two]], lambda value: value)

    sizes = np.ones((k, k), np.int64)

    def fill(value: Any) -> list[int]:
        if isinstance(value, int):
            return [value]
        total: list[int] = []
        for one in value:
            parts = ([total] if total else []) + [fill(part) for part in one]
            total = [leaf for part in parts for leaf in part]
            for part in parts:
                rest = sorted({*total} - {*part})
                sizes[np.ix_(part, rest)] = len(total)
        return total

    fill(made(reduction, np.arange(k)))
    return sizes


@pytest.mark.parametrize(("unit", "step", "reduction"), [
    ("volta", 4, "chained"), ("volta", 4, "split-k:3"), ("h100", 16, "sliced:2"),
    ("h100", 16, "split-k:4,pairs"),
    ("ieee/fma.f32", 1, "split-k:2/promote:7,reversed"),
])  # fmt: skip
def test_kernels_with_known_reductions(unit: str, step: int, reduction: str) -> None:
    fmt = FORMATS["f32" if step == 1 else "f16"]
    tree, calls = read(lambda a, b: tcsmt.gemm(a, b, unit=unit, reduction=reduction), fmt, 48)
    assert calls == 1
    assert (sizes_of(tree, 48) == sizes_by(reduction_named(reduction), 48, step)).all()


def test_a_tree_of_a_kernel_by_hand() -> None:
    tree, _ = read(lambda a, b: tcsmt.gemm(a, b, unit="volta", reduction="split-k:2"), FORMATS["f16"], 16)
    assert str(tree).splitlines() == [
        "2 sums, added:", "- sum of p0..p3", "  then p4..p7", "- likewise from p8 on",
    ]  # fmt: skip
    assert tree.as_json() == [[0, 1, 2, 3], [4, 5, 6, 7], [[[8, 9, 10, 11], [12, 13, 14, 15]]]]


@pytest.mark.parametrize(("k", "shape"), [(64, None), (640, None), (48, (1, 1)), (96, (8, 8))])
def test_a_librarys_order_gives_its_results(k: int, shape: tuple[int, int] | None) -> None:
    """Whatever NumPy's BLAS does here: sums in the order that was read are its results, bit for bit."""
    tree, _ = read(np.matmul, F32, k, shape)
    rng = np.random.default_rng(k)
    m, n = shape or (k, k)
    a, b = (np.ldexp(rng.integers(-99, 99, size), rng.integers(-8, 8, size)).astype(np.float32)
            for size in ((m, k), (k, n)))  # fmt: skip
    d = a @ b
    for i, j in ((0, 0), (m - 1, n - 1)):
        assert evaluated(tree, a[i] * b[:, j]) == d[i, j]  # the products are exact


def evaluated(tree: SumTree, products: Any) -> Any:
    total = None
    for step in tree.steps:
        for part in step:
            value = evaluated(part, products) if isinstance(part, SumTree) else products[part]
            total = value if total is None else np.float32(total + value)
    return total


def test_what_is_no_such_sum_is_refused() -> None:
    with pytest.raises(TcsmtError, match="not summed up alike"):
        read(lambda a, b: np.array([[_either(x * y, i) for y in b.T] for i, x in enumerate(a)]), F32, 8)
    with pytest.raises(TcsmtError, match="large numbers swallow small ones"):
        read(lambda a, b: np.full((8, 8), 0.3), F32, 8)
    with pytest.raises(TcsmtError, match=r"shape \(8, 7\): must be \(8, 8\)"):
        read(lambda a, b: (a @ b)[:, 1:], F32, 8)
    with pytest.raises(TcsmtError, match="nothing is lost in any sum"):
        read(lambda a, b: a.astype(float) @ b.astype(float), FORMATS["f16"], 8)
    with pytest.raises(TcsmtError, match="e4m3 reaches from"):
        read(np.matmul, FORMATS["e4m3"], 8)


def _either(products: Any, row: int) -> Any:
    """From the front in even rows, else from the back."""
    order: Any = 0 if row % 2 else 7
    for n in range(1, 8):
        order = (order, n if row % 2 else 7 - n)
    with np.errstate(over="ignore", invalid="ignore"):
        return added(order, products)
