"""Wrong kernels against the same bugs written by hand, in NumPy's arithmetic."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tcsmt
from tcsmt.analysis.power import wrong_kernels
from tcsmt.analysis.power.tested import NotApplicable
from tcsmt.analysis.power.wrong_kernels import WRONG_KERNELS
from tcsmt.interface.api.power import product_and_expected
from tcsmt.support.toml_files import read_toml

Array = np.ndarray[Any, np.dtype[Any]]
BF16 = np.dtype(ml_dtypes.bfloat16)
BY_NAME = {wrong.name: wrong for wrong in WRONG_KERNELS}
M = N = K = 40
KERNEL = "ieee/fma.f32.bf16+split-k:2"
RNG = np.random.default_rng(4)
A, B = (RNG.standard_normal((M, K)).astype(BF16) for _ in "ab")


def chain(a: Array, b: Array, total: Any = None, keep: Any = np.float32) -> Array:
    """Fused multiply-adds in binary32, one after the other: exact products and sums of binary64, rounded."""
    total = np.zeros((len(a), b.shape[1]), np.float32) if total is None else total
    for k in range(a.shape[1]):
        product = a[:, k : k + 1].astype(float) * b[k].astype(float)
        total = (total + product).astype(np.float32).astype(keep).astype(np.float32)
    return np.asarray(total)


def summed(a: Array, b: Array, parts: Any = lambda x: x, keep: Any = np.float32, last: Any = 1) -> Array:
    """Two parts of K, 20 each."""
    first, second = (parts(chain(a[:, part], b[part], keep=keep)) for part in (slice(20), slice(20, None)))
    return np.asarray((first + np.float32(last) * second).astype(keep).astype(np.float32))


def narrow(x: Array, dtype: Any = BF16) -> Array:
    return x.astype(dtype).astype(np.float32)


def wrong(name: str, kernel: str = KERNEL, a: Array = A, b: Array = B, **more: Any) -> Array:
    return BY_NAME[name].results(product_and_expected(kernel, {"a": a, "b": b, **more}, None, "exact")[0])


def without(k: slice) -> Array:
    a = A.copy()
    a[:, k] = 0
    return summed(a, B)


def k_twice() -> Array:
    first = chain(np.concatenate([A[:, :20], A[:, :1]], 1), np.concatenate([B[:20], B[:1]]))
    return np.asarray(first + chain(A[:, 20:], B[20:]))


FP8 = np.dtype(ml_dtypes.float8_e4m3fn)
BY_HAND = {
    "last-k": lambda: without(slice(-1, None)),
    "last-8": lambda: without(slice(-8, None)),
    "k-twice": k_twice,
    "part-twice": lambda: summed(A, B, last=2),
    "part-missing": lambda: summed(A, B, last=0),
    "parts-bf16": lambda: summed(A, B, narrow),
    "parts-f16": lambda: summed(A, B, lambda x: narrow(x, np.float16)),
    "total-bf16": lambda: summed(A, B, keep=BF16),
    "total-f16": lambda: summed(A, B, keep=np.float16),
    "result-bf16": lambda: narrow(summed(A, B)),
    "result-f16": lambda: narrow(summed(A, B), np.float16),
    "operands-fp8": lambda: summed(narrow(A.astype("f4"), FP8), narrow(B.astype("f4"), FP8)),
    "swapped": lambda: summed(B, A),
    "d-transposed": lambda: summed(A, B).T,
    "a-transposed": lambda: summed(A.T, B),
    "b-transposed": lambda: summed(A, B.T),
    "k-shifted": lambda: summed(np.concatenate([A[:, 1:], A[:, :1]], 1), B),
    "rows-shifted": lambda: summed(np.concatenate([A[1:], A[-1:]]), B),
    "zeros": lambda: np.zeros((M, N)),
    "stale-output": lambda: (summed(A, B).astype(float) + summed(A, B)[::-1]).astype(np.float32),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_each_is_the_bug_that_it_says(name: str) -> None:
    np.testing.assert_array_equal(wrong(name), BY_HAND[name]())


def test_the_right_one_is_right() -> None:
    product, exact = product_and_expected(KERNEL, {"a": A, "b": B}, None, "exact")
    np.testing.assert_array_equal(product.right, summed(A, B))
    np.testing.assert_array_equal(exact, A.astype(float) @ B.astype(float))


def test_elements_that_are_never_written() -> None:
    right = summed(A, B)
    places: dict[str, Any] = {
        "element-unwritten": np.s_[-1, -1], "row-unwritten": np.s_[-1], "column-unwritten": np.s_[:, -1],
        "tile-unwritten": np.s_[-16:, -16:],
    }  # fmt: skip
    for name, where in places.items():
        expected = right.copy()
        expected[where] = 0
        np.testing.assert_array_equal(wrong(name), expected)
    race = wrong("race")
    lost = race != right
    np.testing.assert_array_equal(race[lost], chain(A[:, :20], B[:20])[lost])
    assert 0 < lost.mean() < 0.05


def test_conversions() -> None:
    """Truncation by the words; FP8 results without saturation by ml_dtypes, which has none."""
    kernel = "ieee/fma.f32.bf16+chained+out=bf16"
    words = chain(A, B).view(np.uint32) & np.uint32(0xFFFF0000)
    np.testing.assert_array_equal(wrong("truncated", kernel), words.view(np.float32))
    large = (A.astype("f4") * 64).astype(BF16)
    with np.errstate(invalid="ignore"):
        expected = chain(large, B).astype(FP8).astype(float)
    got = wrong("unsaturated", "ieee/fma.f32.bf16+chained+out=e4m3,saturate", large)
    np.testing.assert_array_equal(got, expected)
    assert np.isnan(got).any()


def test_special_numbers() -> None:
    a = A.copy()
    a[3, 5] = np.nan
    rows = np.isnan(wrong("nan-leak", a=a)).all(axis=1)
    np.testing.assert_array_equal(np.flatnonzero(rows), [3, 4])
    tiny = A.copy()
    tiny[0] = 2.0**-130
    flushed = wrong("flushed", a=tiny)
    assert (flushed[0] == 0).all() and (flushed[1:] == summed(A, B)[1:]).all()


def test_what_is_added() -> None:
    c, bias = (RNG.standard_normal(shape).astype("f4") for shape in ((M, N), (N,)))
    kernel = "ieee/fma.f32.bf16+chained+bias"
    right = chain(A, B, c)
    given = {"c": c, "bias": bias}
    np.testing.assert_array_equal(wrong("c-missing", kernel, **given), chain(A, B) + bias)
    np.testing.assert_array_equal(wrong("c-twice", kernel, **given), chain(A, B, 2 * c) + bias)
    np.testing.assert_array_equal(wrong("bias-missing", kernel, **given), right)
    np.testing.assert_array_equal(wrong("bias-twice", kernel, **given), right + 2 * bias)


def test_scales() -> None:
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal(shape, np.float32) for shape in ((8, 64), (64, 8)))
    a *= np.exp2(np.arange(64) // 32).astype("f4")

    def of(recipe: str, kernel: str = "b200") -> Any:
        return product_and_expected(kernel, {"a": a, "b": b}, recipe, "exact")[0]

    right = {recipe: of(recipe).right for recipe in ("mxfp8", "mxfp8-up", "nvfp4")}
    np.testing.assert_array_equal(BY_NAME["scale-rule"].results(of("mxfp8")), right["mxfp8-up"])
    q, p = tcsmt.quantise(a, "mxfp8"), tcsmt.quantise(b, "mxfp8", side="b")
    turned = np.ascontiguousarray(q.scales[:, ::-1])  # type: ignore[index]
    expected = tcsmt.gemm(q.values, p.values, unit="b200", scale_a=turned, scale_b=p.scales)
    np.testing.assert_array_equal(BY_NAME["scales-shifted"].results(of("mxfp8")), expected)
    q, p = tcsmt.quantise(a, "nvfp4"), tcsmt.quantise(b, "nvfp4", side="b")
    expected = tcsmt.gemm(q.values, p.values, unit="b200", scale_a=q.scales, scale_b=p.scales)
    np.testing.assert_array_equal(BY_NAME["one-level"].results(of("nvfp4")), expected)
    with pytest.raises(NotApplicable, match="no second scale"):
        BY_NAME["one-level"].results(of("mxfp8"))


def test_another_unit_and_no_promotion() -> None:
    a, b = (x.astype(BF16) for x in (A, B))
    other = wrong("other-unit", "h100/mma.m16n8k16.f32.bf16", a, b)
    np.testing.assert_array_equal(other, tcsmt.gemm(a, b, unit="a100/mma.m16n8k16.f32.bf16"))
    kernel = "h100/mma.m16n8k16.f32.bf16+promote:16"
    np.testing.assert_array_equal(
        wrong("unpromoted", kernel, a, b), tcsmt.gemm(a, b, unit="h100/mma.m16n8k16.f32.bf16")
    )


def test_names_are_unique_and_sources_are_places() -> None:
    assert len(BY_NAME) == len(WRONG_KERNELS)
    _, sources = read_toml(Path(wrong_kernels.__file__).parent / "sources.toml")
    assert sources.keys() < BY_NAME.keys()
    for one in WRONG_KERNELS:
        assert one.source == "no public source" or "#" in one.source or ".py" in one.source
