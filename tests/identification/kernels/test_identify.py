"""Recorded products are explained: sums written by hand, a library's on this machine, planted kernels."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tcsmt
from tcsmt.support.errors import TcsmtError
from tests.support.sampling import mostly_long


def operands(m: int, k: int, n: int, dtype: Any = np.float32) -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal(shape, np.float32).astype(dtype) for shape in ((m, k), (k, n)))
    return a, b


def names(a: Any, b: Any, d: Any, *more: Any, **options: Any) -> list[str]:
    """Of all kernels that explain D, also the other names of their reductions."""
    found = tcsmt.kernel_identify(a, b, d, *more, **options).as_json()
    return [
        f"{one['unit']}+{reduction}" + (f"+{one['epilogue']}" if one["epilogue"] else "")
        for one in found["kernels"]
        for reduction in (one["reduction"], *one["same_reduction"])
    ]


def chains(a: Any, b: Any, bounds: list[int]) -> list[Any]:
    """The sum of each part, one product after the other, in binary32 (the products are exact there)."""
    found = []
    for first, last in pairwise(bounds):
        total = np.zeros((len(a), b.shape[1]), np.float32)
        for k in range(first, last):
            total = total + a[:, k : k + 1] * b[k]
        found.append(total)
    return found


@pytest.mark.slow
def test_parts_added_by_hand() -> None:
    """Two blocks of 48 products and a rest, of numbers with so few bits that products are exact."""
    a, b = (x.astype(np.float16).astype(np.float32) for x in operands(20, 100, 15))
    one, two, rest = chains(a, b, [0, 48, 96, 100])
    unit = ["ieee/fma.f32"]
    assert "ieee/fma.f32+promote:48" in names(a, b, (one + two) + rest, units=unit)
    found = tcsmt.kernel_identify(a, b, (one + two) + rest, units=unit)
    assert len(found.kernels) == 1
    assert 1 <= len(found.found.deciding) <= 4
    assert "EXPLAINED bit for bit by 1 kernel:\n  ieee/fma.f32+" in str(found)
    backwards = names(a, b, one + (two + rest), units=unit)
    assert "ieee/fma.f32+split-k:3,step=16,reversed" in backwards
    assert "ieee/fma.f32+promote:48" not in backwards
    assert names(a, b, (one + rest) + two, units=unit) == ["ieee/fma.f32+split-k:3,step=16,any"]


def test_lanes_added_by_hand() -> None:
    """Four accumulators, one product each in turn; halves: (0 + 2) + (1 + 3)."""
    a, b = (x.astype(np.float16).astype(np.float32) for x in operands(9, 60, 8))
    lanes = [chains(a[:, n::4], b[n::4], [0, 15])[0] for n in range(4)]
    d = (lanes[0] + lanes[2]) + (lanes[1] + lanes[3])
    assert "ieee/fma.f32+sliced:4,step=1,halves" in names(a, b, d, units=["ieee/fma.f32"])


@pytest.mark.slow
def test_rounded_products_are_told_from_fused_ones() -> None:
    a, b = operands(9, 60, 8)
    (d,) = chains(a, b, [0, 60])
    found = tcsmt.kernel_identify(a, b, d, units=["ieee/fma.f32", "ieee/mul-add.f32"])
    assert [kernel.name for kernel in found.kernels] == ["ieee/mul-add.f32+chained"]


@pytest.mark.slow
def test_c_enters_first_or_last() -> None:
    a, b = (x.astype(np.float16).astype(np.float32) for x in operands(9, 60, 8))
    c = np.random.default_rng(4).standard_normal((9, 8), np.float32)
    first = np.array(c)
    for k in range(60):
        first = first + a[:, k : k + 1] * b[k]
    (last,) = chains(a, b, [0, 60])
    for d, name in ((first, "ieee/fma.f32+chained"), (last + c, "ieee/fma.f32+chained+c=epilogue")):
        found = tcsmt.kernel_identify(a, b, d, c, units=["ieee/fma.f32"])
        assert [kernel.name for kernel in found.kernels] == [name]


#: Schemes of GPU kernels.
PLANTED = (
    "split-k:3,step=64", "sliced:2,step=32", "promote:128", "split-k:4,step=64,total=bf16+out=bf16",
    "sliced:5,step=64,folded", "split-k:2,step=128/promote:128",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("scheme", mostly_long(PLANTED, [PLANTED[4]]))
def test_planted_kernels(scheme: str) -> None:
    """On a unit of a GPU; another unit is excluded."""
    a, b = operands(24, 320, 20, np.float16)
    reduction, _, epilogue = scheme.partition("+")
    d = tcsmt.gemm(a, b, unit="hopper", reduction=reduction, epilogue=epilogue)
    units = ["ampere", "hopper"]
    found = tcsmt.kernel_identify(a, b, d, units=units)
    assert f"hopper/mma.m16n8k16.f32.f16.f16.f32+{scheme}" in names(a, b, d, units=units)
    if not epilogue:  # binary32 tells the units apart; few elements in bfloat16 need not
        assert {kernel.unit.architecture for kernel in found.kernels} == {"hopper"}
    for kernel in found.kernels:  # each of them gives D, whatever its name
        assert np.array_equal(kernel.multiply(a, b), d)


@pytest.mark.slow
def test_parts_that_are_added_as_they_arrive() -> None:
    """Each element has an order of its own; the last element one that no order gives."""
    a, b = (x.astype(np.float16).astype(np.float32) for x in operands(12, 96, 11))
    parts = np.stack(chains(a, b, [0, 32, 64, 96]))
    order = np.random.default_rng(8).permuted(np.tile(np.arange(3), (12 * 11, 1)), axis=1)
    mixed = np.take_along_axis(parts.reshape(3, -1), order.T, axis=0)
    d = ((mixed[0] + mixed[1]) + mixed[2]).reshape(12, 11)
    found = tcsmt.kernel_identify(a, b, d, units=["ieee/fma.f32"])
    assert [str(kernel.reduction) for kernel in found.kernels] == ["split-k:3,any"]
    with pytest.raises(TcsmtError, match="hangs on the order of the parts"):
        tcsmt.gemm(a, b, unit="ieee/fma.f32", reduction="split-k:3,any")
    with pytest.raises(TcsmtError, match="no plan"):
        found.plan()
    d[-1, -1] *= np.float32(1.00001)
    assert not tcsmt.kernel_identify(a, b, d, units=["ieee/fma.f32"]).kernels


@pytest.mark.slow
def test_workers_that_share_the_steps_of_all_tiles() -> None:
    """Two of six tiles of 64 x 64 are cut: their elements have two parts, the others one."""
    a, b = (x.astype(np.float16).astype(np.float32) for x in operands(128, 96, 192))
    whole = tcsmt.gemm(a, b, unit="ieee/fma.f32")
    d = np.array(whole)
    # 4 workers, 6 tiles of 3 steps of 32 products: the cuts are at the steps 5, 10 and 15
    for (row, column), cut in {(0, 64): 64, (64, 0): 32}.items():
        one, two = chains(a[row : row + 64], b[:, column : column + 64], [0, cut, 96])
        d[row : row + 64, column : column + 64] = one + two
    found = tcsmt.kernel_identify(a, b, d, units=["ieee/fma.f32"])
    assert "stream-k:4,tile=64x64x32" in [str(kernel.reduction) for kernel in found.kernels]
    assert np.array_equal(tcsmt.gemm(a, b, unit="ieee/fma.f32", reduction="stream-k:4,tile=64x64x32"), d)


@pytest.mark.slow
def test_nothing_explains_a_changed_product() -> None:
    a, b = operands(9, 60, 8)
    d = tcsmt.gemm(a, b, unit="ieee/fma.f32")
    d[3, 5] = np.nextafter(d[3, 5], np.float32(9))
    found = tcsmt.kernel_identify(a, b, d, units=["ieee/fma.f32"])
    assert found.kernels == ()
    nearest = found.found.missed[0]
    assert (nearest.kernel.name, nearest.count, nearest.elements) == ("ieee/fma.f32+chained", 1, ((3, 5),))
    assert "ieee/fma.f32+chained: misses 1 of 72: D[3, 5]" in str(found)


def test_any_nan_is_the_same() -> None:
    """A processor's NaN has a sign; -0 is not +0."""
    a, b = operands(4, 8, 3)
    a[1] = np.inf
    b[:4], b[4:] = 1, -1
    d = tcsmt.gemm(a, b, unit="ieee/fma.f32")
    assert np.isnan(d[1]).all()
    d[1] = np.array([0xFFC00001, 0x7FC12345, 0xFFFFFFFF], np.uint32).view(np.float32)
    found = tcsmt.kernel_identify(a, b, d, units=["ieee/fma.f32"])
    assert "ieee/fma.f32+chained" in [kernel.name for kernel in found.kernels]
    assert "3 elements of D are NaN; any NaN counts as the same" in str(found)
    zero = np.zeros((4, 8), np.float32)
    d = np.full((4, 3), -0.0, np.float32)
    assert names(zero, b, d, units=["ieee/fma.f32"]) == []


@pytest.mark.slow
@pytest.mark.library
def test_blocks_of_numpy() -> None:
    """OpenBLAS or another library: what is said to explain a product, or a block of it, gives it again."""
    a, b = operands(64, 300, 64)
    d = a @ b
    found = tcsmt.kernel_identify(a, b, d, units=["ieee/fma.f32", "ieee/mul-add.f32"])
    everything = range(64), range(64)
    explained = [(*everything, kernel) for kernel in found.kernels]
    explained += [(one.rows, one.columns, kernel) for one in found.found.regions for kernel in one.kernels]
    assert explained or found.found.missed  # a library with another arithmetic: the nearest are named
    for rows, columns, kernel in explained[:4]:
        block = slice(rows.start, rows.stop), slice(columns.start, columns.stop)
        again = tcsmt.gemm(a[block[0]], b[:, block[1]], unit=kernel.unit, reduction=str(kernel.reduction))
        assert np.array_equal(again, d[block])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"d": np.ones((3, 3), np.float32)}, r"D has shape \(3, 3\): must be \(2, 2\)"),
        ({"c": np.ones((3, 2), np.float32)}, r"C has shape \(3, 2\): must be \(2, 2\)"),
        ({"a": np.ones((2, 3), np.float32)}, "the number of columns of A must equal"),
        ({"a": np.ones((2, 2), np.uint16)}, "A has dtype uint16, which does not say its format"),
        ({"a": np.ones((2, 2), object)}, "A has dtype object"),
        ({"a": np.ones((2, 2), np.float64)}, "no unit takes A and B and gives D in these formats: f64"),
        ({"a_format": "f99"}, "unknown format 'f99'"),
        ({"units": ["hoper"]}, "hoper"),
    ],
)  # fmt: skip
def test_arrays_and_formats_that_do_not_fit_are_refused(change: dict[str, Any], message: str) -> None:
    one = np.ones((2, 2), np.float32)
    with pytest.raises(TcsmtError, match=message):
        tcsmt.kernel_identify(**({"a": one, "b": one, "d": one} | change))


@pytest.mark.slow
def test_words_and_fortran_order() -> None:
    a, b = operands(16, 64, 8, ml_dtypes.bfloat16)
    d = tcsmt.gemm(a, b, unit="x86/vdpbf16ps")
    a, b = (np.asfortranarray(x.view(np.uint16)) for x in (a, b))
    found = names(a, b, np.asfortranarray(d), a_format="bf16", b_format="bf16", units=["x86/vdpbf16ps"])
    assert found[0] == "x86/vdpbf16ps+chained"
