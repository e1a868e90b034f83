"""Rules of scales, in exact arithmetic."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.programs.quantisation.quantise import quantise
from tcsmt.programs.quantisation.recipe import RECIPES
from tcsmt.programs.quantisation.scales import FloatScales, TwoLevelScales


@given(st.lists(st.floats(-(2.0**100), 2.0**100, width=32), min_size=32, max_size=96), st.booleans())
@settings(max_examples=60, deadline=None)
def test_powers_of_two(numbers: list[float], up: bool) -> None:
    """Down: 2^(floor(log2 largest) - 8); up: the least with which the largest number does not overflow."""
    matrix = np.array([numbers], np.float32)
    quantised = quantise(matrix, RECIPES["mxfp8-up" if up else "mxfp8"])
    assert quantised.scales is not None
    for block, scale in enumerate(quantised.scales[0]):
        own = matrix[0, 32 * block : 32 * block + 32]
        largest = max(abs(Fraction(float(x))) for x in own)
        power = Fraction(2) ** (int(scale.view(np.uint8)) - 127)
        if largest < Fraction(2) ** -110:
            continue
        if up:
            assert largest <= 448 * power and not largest <= 448 * power / 2
        else:
            assert 256 * power <= largest < 512 * power


def test_two_levels() -> None:
    """With the factor of all, the largest scale of a block is E4M3's largest number; zeros have factor 1."""
    matrix = np.float32(3) * np.arange(1, 33, dtype=np.float32).reshape(1, 32)
    quantised = quantise(matrix, RECIPES["nvfp4"])
    assert quantised.scales is not None and quantised.scales[0].astype(float).tolist() == [224, 448]
    assert quantised.whole == np.float32(96) / np.float32(448 * 6)
    zeros = quantise(np.zeros((2, 16), np.float32), RECIPES["nvfp4"])
    assert zeros.whole == 1 and (zeros.numbers() == 0).all()


def test_a_nan_is_of_its_block_alone() -> None:
    """Its scale is E8M0's NaN; of FP32 scales, it is a NaN."""
    matrix = np.ones((1, 64), np.float32)
    matrix[0, 3] = np.nan
    scales = quantise(matrix, RECIPES["mxfp8"]).scales
    assert scales is not None and scales.view(np.uint8).ravel().tolist() == [255, 119]
    recipe = replace(RECIPES["fp8-row"], scales=FloatScales(rows=1, columns=32))
    scales = quantise(matrix, recipe).scales
    assert scales is not None and np.isnan(scales[0, 0]) and scales[0, 1] == np.float32(1 / 448)
    assert TwoLevelScales(columns=16).format == "ue4m3"
