"""Whole matrix products of cuBLAS on an H100, given again bit for bit (``results/gemms``)."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tcsmt
from benchmarks.library_gemms import inputs, small_integers
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
CASES = [f"{name}-{shape}" for name in KERNELS for shape in SHAPES]


@cache
def measured() -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    cases = json.loads((FOLDER / "h100.json").read_text())["cases"]
    with np.load(FOLDER / "h100.npz") as arrays:
        return dict(arrays), {case["key"]: case for case in cases}


#: One of each reduction, and of each kind of unit: BF16 goes through the same code as FP16.
QUICK = [c for c in CASES if c.endswith("64x64x512") and not c.startswith("bf16")]


@pytest.mark.parametrize("key", mostly_long(CASES, QUICK))
def test_cublas_is_given_again(key: str) -> None:
    words, cases = measured()
    unit, dtype, reduction = KERNELS[key.rpartition("-")[0]]
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
