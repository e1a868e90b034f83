"""Bounds of quantised products, against results that are computed in another way."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tcsmt

Array = np.ndarray[Any, np.dtype[Any]]
M, K, N = 24, 256, 20


def matrices(seed: int) -> tuple[Array, Array]:
    """Rows of very different sizes; zeros, and blocks of them; numbers below the quantisers' floors."""
    rng = np.random.default_rng(seed)
    a, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((M, K), (K, N)))
    a *= np.exp2(rng.integers(-9, 9, (M, 1))).astype(np.float32)
    a[2, :128], a[3], b[:, 4], a[5, ::3] = 0.0, 1e-6, 0.0, 3e4
    return a, b


def by_hand(name: str, a: Array, b: Array) -> Array:
    """The results of an IEEE kernel: products of ml_dtypes' numbers, added in binary32 in order."""
    if name in ("bf16", "fp16"):
        dtype = {"bf16": ml_dtypes.bfloat16, "fp16": np.float16}[name]
        left, right = (x.astype(dtype).astype(np.float32) for x in (a, b))
        scale_a = scale_b = np.ones((1, 1), np.float32)
    else:  # fp8-row
        rows = np.abs(a).max(1, keepdims=True), np.abs(b).max(0, keepdims=True)
        scales = [np.maximum(x.astype(np.float64), 1e-12) / 448 for x in rows]
        scale_a, scale_b = (x.astype(np.float32) for x in scales)
        left, right = (
            np.clip(x * np.float32(1 / s), -448, 448).astype(ml_dtypes.float8_e4m3fn).astype(np.float32)
            for x, s in zip((a, b), scales, strict=True)
        )
    total = np.zeros((M, N), np.float32)
    for k in range(K):
        exact = left[:, k : k + 1].astype(np.float64) * right[k]
        total = (total + exact).astype(np.float32)
    return np.asarray(total * scale_a * scale_b)


@pytest.mark.parametrize(
    ("name", "kernel"),
    [("bf16", "ieee/fma.f32.bf16"), ("fp16", "ieee/fma.f32.f16"), ("fp8-row", "ieee/fma.f32.e4m3")],
)
def test_the_original_matrices_are_the_reference(name: str, kernel: str) -> None:
    a, b = matrices(1)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    error = np.abs(by_hand(name, a, b) - exact)
    bound = tcsmt.tolerance(a, b, kernel=kernel, quantiser=name, reference="original", search=0)
    assert (error <= bound.atol + 1e-12 * (np.abs(a) @ np.abs(b)).astype(float)).all()
    assert np.median(error / np.maximum(bound.atol, 1e-300)) > 0.1  # most of it is the quantiser's own error
    dequantised = tcsmt.tolerance(a, b, kernel=kernel, quantiser=name, search=0)
    assert (error > dequantised.atol).mean() > 0.5
    tcsmt.testing.assert_close(by_hand(name, a, b), a, b, kernel=kernel, quantiser=name, reference="original")
    with pytest.raises(AssertionError, match="off by more than the proved tolerance"):
        tcsmt.testing.assert_close(by_hand(name, a, b) * 1.2, a, b, kernel=kernel, quantiser=name)


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        ("fp8-tensor", "ieee/fma.f32.e4m3+split-k:2+out=bf16"),
        ("fp8-block", "ieee/fma.f32.e4m3"),
        ("fp8-block-torchao", "ieee/fma.f32.e4m3"),
        ("mxfp8", "ieee/fma.f32.bf16+out=bf16"),
        ("mxfp8-up", "ieee/fma.f32"),
        ("mxfp4", "ieee/fma.f32.bf16"),
        ("nvfp4", "ieee/fma.f64"),
        ("tf32", "ieee/fma.f32.tf32+split-k:2"),
        pytest.param("fp8-block", "h100/wgmma.m64nNk32.f32.e4m3.e4m3", marks=pytest.mark.slow),
        pytest.param("fp8-row", "mi355x/v_mfma_f32_16x16x32_fp8_fp8", marks=pytest.mark.slow),
        pytest.param("mxfp8", "a100/mma.m16n8k16.f32.bf16", marks=pytest.mark.slow),
    ],
)
def test_random_elements_of_each_kind(name: str, kernel: str) -> None:
    """A search simulates elements, and raises an error where one is further off than its bound."""
    a, b = matrices(2)
    for reference in ("dequantised", "original"):
        bound = tcsmt.tolerance(a, b, kernel=kernel, quantiser=name, reference=reference, search=0.02)
        assert bound.largest is not None and bound.largest.elements == M * N
        assert reference == "dequantised" or 0.3 < bound.largest.share <= 1


def test_elements_of_numbers_that_are_not_finite_have_no_bound() -> None:
    a, b = matrices(3)
    a[7, 9], b[3, 11] = np.nan, np.inf
    bound = tcsmt.tolerance(
        a, b, kernel="ieee/fma.f32.e4m3", quantiser="fp8-row", reference="original", search=0
    )
    bad = np.zeros((M, N), bool)
    bad[7], bad[:, 11] = True, True
    np.testing.assert_array_equal(np.isinf(bound.atol), bad)
    assert bound.pair().left_out == bad.sum()


def test_what_does_not_fit_is_refused() -> None:
    a, b = matrices(4)
    with pytest.raises(tcsmt.TcsmtError, match="does not hold each dequantised number"):
        tcsmt.tolerance(a * np.float32(1e9), b, kernel="ieee/fma.f32.f16", quantiser="mxfp8")
    with pytest.raises(tcsmt.TcsmtError, match="no lemma is about block scales"):
        tcsmt.tolerance(a, b, kernel="b200", quantiser="mxfp8")
    with pytest.raises(tcsmt.TcsmtError, match="C is given"):
        tcsmt.tolerance(a, b, np.zeros((M, N), np.float32), kernel="ieee/fma.f32", quantiser="mxfp8")
    with pytest.raises(tcsmt.TcsmtError, match="recipe"):
        tcsmt.tolerance(a, b, kernel="ieee/fma.f32", quantiser="mxfp9")
