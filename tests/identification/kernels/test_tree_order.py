"""Elements that are asked, and the order that is read from them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tcsmt
from tcsmt.identification.kernels.tree import SumTree, sizes_of
from tcsmt.identification.kernels.tree_order import AskedElement, MatrixProduct, levels, read_order
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.programs.kernels.reduction import Reduction, fold, reduction_named
from tcsmt.support.errors import TcsmtError
from tests.support.libraries import Multiply, largest_first

F32 = FORMATS["f32"]


def recording(seen: list[Any]) -> Any:
    def multiply(a: Any, b: Any) -> Any:
        seen.append((a.copy(), b.copy()))
        return np.arange(1, 5, dtype=np.float32)[:, None] * a[:, :1] * b[:1]

    return multiply


def test_elements_of_one_column_answer_together() -> None:
    seen: list[Any] = []
    elements = np.zeros((4, 3), bool)
    elements[1:, 2] = True  # three of a column; row 0 is summed in another way
    elements[0, 0] = True
    product = MatrixProduct(recording(seen), F32, 2, (4, 3))
    element = AskedElement(product, elements)
    assert element.name == "D[1, 2]"
    answers = element.answers([[1, 0], [2, 0], [4, 0], [8, 0]], 0.5)
    assert answers.tolist() == [1.0, 3.0, 8.0, 8.0]  # 0.5 times the row's number, 2, 3, 4, then 2 again
    assert product.calls == 2 and product.d_format == F32
    assert all((b == 0.5).all() for _, b in seen)
    assert seen[1][0][1:].tolist() == [[8, 0]] * 3


@pytest.mark.parametrize(("found", "said"), [
    (np.zeros((3, 4), np.float32), r"shape \(3, 4\): must be \(4, 3\)"),
    (np.zeros((4, 3), np.int32), "dtype int32: must be of floating-point numbers"),
    (np.zeros((4, 3), object), "dtype object: must be of floating-point numbers"),
])  # fmt: skip
def test_results_that_are_refused(found: Any, said: str) -> None:
    product = MatrixProduct(lambda a, b: found, F32, 2, (4, 3))
    with pytest.raises(TcsmtError, match=said):
        AskedElement(product, np.ones((4, 3), bool)).answers([[1, 1]])


def test_a_dtype_that_changes_is_refused() -> None:
    kinds = iter((np.float32, np.float64))
    product = MatrixProduct(lambda a, b: np.ones((1, 1), next(kinds)), F32, 2, (1, 1))
    element = AskedElement(product, np.ones((1, 1), bool))
    element.answers([[1, 1]])
    with pytest.raises(TcsmtError, match="dtype float64, and another one before"):
        element.answers([[1, 1]])


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


def order_of(multiply: Multiply, fmt: Format, k: int, shape: tuple[int, int]) -> tuple[SumTree, int]:
    """Of an element of a product whose elements are summed alike; and how many calls it took."""
    product = MatrixProduct(multiply, fmt, k, shape)
    tree = read_order(AskedElement(product, np.ones(shape, bool)))
    return tree, product.calls


@pytest.mark.parametrize("seed", range(12))
def test_any_order_of_additions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 14))
    order = random_order(rng, list(range(k)))

    def multiply(a: Any, b: Any) -> Any:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.array([[added(order, x * y) for y in b.T] for x in a])

    tree, calls = order_of(multiply, F32, k, (1 + seed % 4, 2))
    assert sums_of(tree) == sums(order)
    assert calls <= k * (k - 1) // 2 + 1


@pytest.mark.parametrize("backwards", [False, True])
def test_a_chain_takes_few_questions(backwards: bool) -> None:
    """Two for each product, whichever end it starts at; all pairs would be 124,750."""

    def multiply(a: Any, b: Any) -> Any:
        terms = (a * b.T)[0]
        with np.errstate(over="ignore", invalid="ignore"):
            return np.array([[np.cumsum(terms[::-1] if backwards else terms, dtype=np.float32)[-1]]])

    tree, calls = order_of(multiply, F32, 500, (1, 1))
    assert sorted(tree.leaves) == list(range(500)) and len(tree.steps) == 499
    assert tree.leaves[-1] == (0 if backwards else 499) and calls < 1002


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
    tree, _ = order_of(lambda a, b: tcsmt.gemm(a, b, unit=unit, reduction=reduction), fmt, 48, (48, 1))
    assert (sizes_of(tree, 48) == sizes_by(reduction_named(reduction), 48, step)).all()


def test_functions_that_are_not_such_sums_are_refused() -> None:
    with pytest.raises(TcsmtError, match="numbers so small are read as zero"):
        order_of(lambda a, b: np.full((8, 8), 0.3), F32, 8, (8, 8))
    with pytest.raises(TcsmtError, match="large numbers swallow small ones"):
        order_of(lambda a, b: 8 * a[:, :1] * b[:1], F32, 8, (8, 8))
    with pytest.raises(TcsmtError, match="or the order depends on data"):
        order_of(largest_first, F32, 8, (8, 8))


def test_levels_are_far_apart_where_a_format_reaches() -> None:
    """X swallows K numbers y of it in 113 bits, or in 24."""
    for name, bits in (("f32", 113), ("bf16", 113), ("f64", 113), ("f16", 24)):
        for k in (2, 64, 500):
            big, tiny = levels(FORMATS[name], k)
            assert big / tiny > k * 2.0**bits
            assert all(FORMATS[name].value(FORMATS[name].word(Fraction(x))) == x for x in (big, tiny))
    with pytest.raises(TcsmtError, match=r"e5m2 reaches from .* 64 products need 33 powers"):
        levels(FORMATS["e5m2"], 64)
