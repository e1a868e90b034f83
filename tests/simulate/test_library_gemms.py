"""Whole matrix products of cuBLAS on an H100, given again bit for bit (``results/gemms``)."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from library_gemms import inputs, small_integers

import tcsmt
from tests.support.paths import ROOT
from tests.support.sampling import mostly_long

FOLDER = ROOT / "results" / "gemms"
#: The unit and the reduction of products that are not split along K, by what they are called.
KERNELS = {
    "f16-f32out": ("h100/wgmma.m64nNk16.f32.f16.f16", np.float16, tcsmt.CHAINED),
    "bf16-f32out": ("h100/wgmma.m64nNk16.f32.bf16.bf16", ml_dtypes.bfloat16, tcsmt.CHAINED),
    "e4m3-fast-float32": ("h100/wgmma.m64nNk32.f32.e4m3.e4m3", ml_dtypes.float8_e4m3fn, tcsmt.CHAINED),
    "e4m3-slow-float32": ("h100/wgmma.m64nNk32.f32.e4m3.e4m3", ml_dtypes.float8_e4m3fn, tcsmt.promoted(128)),
    "s8": ("h100/wgmma.m64nNk32.s32.s8.s8", np.int8, tcsmt.CHAINED),
    "f64": ("h100/mma.m8n8k4.f64.f64.f64.f64", np.float64, tcsmt.CHAINED),
}
SHAPES = ("64x64x64", "64x64x512", "512x512x512")
#: Products with long K are split: found by ``tcsmt kernel identify``.
SPLIT = {
    "128x128x4096": "split-k:3,step=64",
    "1x256x4096": "split-k:3,step=64",
    "16x64x8192": "split-k:6,step=64",
    "64x64x16384": "split-k:12,step=64",
}
WHOLE = {f"{name}-{shape}": KERNELS[name] for name in KERNELS for shape in SHAPES}
PARTS = {
    f"{name}-{shape}": (*KERNELS[name][:2], tcsmt.reduction(text))
    for name in ("f16-f32out", "bf16-f32out")
    for shape, text in SPLIT.items()
}
CASES = WHOLE | PARTS
#: One of each reduction, and of each kind of unit: BF16 goes through the same code as FP16.
QUICK = [case for case in WHOLE if case.endswith("64x64x512") and not case.startswith(("bf16", "e4m3-fast"))]
QUICK += ["f16-f32out-1x256x4096"]


@cache
def measured() -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    cases = json.loads((FOLDER / "h100.json").read_text())["cases"]
    with np.load(FOLDER / "h100.npz") as arrays:
        return dict(arrays), {case["key"]: case for case in cases}


@pytest.mark.parametrize("key", mostly_long(CASES, QUICK))
def test_cublas_is_given_again(key: str) -> None:
    words, cases = measured()
    unit, dtype, reduction = CASES[key]
    case = cases[key]
    a, b = inputs(case["m"], case["n"], case["k"], case["seed"])
    a, b = (small_integers(x) if dtype is np.int8 else x.astype(dtype) for x in (a, b))
    assert (hashlib.sha256(a.tobytes()).hexdigest(), hashlib.sha256(b.tobytes()).hexdigest()) == (
        case["a"], case["b"],
    ), "NumPy's generator gives other numbers than in 2026"  # fmt: skip
    wanted = words[key]
    rows, columns = wanted.shape
    d = tcsmt.gemm(a[:rows], np.ascontiguousarray(b[:columns].T), unit=unit, reduction=reduction)
    assert (d.view(wanted.dtype) == wanted).all()


#: PyTorch's FP32 products: K is split where it is short, too; FP32 by multiply-adds, TF32 by ``wgmma``.
SPLIT_FP32 = {"64x64x64": "split-k:2", "64x64x512": "split-k:8", "256x256x1024": "split-k:8"}


def fp32(key: str) -> tuple[Any, Any, Any]:
    """A, B transposed, of the rows and columns that are kept, and D."""
    words, cases = measured()
    case, wanted = cases[key], words[key]
    rows, columns = wanted.shape
    a, b = inputs(case["m"], case["n"], case["k"], case["seed"])
    return a[:rows], b[:columns], wanted


@pytest.mark.parametrize("shape", mostly_long(("64x64x64", "64x64x512"), ["64x64x64"]))
def test_fp32_is_a_chain_of_multiply_adds(shape: str) -> None:
    a, b, wanted = fp32(f"f32-{shape}")
    d = tcsmt.gemm(a, np.ascontiguousarray(b.T), unit="ieee/fma.f32", reduction=SPLIT_FP32[shape])
    assert (d.view(wanted.dtype) == wanted).all()


@pytest.mark.parametrize("shape", mostly_long(SPLIT_FP32, ["64x64x64"]))
def test_operands_are_rounded_to_tf32_to_nearest_even(shape: str) -> None:
    """Ties away from zero, and truncation, do not fit."""
    a, b, wanted = fp32(f"tf32-{shape}")

    def product(operands: str) -> Any:
        unit, reduction = "h100/wgmma.m64nNk8.f32.tf32.tf32", SPLIT_FP32[shape]
        d = tcsmt.gemm(a, np.ascontiguousarray(b.T), unit=unit, reduction=reduction, operands=operands)
        return d.view(wanted.dtype)

    assert (product("nearest-even") == wanted).all()
    assert not (product("nearest-away") == wanted).all()
    assert not (product("truncate") == wanted).all()
