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
