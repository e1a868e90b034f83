"""Pairs (rtol, atol) of tolerances: what they say, and what is refused."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import tcsmt

RNG = np.random.default_rng(0)
A, B = (RNG.standard_normal(shape).astype(ml_dtypes.bfloat16) for shape in ((20, 90), (90, 30)))


def test_a_pair() -> None:
    bound = tcsmt.tolerance(A, B, kernel="ieee/fma.f32.bf16+chained+out=bf16", search=0)
    rtol, atol = bound.pair(precision="f32")
    d = tcsmt.gemm(A, B, unit="ieee/fma.f32.bf16", epilogue="out=bf16").astype(np.float32)
    assert rtol == 2.0**-8 and atol < 1e-3
    np.testing.assert_allclose(
        d, (A.astype(float) @ B.astype(float)).astype(np.float32), rtol=rtol, atol=atol
    )
    wide = bound.pair(0.0)
    assert wide.atol > bound.pair().atol and wide.atol >= bound.atol.max()
    assert wide.cosine is not None and wide.cosine > 0.9999 and bound.pair(precision="bf16").cosine is None
    assert str(wide).splitlines()[1] == f"  rtol=0, atol={wide.atol:.17g}"
    with pytest.raises(tcsmt.TcsmtError, match="does not hold"):
        bound.pair(precision="f16")
    with pytest.raises(tcsmt.TcsmtError, match="must be 0 or more"):
        bound.pair(-1.0)


def test_a_pair_against_a_kernel_whose_results_are_wider() -> None:
    a = np.array([[1, 2.0**-8, 2.0**-24, 2.0**-24]]).astype(ml_dtypes.bfloat16)
    b = np.ones((4, 1), ml_dtypes.bfloat16)
    kernels = "ieee/fma.f32.bf16+chained+out=bf16", "ieee/fma.f32.bf16+split-k:2"
    bound = tcsmt.tolerance(a, b, kernel=kernels[0], against=kernels[1], search=0)
    with pytest.raises(tcsmt.TcsmtError, match=r"split-k:2 are in f32, which it does not hold"):
        bound.pair(0.0, precision="bf16")  # there 1 and 1.0078125 are compared: expected is rounded
    actual = tcsmt.gemm(a, b, unit="ieee/fma.f32.bf16", epilogue="out=bf16").astype(np.float32)
    expected = tcsmt.gemm(a, b, unit="ieee/fma.f32.bf16", reduction="split-k:2")
    assert abs(actual - expected).item() <= bound.pair(0.0, precision="f32").atol
