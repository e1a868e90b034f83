"""Whole matrix products: parts, tiles, operands of the epilogue, bad input."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tcsmt
from tcsmt.matrix_units.arithmetic.formats import IntegerFormat
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import IntegerDotAdd, Operands
from tcsmt.programs.kernels.epilogue import Epilogue
from tcsmt.programs.kernels.gemm import gemm
from tcsmt.programs.kernels.reduction import split_k
from tcsmt.support.errors import TcsmtError
from tests.support.graphs import by_graph
from tests.support.integer_units import INTEGER_UNITS, VNNI


def test_reductions() -> None:
    """Parts are chains from zero, added by IEEE additions in order, beginning with C."""
    rng = np.random.default_rng(4)
    a = rng.standard_normal((7, 70)).astype(np.float16)
    b = rng.standard_normal((70, 9)).astype(np.float16)
    c = rng.standard_normal((7, 9)).astype(np.float32)
    for reduction, bounds in (
        (tcsmt.split_k(3), [0, 24, 48, 70]),
        (tcsmt.promoted(32), [0, 32, 64, 70]),
        (tcsmt.reduction("cuts:35"), [0, 35, 70]),
    ):
        expected = c
        for first, last in itertools.pairwise(bounds):
            expected = expected + tcsmt.gemm(a[:, first:last], b[first:last], unit="hopper")
        assert np.array_equal(tcsmt.gemm(a, b, c, unit="hopper", reduction=reduction), expected)
    expected = tcsmt.gemm(a[:, ::2], b[::2], unit="hopper") + tcsmt.gemm(a[:, 1::2], b[1::2], unit="hopper")
    assert np.array_equal(tcsmt.gemm(a, b, unit="hopper", reduction="sliced:2,step=1"), expected)


@pytest.mark.library
@pytest.mark.long
def test_promotion_helps_fp8_on_hopper() -> None:
    """DeepSeek-V3's remedy: 13 fraction bits lose less when sums stay short."""
    rng = np.random.default_rng(0)
    a, b = (rng.random(shape).astype(ml_dtypes.float8_e4m3fn) for shape in ((4, 4096), (4096, 4)))
    exact = a.astype(float) @ b.astype(float)
    name = "hopper/wgmma.m64nNk32.f32.e4m3.e4m3"
    plain = np.abs(tcsmt.gemm(a, b, unit=name) - exact).mean()
    better = np.abs(tcsmt.gemm(a, b, unit=name, reduction=tcsmt.promoted(128)) - exact).mean()
    assert better < plain / 10


def test_epilogue() -> None:
    rng = np.random.default_rng(4)
    a = rng.standard_normal((7, 20)).astype(np.float16)
    b = rng.standard_normal((20, 9)).astype(np.float16)
    c = rng.standard_normal((7, 9)).astype(np.float32)
    total = tcsmt.gemm(a, b, unit="hopper")
    got = tcsmt.gemm(a, b, c, unit="hopper", alpha=1.5, beta=-0.3)
    scaled = np.float32(-0.3) * c
    # a product of 24-bit and 2-bit significands and a sum: exact in binary64, bar the rare double rounding
    expected = (1.5 * total.astype(float) + scaled.astype(float)).astype(np.float32)
    assert np.array_equal(got, expected)
    assert np.array_equal(tcsmt.gemm(a, b, c, unit="hopper", beta=0), total)
    assert np.array_equal(tcsmt.gemm(a, b, unit="hopper", alpha=2), 2 * total)
    half = tcsmt.gemm(a, b, unit="hopper/mma.m16n8k16.f16.f16.f16.f16", alpha=0.5)
    assert half.dtype == np.float16


def test_the_result_has_the_format_of_the_sum() -> None:
    """Of the outermost additions that name one, also in tiles and products that are not cut at all."""
    unit = "volta/mma.m8n8k4.f16.f16.f16.f16"
    a, b = np.full((4, 8), 0.3, np.float16), np.full((8, 4), 1.0, np.float16)
    for reduction in ("split-k:2,sum=f32", "split-k:1,sum=f32", "split-k:2,sum=f32/split-k:2,sum=bf16",
                      "split-k:2/split-k:2,sum=f32", "stream-k:3,tile=2x2x4,sum=f32"):  # fmt: skip
        d = tcsmt.gemm(a, b, unit=unit, reduction=reduction)
        assert d.dtype == np.float32 and np.abs(d - 2.4).max() < 0.02, reduction
        converted = tcsmt.gemm(a, b, unit=unit, reduction=reduction, epilogue="out=f16")
        assert converted.dtype == np.float16 and np.abs(converted - 2.4).max() < 0.02
    wide = tcsmt.gemm(
        a, b, unit=unit, reduction="split-k:2,sum=f64", epilogue="bias", bias=np.full(4, 2.0**-40)
    )  # the epilogue of a binary64 sum computes in binary64
    assert wide.dtype == np.float64 and np.abs(wide - 2.4 - 2.0**-40).max() < 0.02
    assert (wide * 2**40 % 1024 == 1).all()


def test_c_is_left_out_where_beta_is_0() -> None:
    """Whatever C has: the sum keeps its word, and the product with alpha the sign of a zero."""
    unit = "ieee/fma.f32"
    a, b = np.full((1, 2), -(2.0**-100), np.float32), np.full((2, 1), 2.0**-100, np.float32)
    c = np.full((1, 1), np.nan, np.float32)
    for alpha in (1, 2):
        for given in (c, None):
            d = tcsmt.gemm(a, b, given, unit=unit, reduction="promote:1", alpha=alpha, beta=0)
            assert d[0, 0] == 0 and np.signbit(d[0, 0])


def test_tiles_of_stream_k() -> None:
    """Each tile is the product with its own cuts."""
    rng = np.random.default_rng(4)
    a, b = rng.standard_normal((4, 25)).astype(np.float16), rng.standard_normal((25, 11)).astype(np.float16)
    whole = tcsmt.gemm(a, b, unit="volta", reduction="stream-k:4,tile=2x4x10")
    for row, column, how in ((0, 0, "chained"), (0, 4, "cuts:20"), (2, 0, "cuts:10"), (2, 8, "chained")):
        tile = slice(row, row + 2), slice(column, column + 4)
        part = tcsmt.gemm(a[tile[0]], b[:, tile[1]], unit="volta", reduction=how)
        assert np.array_equal(whole[tile], part)
    assert not np.array_equal(whole, tcsmt.gemm(a, b, unit="volta"))


def test_parts_of_a_unit_that_cannot_be_chained() -> None:
    """c is FP16, the result FP32: chains of one instruction, added in FP32."""
    unit = "volta/mma.m8n8k4.f32.f16.f16.f16"
    rng = np.random.default_rng(4)
    a, b = rng.standard_normal((3, 8)).astype(np.float16), rng.standard_normal((8, 2)).astype(np.float16)
    expected = tcsmt.gemm(a[:, :4], b[:4], unit=unit) + tcsmt.gemm(a[:, 4:], b[4:], unit=unit)
    assert np.array_equal(tcsmt.gemm(a, b, unit=unit, reduction="promote:4"), expected)
    with pytest.raises(TcsmtError, match="K = 6: the unit takes c in f16 and gives f32"):
        tcsmt.gemm(a, b, unit=unit, reduction="promote:6")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"epilogue": "bias"}, r"bias is missing: the epilogue takes it \(bias\)"),
        ({"bias": np.ones(2, np.float32)}, "bias is given, but the epilogue takes none"),
        ({"epilogue": "bias", "bias": np.ones(3, np.float32)}, r"bias has shape \(3,\): must be \(2,\)"),
        ({"epilogue": "out=bf16,stochastic=8"}, "random is missing"),
        (
            {"epilogue": "out=bf16,stochastic=8", "random": np.full((2, 2), 256)},
            "random: must be integers of 8 bits",
        ),
        (
            {"epilogue": "out=bf16,stochastic=8", "random": np.ones((2, 2))},
            r"random has shape \(2, 2\), dtype float64: must be integers",
        ),
    ],
)
def test_operands_of_the_epilogue(more: dict[str, Any], message: str) -> None:
    one = np.ones((2, 2), np.float16)
    with pytest.raises(TcsmtError, match=message):
        tcsmt.gemm(one, one, unit="hopper", **more)


# --- integers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("reduction", [None, split_k(3)], ids=str)
def test_matrices_of_integers(reduction: object) -> None:
    """Any shape; a sum that fits is the matrix product, also in parts."""
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 256, (9, 50), dtype=np.uint8), rng.integers(-128, 128, (50, 35), dtype=np.int8)
    c = rng.integers(-(2**30), 2**30, (9, 35), dtype=np.int32)
    more = {} if reduction is None else {"reduction": reduction}
    for unit in (VNNI, INTEGER_UNITS["saturate"]):
        d = gemm(a, b, c, model=unit, **more)
        assert d.dtype == np.int32
        assert np.array_equal(d, a.astype(np.int64) @ b.astype(np.int64) + c)


def test_each_instruction_saturates() -> None:
    """Up, and down again from the limit: another result than the whole sum's."""
    a, b = np.array([[255] * 8], np.uint8), np.array([[127] * 4 + [-128] * 4], np.int8).T
    c = np.array([[2**31 - 1]], np.int32)
    exact = 2**31 - 1 + 4 * 255 * (127 - 128)
    assert gemm(a, b, c, model=VNNI).tolist() == [[exact]]
    assert gemm(a, b, c, model=INTEGER_UNITS["saturate"]).tolist() == [[2**31 - 1 - 4 * 255 * 128]]


@pytest.mark.parametrize(("alpha", "beta"), [(2.0, 1.0), (1.0, 0.5)])
def test_no_scaled_epilogue(alpha: float, beta: float) -> None:
    a, b, c = np.ones((2, 4), np.uint8), np.ones((4, 2), np.int8), np.ones((2, 2), np.int32)
    with pytest.raises(TcsmtError, match=r"alpha and beta must be 1, .*: the unit's results are integers"):
        gemm(a, b, c, model=VNNI, epilogue=Epilogue(alpha=alpha, beta=beta))


def test_no_register_adds_narrow_sums() -> None:
    a, b = np.ones((2, 8), np.int8), np.ones((8, 2), np.int8)
    with pytest.raises(TcsmtError, match=r"split-k:2: no register adds partial sums of 4 bits \(s4\)"):
        gemm(a, b, model=INTEGER_UNITS["narrow"], reduction=split_k(2))


def test_fixed_point_matrices() -> None:
    """Numbers in, words out: no dtype has the result's numbers."""
    q4, q8 = (IntegerFormat(name=f"q{n}", bits=16, fraction_bits=n) for n in (4, 8))
    unit = IntegerDotAdd(a_format=q4, b_format=q4, c_format=q8, d_format=q8, k=2)
    a, b = np.array([[1.5, -2.25, 0.0625]]), np.array([[2.0], [0.5], [0.0625]])
    d = gemm(a, b, model=unit)
    assert d.dtype == np.uint16
    assert [q8.value(int(word)) for word in d.flat] == [3 - 1.125 + 0.0625**2]


# --- NaNs that follow a rule ----------------------------------------------------------------------

F64 = "hopper/mma.m8n8k4.f64.f64.f64.f64"


def test_nans_go_on_along_chains() -> None:
    """Each element is a chain of instructions, whose NaNs go on to the next one."""
    model = row_named(F64).model
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((5, 10)), rng.standard_normal((10, 6))
    a.view(np.uint64)[1, 2] = 0x7FF0000000000123
    b.view(np.uint64)[7, 3] = 0xFFF8000000000456
    a[2, 9], b[9, 4] = np.inf, 0.0
    d = tcsmt.gemm(a, b, unit=F64).view(np.uint64)
    left, right = np.zeros((5, 12)), np.zeros((12, 6))
    left[:, :10], right[:10] = a, b
    rows, columns = np.divmod(np.arange(30), 6)
    x, y = left.view(np.uint64)[rows], np.ascontiguousarray(right.T).view(np.uint64)[columns]
    words = np.zeros(30, np.uint64)
    for first in range(0, 12, 4):
        lanes = slice(first, first + 4)
        words = by_graph(model, Operands(x[:, lanes], y[:, lanes], words)).astype(np.uint64)
    assert (d[rows, columns] == words).all()
    assert np.isnan(d.view(np.float64)).sum() == 6 + 5 - 1 + 1
