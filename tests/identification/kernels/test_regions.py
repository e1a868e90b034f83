"""Blocks of a matrix, and the parts of a product that kernels explain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tcsmt
from tcsmt.identification.kernels.regions import MatrixBlock, blocks_of, regions
from tcsmt.programs.kernels.elements import Product
from tcsmt.programs.kernels.kernel import Kernel


@pytest.mark.parametrize("seed", range(20))
def test_blocks_are_the_elements(seed: int) -> None:
    rng = np.random.default_rng(seed)
    elements = rng.random(rng.integers(1, 9, 2)) < rng.choice([0.2, 0.7, 1.0])
    covered = np.zeros(elements.shape, int)
    for block in blocks_of(elements):
        covered[block.rows.start : block.rows.stop, block.columns.start : block.columns.stop] += 1
    assert (covered == elements).all()
    assert sum(block.elements for block in blocks_of(elements)) == elements.sum()


def test_text_and_data() -> None:
    block = MatrixBlock(range(2, 5), range(7, 8))
    assert str(block) == "rows 2 to 4, column 7"
    assert block.as_json() == {"rows": [2, 4], "columns": [7, 7]}
    assert blocks_of(np.ones((3, 4), bool)) == (MatrixBlock(range(3), range(4)),)


Array = np.ndarray[Any, np.dtype[Any]]
UNIT = "ieee/mul-add.f32"
K = 96


def added(a: Array, b: Array, lanes: int = 1, parts: int = 1) -> Array:
    """Sums of rounded products: of each of some lanes, or parts one after the other, which are then added."""
    total: Array | None = None
    size = a.shape[1] // parts
    for part in range(parts):
        for lane in range(lanes):
            own = np.zeros((len(a), b.shape[1]), np.float32)
            for k in range(part * size + lane, (part + 1) * size, lanes):
                own += a[:, k, None] * b[k]
            total = own if total is None else total + own
    assert total is not None
    return total


def operands(m: int, n: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(16)
    return rng.standard_normal((m, K), np.float32), rng.standard_normal((K, n), np.float32)


@pytest.mark.slow
def test_edges_below_and_right() -> None:
    a, b = operands(21, 19)
    d = added(a, b)
    d[:, 16:] = added(a, b, parts=2)[:, 16:]
    d[20:] = added(a, b, lanes=4)[20:]
    found = tcsmt.kernel_identify(a, b, d, units=[UNIT])
    assert not found.kernels
    assert [
        (one["rows"], one["columns"], f"{UNIT}+{name}" in one["kernels"])
        for one, name in zip(
            found.as_json()["regions"], ("chained", "split-k:2", "sliced:4,step=1"), strict=True
        )
    ] == [([0, 19], [0, 15], True), ([0, 19], [16, 18], True), ([20, 20], [0, 18], True)]
    text = str(found)
    assert "BY REGION; together they give all of D:" in text
    assert f"  rows 0 to 19, columns 0 to 15 (320 elements): {UNIT}+chained\n" in text
    for one in found.found.regions:  # each by its own rows and columns, by our simulator
        rows, columns = (slice(side.start, side.stop) for side in (one.rows, one.columns))
        for kernel in one.kernels:
            block = tcsmt.gemm(a[rows], b[:, columns], unit=kernel.unit, reduction=kernel.reduction)
            assert (block == d[rows, columns]).all()


@pytest.mark.slow
@pytest.mark.library
def test_regions_that_nothing_explains_are_listed() -> None:
    a, b = operands(16, 18)
    d = added(a, b)
    d[:, 16:] = (a @ b)[:, 16:] + np.float32(1)
    found = tcsmt.kernel_identify(a, b, d, units=[UNIT])
    one, two = found.found.regions
    assert [kernel.name for kernel in one.kernels] == [f"{UNIT}+chained"]
    assert (two.rows, two.columns, two.kernels) == (range(16), range(16, 18), ())
    assert "BY REGION:" in str(found)
    assert "rows 0 to 15, columns 16 to 17 (32 elements): none" in str(found)
    everything = tcsmt.kernel_identify(a, b, d + np.float32(1), units=[UNIT])
    assert everything.found.regions == ()
    assert "REGION" not in str(everything)


@pytest.mark.parametrize("seed", range(6))
def test_blocks_are_all_of_it(seed: int) -> None:
    """Whatever is right by chance: blocks do not overlap, cover D, and are right where a kernel is named."""
    rng = np.random.default_rng(seed)
    a, b = (x.astype(np.float32) for x in (rng.integers(-4, 5, (13, 4)), rng.integers(-4, 5, (4, 11))))
    right = added(a, b)
    d = right + (rng.random(right.shape) < 0.03)
    d = d.astype(np.float32)
    fmt = tcsmt.unit(UNIT).model.d_format
    product = Product.of(a, b, None, d, (fmt, fmt, None, fmt))
    kernel = tcsmt.kernel_identify(a, b, right, units=[UNIT]).kernels[0]

    def explaining(part: Product) -> tuple[Kernel, ...]:
        return (kernel,)

    seen = np.zeros(d.shape, int)
    for one in regions(product, explaining):
        rows, columns = (slice(side.start, side.stop) for side in (one.rows, one.columns))
        seen[rows, columns] += 1
        assert one.elements == seen[rows, columns].size
        if one.kernels:
            assert (d[rows, columns] == right[rows, columns]).all()
    assert (seen == 1).all()
