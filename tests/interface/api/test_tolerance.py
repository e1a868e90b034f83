"""Proved tolerances of given matrices: what is printed, what is refused, and results held against them."""

from __future__ import annotations

import warnings
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import tcsmt
from tcsmt.interface.api.tolerance import VacuousTolerance, assert_close

KERNEL = "ieee/fma.f32.bf16+split-k:3,parts=bf16+out=bf16"
RNG = np.random.default_rng(0)
A, B = (RNG.standard_normal(shape).astype(ml_dtypes.bfloat16) for shape in ((20, 90), (90, 30)))


def exact(a=A, b=B):
    """The dot products of numbers of few bits: binary64 sums of so few are off by next to nothing."""
    return a.astype("f8") @ b.astype("f8")


def test_a_kernel_is_within_its_tolerance() -> None:
    bound = tcsmt.tolerance(A, B, kernel=KERNEL, search=0.2)
    d = tcsmt.gemm(A, B, unit="ieee/fma.f32.bf16", reduction="split-k:3,parts=bf16", epilogue="out=bf16")
    error = np.abs(d.astype("f8") - exact())
    assert bound.atol.shape == (20, 30) and (error <= bound.atol).all()
    assert 0.5 < (error / bound.atol).max() <= 1  # it is sharp
    assert np.abs(bound.exact - exact()).max() <= bound.exact_error.max() + 1e-12
    data = bound.as_json()
    assert data["searched"]["share"] <= data["searched"]["varied_share"] <= 1
    assert not data["vacuous"] and data["unbounded"] == 0
    assert "one number for all elements: atol=" in str(bound)
    assert bound.check(d).close and bound.check(d).exit_code == 0
    assert bound.check(d.view(np.uint16)).close  # words


@pytest.mark.slow
def test_a_stack_of_products_is_bounded_product_by_product() -> None:
    """Its bounds are those of each; a wrong element is named by its place in the stack, and its bug."""
    a = np.stack([A, 2 * A, A[::-1]])
    stack, c = (a[:, None], np.stack([B, -B])), np.zeros((20, 30), "f4")
    bound = tcsmt.tolerance(*stack, c, kernel=KERNEL, search=0.1)
    assert bound.atol.shape == bound.exact.shape == (3, 2, 20, 30)
    for i, j in np.ndindex(3, 2):
        alone = tcsmt.tolerance(a[i], stack[1][j], c, kernel=KERNEL, search=0)
        assert np.array_equal(bound.atol[i, j], alone.atol)
    assert "D = 3 x 2 x 20 x 30, K = 90" in str(bound)
    assert len(bound.as_json()["searched"]["element"]) == 4
    how = {"unit": "ieee/fma.f32.bf16", "reduction": "split-k:3,parts=bf16", "epilogue": "out=bf16"}
    d = tcsmt.gemm(*stack, c, **how).astype("f4")
    assert_close(d, *stack, c, kernel=KERNEL)
    d[2, 1] = tcsmt.gemm(a[2][:, :80], -B[:80], c, **how).astype("f4")
    found = bound.check(d)
    assert found.worst[:2] == (2, 1) and found.wrong[2, 1].any() and not found.wrong[:2].any()
    assert "10 terms left out" in found.looks_like[0] and "worst: D[2, 1, " in str(found)
    with pytest.raises(tcsmt.TcsmtError, match="do not broadcast"):
        tcsmt.tolerance(a, np.stack([B, B]), kernel=KERNEL)


def test_two_kernels_lie_within_the_sum_of_both() -> None:
    both = tcsmt.tolerance(A, B, kernel=KERNEL, against="ieee/fma.f32.bf16", search=0)
    one, two = (tcsmt.tolerance(A, B, kernel=k, search=0).atol for k in (KERNEL, "ieee/fma.f32.bf16"))
    assert (both.atol >= one + two).all() and np.allclose(both.atol, one + two, rtol=1e-12)
    assert "|D1 - D2| <= atol" in str(both) and both.as_json()["against"] == "ieee/fma.f32.bf16+chained"


def test_a_vacuous_tolerance_says_so() -> None:
    """Sums that cancel, in partial sums of two bits."""
    a = np.tile(np.array([4, -4], np.float16), (3, 40))
    b = np.full((80, 2), 1.5, np.float16)
    b[0] = 1.75
    kernel = "ieee/fma.f32.f16+promote:1,total=e5m2"
    bound = tcsmt.tolerance(a, b, kernel=kernel, search=0)
    assert bound.vacuous and bound.above_signal == 6 and "VACUOUS" in str(bound)
    with pytest.warns(VacuousTolerance, match="exceeds the signal"):
        assert_close(np.zeros((3, 2)), a, b, kernel=kernel)


@pytest.mark.slow
def test_a_failure_names_the_worst_element_and_the_bug() -> None:
    d = tcsmt.gemm(A, B, unit="ieee/fma.f32.bf16")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_close(d, A, B, kernel="ieee/fma.f32.bf16")
    wrong = d.copy()
    wrong[3, 4] -= A[3, 80:].astype("f4") @ B[80:, 4].astype("f4")
    with pytest.raises(AssertionError) as failure:
        assert_close(wrong, A, B, kernel="ieee/fma.f32.bf16")
    text = str(failure.value)
    assert "1 of 600 elements is off by more than the proved tolerance" in text
    assert f"worst: D[3, 4] = {float(wrong[3, 4]):.9g}, exact {exact()[3, 4]:.9g}: off by" in text
    assert "it looks like: 10 terms left out: k = 80 to 89, the last ones of K" in text
    found = tcsmt.tolerance(A, B, kernel="ieee/fma.f32.bf16", search=0).check(wrong)
    assert not found.close and found.exit_code == 1 and found.worst == (3, 4)
    data = found.as_json()
    assert data["outside"] == 1 and data["worst"]["element"] == [3, 4]


def test_operands_are_rounded_first() -> None:
    a = RNG.standard_normal((4, 8)).astype("f4")
    with pytest.raises(tcsmt.TcsmtError, match="operands"):
        tcsmt.tolerance(a, a.T, kernel="ieee/fma.f32.bf16", search=0)
    bound = tcsmt.tolerance(a, a.T, kernel="ieee/fma.f32.bf16", operands="nearest-even", search=0)
    rounded = a.astype(ml_dtypes.bfloat16)
    assert np.allclose(bound.exact, exact(rounded, rounded.T), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kernel": "ieee/fma.f32.bf16+split-k:6,any"}, "at most 5 in any order"),
        ({"kernel": "ieee/fma.f32.bf16", "c": np.zeros((3, 3), "f4")}, "C has shape"),
        ({"kernel": "ieee/fma.f32.bf16", "bias": np.zeros(30, "f4")}, "add bias to its text"),
        ({"kernel": "ieee/fma.f32.bf16+chained+bias"}, "bias is missing"),
        ({"kernel": "ieee/fma.f32.bf16", "search": -1}, "0 or more"),
        ({"kernel": "ieee/fma.f32.bf1"}, "unknown unit"),
        ({"kernel": "b200/tcgen05.mMnNk32.kind::mxf8f6f4.block32.f32.e5m2.e5m2.ue8m0"}, "block scales"),
        ({"kernel": "ampere/mma.m16n8k32.s32.s8.s8.s32"}, "accuracy exact"),
    ],
)
def test_refusals(arguments, message: str) -> None:
    narrow = A.astype("f4") if "tcgen" in arguments["kernel"] else A
    if "tcgen" in arguments["kernel"]:
        narrow, other = (np.ones(s, ml_dtypes.float8_e5m2) for s in ((20, 32), (32, 30)))
    elif "s8" in arguments["kernel"]:
        narrow, other = (np.ones(s, np.int8) for s in ((20, 32), (32, 30)))
    else:
        other = B
    with pytest.raises(tcsmt.TcsmtError, match=message):
        tcsmt.tolerance(narrow, other, **({"search": 0} | arguments))
    with pytest.raises(tcsmt.TcsmtError, match="D has shape"):
        tcsmt.tolerance(A, B, kernel=KERNEL, search=0).check(np.zeros((2, 2)))


@pytest.mark.slow
def test_elements_of_a_number_that_is_not_finite_have_no_bound() -> None:
    """A row of A, a column of B, an element of C, a column's bias; the others have the bounds of before."""
    kernel, c, bias = f"{KERNEL},bias", np.ones((len(A), B.shape[1]), np.float32), np.ones(B.shape[1], "f4")
    plain = tcsmt.tolerance(A, B, c, bias=bias, kernel=kernel, search=0)
    a, b, odd_c, odd_bias = A.copy(), B.copy(), c.copy(), bias.copy()
    a[2, 5], b[7, 3], odd_c[0, 1], odd_bias[4] = np.inf, np.nan, -np.inf, np.nan
    found = tcsmt.tolerance(a, b, odd_c, bias=odd_bias, kernel=kernel, search=0.05)
    special = np.zeros(c.shape, bool)
    special[2], special[:, 3], special[0, 1], special[:, 4] = True, True, True, True
    assert np.isinf(found.atol[special]).all() and np.isnan(found.exact[special]).all()
    assert np.array_equal(found.atol[~special], plain.atol[~special])
    assert np.array_equal(found.exact[~special], plain.exact[~special])
    assert np.isfinite(found.signal) and not found.vacuous and found.as_json()["atol"]["largest"] < 1
    assert f"no bound for {special.sum()} elements: a number that they are made of is not finite" in str(
        found
    )
    d = (A.astype(float) @ B.astype(float) + 2).astype(ml_dtypes.bfloat16)  # the kernel's own format
    d[special] = np.nan
    assert found.check(d).close
    d[1, 0] += 1
    assert not found.check(d).close and "D[1, 0]" in str(found.check(d))


def test_where_no_element_is_of_finite_numbers_it_is_refused() -> None:
    a = A.copy()
    a[:, 5] = np.inf
    with pytest.raises(tcsmt.TcsmtError, match=r"A\[0, 5\] is inf: no element is made of finite numbers"):
        tcsmt.tolerance(a, B, kernel=KERNEL, search=0)


@pytest.mark.slow
@pytest.mark.parametrize("instruction", ["v_mfma_f32_32x32x8_bf16", "v_mfma_f32_32x32x4_xf32"])
def test_products_that_may_overflow_have_a_tolerance_where_these_do_not(instruction: str) -> None:
    """CDNA3's, whose products of the largest numbers are infinite: on normally distributed matrices."""
    rng, unit = np.random.default_rng(3), f"cdna3/{instruction}"
    dtype = ml_dtypes.bfloat16 if "bf16" in instruction else np.float32
    a, b = (rng.standard_normal(shape).astype(dtype) for shape in ((16, 96), (96, 12)))
    rule = None if "bf16" in instruction else "nearest-even"
    found = tcsmt.tolerance(a, b, kernel=f"{unit}+split-k:2", operands=rule, search=0.3)
    assert found.largest is not None and 0 < found.largest.share <= 1 and not found.vacuous
    assert found.atol.max() < 1e-3
    d = tcsmt.gemm(a, b, unit=unit, reduction="split-k:2", operands=rule)
    assert found.check(d).close and not found.check(d + np.float32(0.01)).close


def test_saved(tmp_path: Path) -> None:
    bound = tcsmt.tolerance(A, B, kernel=KERNEL, search=0)
    bound.save(tmp_path / "atol.npy")
    assert np.array_equal(np.load(tmp_path / "atol.npy"), bound.atol)
    with pytest.raises(tcsmt.TcsmtError, match="allowed suffix"):
        bound.save(tmp_path / "atol.csv")


def test_tensors() -> None:
    torch = pytest.importorskip("torch")
    a, b = (torch.from_numpy(x.astype("f4")).bfloat16() for x in (A, B))
    assert_close(a.float() @ b.float(), a, b, kernel="ieee/fma.f32.bf16")


def test_two_kernels_that_read_other_numbers_are_further_apart() -> None:
    """TF32 operands against FP32 ones: the difference of the exact results counts."""
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape, np.float32) for shape in ((8, 64), (64, 8)))
    tf32 = "ieee/fma.f32.tf32"
    for first, second in ((tf32, "ieee/fma.f32"), ("ieee/fma.f32", tf32)):
        bound = tcsmt.tolerance(a, b, kernel=first, against=second, operands="nearest-even", search=0)
        results = [
            tcsmt.gemm(a, b, unit=unit, operands="nearest-even").astype(float) for unit in (first, second)
        ]
        assert (np.abs(results[0] - results[1]) <= bound.atol).all()
    same = tcsmt.tolerance(a, b, kernel="ieee/fma.f32", against="ieee/fma.f32", search=0)
    assert same.atol.max() < bound.atol.max() / 10


def test_a_reference_kernel() -> None:
    """As ``against``: with a quantiser, of the matrices before."""
    a, b = A.astype(np.float32), B.astype(np.float32)
    with pytest.raises(tcsmt.TcsmtError, match="one kernel is a reference at most"):
        tcsmt.tolerance(a, b, kernel="ieee/fma.f32", against="ieee/fma.f32", reference="ieee/fma.f64")
    bound = tcsmt.tolerance(
        a, b, kernel="ieee/fma.f32.e4m3", quantiser="fp8-row", reference="ieee/fma.f32", search=0
    )
    alone = tcsmt.tolerance(
        a, b, kernel="ieee/fma.f32.e4m3", quantiser="fp8-row", reference="original", search=0
    )
    assert (bound.atol > alone.atol).all() and bound.against == "ieee/fma.f32+chained"
    assert bound.pair().atol < 1.01 * bound.pair(0.0).atol
