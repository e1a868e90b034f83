"""Trees of fake libraries, kernels and this machine's library: read right, or refused with the reason."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tcsmt
from tcsmt.identification.kernels.tree import Arithmetic, SumTree
from tcsmt.identification.kernels.tree_order import MatrixProduct
from tcsmt.identification.kernels.tree_reading import (
    Summed,
    TreeReading,
    first_fitting,
    held_against,
    read,
    repeats,
    why_not,
)
from tcsmt.interface.api.units import side_of
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.simulate.rows import prepare
from tcsmt.support.errors import TcsmtError
from tests.support import libraries
from tests.support.libraries import AnyOrder, Multiply, OnceInAWhile, backwards, single, truncated
from tests.support.trees import products_of, rounded, sum_by

F32 = FORMATS["f32"]


def reading_of(multiply: Multiply, k: int, shape: tuple[int, int], fmt: str = "f32") -> TreeReading:
    return read(multiply, FORMATS[fmt], k, shape, products=1000)


def confirmed(found: TreeReading, multiply: Multiply, k: int, shape: tuple[int, int], seed: int) -> None:
    """The regions are D, and each tree gives new results of its first and last element, by fractions."""
    rng = np.random.default_rng(seed)
    covered = np.zeros(shape, int)
    a, b = (np.ldexp(rng.standard_normal(size), rng.integers(-9, 9, size)).astype(np.float32)
            for size in ((shape[0], k), (k, shape[1])))  # fmt: skip
    d = np.asarray(multiply(a, b))
    for region in found.regions:
        assert region.tree is not None, region.why
        tree = json.loads(json.dumps(region.tree.as_json()))
        assert sorted(products_of(tree)) == list(range(k))
        for block in region.blocks:
            covered[block.rows.start : block.rows.stop, block.columns.start : block.columns.stop] += 1
            for i, j in ((block.rows[0], block.columns[0]), (block.rows[-1], block.columns[-1])):
                assert rounded(sum_by(tree, a[i], b[:, j]), "f32") == Fraction(float(d[i, j]))
        assert region.products == 1000 and region.compared >= 1000
    assert (covered == 1).all()


@pytest.mark.library
@pytest.mark.parametrize(
    ("k", "shape"),
    [
        (64, (64, 64)), (48, (1, 1)), (96, (8, 8)), (100, (9, 7)), (640, (12, 12)), (37, (1, 5)),
        (37, (5, 1)),
        pytest.param(640, (640, 640), marks=pytest.mark.long),
        pytest.param(500, (33, 17), marks=pytest.mark.long),
    ],
)  # fmt: skip
@pytest.mark.slow_cases("100-shape3", "64-shape0", "640-shape4", "96-shape2")
def test_a_librarys_trees_give_its_results(k: int, shape: tuple[int, int]) -> None:
    """Whatever NumPy's BLAS does here: its trees give its results, bit for bit, or it says what does not."""
    found = reading_of(np.matmul, k, shape)
    confirmed(found, np.matmul, k, shape, seed=k)


@pytest.mark.parametrize(("multiply", "sums", "rounded_to"), [
    (libraries.single, "f32", "f32"), (libraries.backwards, "f32", "f32"), (libraries.double, "f64", "exact"),
    (libraries.double_sums, "f64", "f32"), (libraries.fused, "f32", "exact"),
])  # fmt: skip
@pytest.mark.slow_cases("fused-f32-exact")
def test_chains(multiply: Multiply, sums: str, rounded_to: str) -> None:
    found = reading_of(multiply, 9, (4, 3))
    confirmed(found, multiply, 9, (4, 3), seed=1)
    (region,) = found.regions
    assert region.tree is not None
    tree = region.tree.as_json()
    assert (tree["sums"], tree["products"]) == (sums, rounded_to)
    ends = {0, 1} if multiply is not libraries.backwards else {7, 8}
    assert set(tree["steps"][0]) == ends and [len(step) for step in tree["steps"][1:]] == [1] * 7


@pytest.mark.parametrize("fmt", ["f16", "bf16"])
def test_narrow_operands_have_exact_products_in_binary32(fmt: str) -> None:
    """No wider format is needed, although the first two products of a sum are both exact."""
    (region,) = reading_of(libraries.single, 9, (4, 3), fmt).regions
    assert region.tree is not None
    assert str(region.tree).splitlines()[0] == "sum of p0, p1  [f32 sums of exact products]"
    assert len(region.tree.steps) == 8


@pytest.mark.slow
@pytest.mark.parametrize(
    "multiply", [libraries.blocks_of_double, libraries.vector_and_rest, libraries.each_row_its_own]
)
@pytest.mark.parametrize("k", [11, pytest.param(18, marks=pytest.mark.long)])
def test_formats_that_change_within_a_tree(multiply: Multiply, k: int) -> None:
    shape = (5, 3)
    found = reading_of(multiply, k, shape)
    confirmed(found, multiply, k, shape, seed=2)
    assert len(found.regions) == (5 if multiply is libraries.each_row_its_own else 1)


@pytest.mark.slow
def test_blocks_that_are_summed_differently() -> None:
    for multiply in (libraries.last_column_backwards, libraries.last_row_double):
        found = reading_of(multiply, 8, (6, 5))
        confirmed(found, multiply, 8, (6, 5), seed=3)
        first, second = found.regions
        by_column = multiply is libraries.last_column_backwards
        assert [str(block) for block in first.blocks] == [
            "rows 0 to 5, columns 0 to 3" if by_column else "rows 0 to 4, columns 0 to 4"
        ]
        assert [str(block) for block in second.blocks] == [
            "rows 0 to 5, column 4" if by_column else "row 5, columns 0 to 4"
        ]


REFUSED: list[tuple[Multiply, str]] = [
    (libraries.by_sign, "no order of sums fits .* or the order depends on data"),
    (libraries.by_a_large_significand, r"differ: the order depends on data, as \d+ of 1000 products"),
    (libraries.smallest_first, "are read as one sum, .* or an order that depends on data"),
    (libraries.largest_first, "or the order depends on data"),
    (libraries.rarely_wrong, r"is 0x\w+ \(.*\), and the tree gives 0x\w+ .*the tree holds but for rare"),
    (OnceInAWhile(), "the function is not repeatable: two calls on the same input differ"),
    (AnyOrder(), "the function is not repeatable: two calls on the same input differ"),
    (libraries.wide, "has 37 bits, which no format that a tree has does"),
    (libraries.truncated, "rounded in a way that a tree cannot state .*the order is right"),
    (libraries.exact, "nothing is lost in any sum: sums are exact"),
    (lambda a, b: np.full((6, 5), 0.3), "numbers so small are read as zero"),
    (lambda a, b: (a @ b)[:, 1:], r"shape \(6, 4\): must be \(6, 5\)"),
    (lambda a, b: (a @ b).astype(int), "dtype int64: must be of floating-point numbers"),
]  # fmt: skip


@pytest.mark.parametrize(("multiply", "reason"), REFUSED)
@pytest.mark.slow_cases(
    "by_a_large_significand-differ: the order depends on data, as \\\\d+ of 1000 products",
    "rarely_wrong-is 0x\\\\w+ \\\\(.*\\\\), and the tree gives 0x\\\\w+ .*the tree holds but for rare",
    "truncated-rounded in a way that a tree cannot state .*the order is right",
)
def test_functions_that_no_tree_gives_are_refused(multiply: Any, reason: str) -> None:
    with pytest.raises(TcsmtError, match=reason), np.errstate(all="ignore"):
        reading_of(multiply, 8, (6, 5))


@pytest.mark.library
def test_formats_that_do_not_reach() -> None:
    with pytest.raises(TcsmtError, match="e4m3 reaches from"):
        reading_of(np.matmul, 8, (8, 8), "e4m3")
    with pytest.raises(TcsmtError, match="nothing is lost in any sum"):
        reading_of(lambda a, b: a.astype(float) @ b.astype(float), 8, (8, 8), "f16")


def test_some_elements_may_have_no_tree() -> None:
    def multiply(a: Any, b: Any) -> Any:
        found = libraries.single(a, b)
        found[:, 0] = libraries.exact(a, b)[:, 0]
        return found

    found = reading_of(multiply, 8, (6, 5))
    assert [region.tree is None for region in found.regions] == [True, False]
    assert "sums are exact" in found.regions[0].why


@pytest.mark.slow
def test_too_many_ways() -> None:
    found = reading_of(libraries.each_row_its_own, 8, (14, 1))
    assert [region.tree is None for region in found.regions] == [False] * 12 + [True]
    assert "more than 12 ways: give a smaller shape" in found.regions[-1].why
    assert [str(block) for block in found.regions[-1].blocks] == ["rows 12 to 13, column 0"]


@pytest.mark.slow
@pytest.mark.parametrize(("unit", "reduction", "rest"), [
    ("volta", "chained", "none"), ("volta", "split-k:3", "f32"),
    pytest.param("h100", "split-k:4,pairs", "f32", marks=pytest.mark.long),
])  # fmt: skip
def test_kernels_of_units(unit: str, reduction: str, rest: str) -> None:
    """Sums of several products are those of a unit of the catalogue, which is found."""

    prepare(side_of(unit).row.model)

    def multiply(a: Any, b: Any) -> Any:
        return tcsmt.gemm(a, b, unit=unit, reduction=reduction)

    (region,) = reading_of(multiply, 64, (3, 2), "f16").regions
    assert region.tree is not None and region.compared == 6000
    assert ("  [f32 sums]" in str(region.tree)) == (rest == "f32")
    assert "/mma." in str(region.tree)


def test_units_that_flush_small_operands_are_not_misread() -> None:
    """Numbers so small that they show an order in FP16 are zero to them: all products seem to be one sum."""
    with pytest.raises(TcsmtError, match="numbers so small are read as zero"):
        reading_of(lambda a, b: tcsmt.gemm(a, b, unit="cdna2/v_mfma_f32_32x32x8f16"), 16, (16, 16), "f16")


FORWARD = SumTree(((0, 1), (2,), (3,), (4,)), Arithmetic(F32, F32))
BACKWARD = SumTree(((4, 3), (2,), (1,), (0,)), Arithmetic(F32, F32))
SHAPE = (3, 2)
ALL = np.ones(SHAPE, bool)


def product_of(multiply: Any) -> MatrixProduct:
    product = MatrixProduct(multiply, F32, 5, SHAPE)
    repeats(product, 0)  # its format is known then
    return product


def test_every_element_of_every_product_is_compared() -> None:
    done: list[int] = []
    (held,) = held_against(product_of(single), [Summed(ALL, FORWARD)], 250, 3, done.append)
    assert (held.products, held.elements, held.differing, held.first) == (250, 1500, 0, None)
    assert done[-1] == 250


def test_parts_are_compared_with_their_own_trees() -> None:
    def multiply(a: Any, b: Any) -> Any:
        found = single(a, b)
        found[1] = backwards(a, b)[1]
        return found

    own = np.zeros(SHAPE, bool)
    own[1] = True
    right = [Summed(~own, FORWARD), Summed(own, BACKWARD)]
    assert [(one.elements, one.differing) for one in held_against(product_of(multiply), right, 50, 0)] == [
        (200, 0), (100, 0),
    ]  # fmt: skip
    (one,) = held_against(product_of(multiply), [Summed(ALL, FORWARD)], 50, 0)
    assert 0 < one.differing < 100
    assert one.first is not None
    _, place, ours, theirs = one.first
    assert place[0] == 1 and ours != theirs


def test_the_first_tree_that_fits() -> None:
    product = product_of(backwards)
    assert first_fitting(product, [FORWARD, BACKWARD], ALL, 1) == BACKWARD
    assert first_fitting(product, [FORWARD], ALL, 1) is None


def test_functions_that_change_are_noticed() -> None:
    assert repeats(product_of(single), 0)
    assert not repeats(MatrixProduct(AnyOrder(), F32, 5, SHAPE), 0)


@pytest.mark.parametrize(("multiply", "said"), [
    (backwards, "the order depends on data, as"), (truncated, "rounded in a way that a tree cannot state"),
])  # fmt: skip
def test_differing_elements_are_reported_with_the_reason(multiply: Any, said: str) -> None:
    product, part = product_of(multiply), Summed(ALL, FORWARD)
    (held,) = held_against(product, [part], 200, 5)
    text = why_not(product, part, held, 5)
    assert said in text and f"{held.differing} of 1200 elements differ" in text
    assert held.first is not None
    assert f"D[{held.first[1][0]}, {held.first[1][1]}] of random product {held.first[0] + 1} is 0x" in text
