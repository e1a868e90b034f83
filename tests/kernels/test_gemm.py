"""Whole matrix products: parts, tiles, operands of the epilogue, bad input."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tcsmt
from tcsmt.support.errors import TcsmtError


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
