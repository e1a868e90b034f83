"""Products of quantised matrices: against the unit's own products, and exact arithmetic for what follows."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tcsmt.matrix_units.arithmetic.conversion import NanWords
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.programs.kernels.gemm import gemm
from tcsmt.programs.kernels.reduction import CHAINED, promoted
from tcsmt.programs.quantisation.product import ScaledSum, finished, scaled_sum
from tcsmt.programs.quantisation.quantise import quantise
from tcsmt.programs.quantisation.recipe import RECIPES
from tcsmt.support.errors import TcsmtError

Array = np.ndarray[Any, np.dtype[Any]]

FP8 = row_named("hopper/wgmma.m64nNk32.f32.e4m3.e4m3").model
MXFP8 = row_named("blackwell/tcgen05.mMnNk32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0").model
NVFP4 = row_named("blackwell/tcgen05.mMnNk64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3").model


def matrices(m: int, n: int, k: int, seed: int = 4) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return tuple(
        (rng.standard_normal((size, k)) * np.exp2(rng.integers(-6, 6, (size, 1)))).astype(np.float32)
        for size in (m, n)
    )  # type: ignore[return-value]


def once(value: Fraction) -> np.float32:
    """An exact number rounded once to binary32: by Python's own conversion of a quotient, to odd before."""
    if value == 0:
        return np.float32(0)
    sign, size = (-1 if value < 0 else 1), abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    unit = Fraction(2) ** max(exponent - 24, -149)
    while size >= unit * (1 << 24):
        unit *= 2
    count, rest = divmod(size, unit)
    up = rest * 2 > unit or (rest * 2 == unit and count % 2 == 1)
    return np.float32(sign * float((count + up) * unit))


def test_one_scale_for_a_matrix() -> None:
    """The sum stays as it is, and the factor is the product of both scales; then one multiply-add."""
    a, b = matrices(5, 7, 96)
    left, right = (quantise(x, RECIPES["fp8-tensor"]) for x in (a, b))
    total = scaled_sum(FP8, RECIPES["fp8-tensor"], left, right)
    assert np.array_equal(total.values, gemm(left.values, right.values.T, model=FP8))
    assert total.factor == np.float32(left.scales * right.scales)  # type: ignore[operator]
    c = np.random.default_rng(5).standard_normal(7).astype(np.float32)
    result = finished(total, c=c, alpha=0.75, beta=0.5)
    alpha = np.float32(np.float32(0.75) * total.factor)
    for place in np.ndindex(result.shape):
        exact = Fraction(float(total.values[place])) * Fraction(float(alpha))
        scaled = once(Fraction(0.5) * Fraction(float(c[place[1]])))
        assert result[place] == once(exact + Fraction(float(scaled)))


def test_scales_of_rows_multiply_one_after_the_other() -> None:
    a, b = matrices(4, 6, 64)
    left, right = (quantise(x, RECIPES["fp8-row"]) for x in (a, b))
    total = scaled_sum(FP8, RECIPES["fp8-row"], left, right)
    chain = gemm(left.values, right.values.T, model=FP8)
    assert left.scales is not None and right.scales is not None and total.factor is None
    for i, j in np.ndindex(4, 6):
        first = once(Fraction(float(chain[i, j])) * Fraction(float(left.scales[i, 0])))
        assert total.values[i, j] == once(Fraction(float(first)) * Fraction(float(right.scales[j, 0])))


def test_blocks_are_promoted_by_multiply_adds() -> None:
    """final = fma(scale of A · scale of B, sum of 128, final), from +0; the last block is shorter."""
    a, b = matrices(3, 200, 300)
    recipe = RECIPES["fp8-block"]
    left, right = quantise(a, recipe), quantise(b, recipe, "weight")
    total = scaled_sum(FP8, recipe, left, right).values
    assert left.scales is not None and right.scales is not None
    for i, j in [(0, 0), (1, 5), (2, 127), (0, 128), (2, 199)]:
        last = np.float32(0)
        for block in range(3):
            own = slice(128 * block, 128 * block + 128)
            part = gemm(left.values[i : i + 1, own], right.values[j : j + 1, own].T, model=FP8)[0, 0]
            scale = np.float32(left.scales[i, block] * right.scales[j // 128, block])
            last = once(Fraction(float(scale)) * Fraction(float(part)) + Fraction(float(last)))
        assert total[i, j] == last
    with pytest.raises(TcsmtError, match="promotes sums itself"):
        scaled_sum(FP8, recipe, left, right, promoted(64))


@pytest.mark.parametrize(("name", "model"), [("mxfp8", MXFP8), ("nvfp4", NVFP4)])
def test_block_scales_go_to_the_unit(name: str, model: Any) -> None:
    a, b = matrices(4, 5, 128)
    left, right = (quantise(x, RECIPES[name]) for x in (a, b))
    total = scaled_sum(model, RECIPES[name], left, right, CHAINED)
    assert left.scales is not None and right.scales is not None
    own = gemm(left.values, right.values.T, model=model, scale_a=left.scales, scale_b=right.scales.T)
    assert np.array_equal(total.values, own)
    factor = None if left.whole is None or right.whole is None else left.whole * right.whole
    assert total.factor == factor
    wide = left.numbers() @ right.numbers().T
    assert np.abs(total.numbers() - wide).max() < 1e-5 * np.abs(wide).max()


def test_results_in_other_formats() -> None:
    """BF16 by one more rounding; FP8 saturates, after a multiplication by its scale."""
    total = ScaledSum(np.array([[1.00390625, 500.0, -1e9, np.nan]], np.float32))
    half = finished(total, FORMATS["bf16"])
    assert half.dtype == ml_dtypes.bfloat16 and half[0, :2].astype(float).tolist() == [1.0, 500.0]
    eight = finished(total, FORMATS["e4m3"], scale=np.array(0.5, np.float32))
    assert eight[0, :3].astype(float).tolist() == [0.5, 256.0, -448.0] and np.isnan(eight[0, 3])
    biased = finished(ScaledSum(np.ones((2, 3), np.float32)), bias=np.array([1, 2, 3], np.float32))
    assert biased.tolist() == [[2, 3, 4]] * 2
    assert finished(ScaledSum(np.array([[-0.0]], np.float32), np.float32(2))).view(np.uint32)[0, 0] == 0


def test_nan_words_are_those_of_the_rule() -> None:
    """Outside of the unit alone: where nothing is computed there, its own NaN stays."""
    given = np.array([[0xFFC00001]], np.uint32).view(np.float32)
    ones, words = NanWords("ones"), {}
    for name in ("f32", "f16", "bf16"):
        total = ScaledSum(given, np.float32(0.5))
        found = finished(total, FORMATS[name], nans=ones)
        words[name] = int(found.view(f"u{found.itemsize}")[0, 0])
    assert words == {"f32": 0x7FFFFFFF, "f16": 0x7FFF, "bf16": 0x7FFF}
    assert finished(ScaledSum(given), nans=ones).view(np.uint32)[0, 0] == 0xFFC00001
    assert finished(ScaledSum(given, np.float32(0.5))).view(np.uint32)[0, 0] == 0x7FC00000


@pytest.mark.parametrize("name", ["fp8-row", "fp8-tensor", "fp8-block"])
def test_nans_of_scaled_sums(name: str) -> None:
    numbers = np.ones((2, 256), np.float32)
    numbers[0, 3] = np.nan
    left, right = (quantise(numbers, RECIPES[name], role, "e4m3") for role in ("activation", "weight"))
    total = scaled_sum(FP8, RECIPES[name], left, right, nans=NanWords("ones"))
    found = finished(total, nans=NanWords("ones")).view(np.uint32)
    nan = np.isnan(found.view(np.float32))
    assert nan.any() and (found[nan] == 0x7FFFFFFF).all()
