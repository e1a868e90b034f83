"""AMD's Radeon cards: numbers and words whose result follows from AMD's description."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.support.catalogue_words import lanes, word_of

WMMA = "v_wmma_f32_16x16x16_f16"


def test_rdna4_aligns_towards_minus_infinity() -> None:
    """1 - 2^-28: the small negative product becomes one unit of 2^-24; a positive one is nothing."""
    terms = {0: (1.0, 1.0), 1: (-(2.0**-14), 2.0**-14)}
    down = lanes("rdna4/v_dot2_f32_f16", terms)
    assert down == 1 - Fraction(1, 2**24)
    upward = lanes("rdna4/v_dot2_f32_f16", {0: (1.0, 1.0), 1: (2.0**-14, 2.0**-14)})
    assert upward == 1


def test_results_are_rounded_to_nearest_even() -> None:
    """1 + 2^-23 + 2^-24 goes to the even 1 + 2^-22; 1 + 2^-24 to 1."""
    for architecture in ("rdna3", "rdna4"):
        name = f"{architecture}/v_dot2_f32_f16"
        assert lanes(name, {0: (1.0, 1.0), 1: (2.0**-12, 2.0**-12)}) == 1
        assert lanes(name, {0: (1.0, 1.0), 1: (3 * 2.0**-12, 2.0**-12)}) == 1 + Fraction(1, 2**22)


def test_lanes_of_wave32_enter_in_another_order_on_rdna4() -> None:
    """2^20 in lane 0, -2^20 in lane 4, a small product in lane 8: it enters after them, or between them."""
    terms = {0: (2.0**10, 2.0**10), 4: (-(2.0**10), 2.0**10), 8: (2.0**-5, 2.0**-5)}
    assert lanes(f"rdna4/{WMMA}_w64", terms) == 2.0**-10
    assert lanes(f"rdna4/{WMMA}_w32", terms) == 0


@pytest.mark.parametrize(("name", "word"), [
    ("rdna3/v_dot2_f32_bf16", 0), ("rdna4/v_dot2_f32_bf16", 0x00400000),
])  # fmt: skip
def test_rdna3_flushes_subnormal_numbers_of_bf16(name: str, word: int) -> None:
    """A subnormal factor times 1."""
    assert word_of(name, a0=0x0040, b0=0x3F80) == word


@pytest.mark.parametrize(("name", "factor", "product"), [
    ("rdna3/v_dot2_f32_f16", 0xFFC00A3D, 0xFFC00000), ("rdna4/v_dot2_f16_f16", 0xFE3D, 0xFE00),
    ("rdna4/v_dot2_bf16_bf16", 0xFFFD, 0xFFC0), ("rdna4/v_dot4_f32_fp8_bf8", 0xFFC00A3D, 0xFFC00A3D),
])  # fmt: skip
def test_nans_have_words_of_their_own(name: str, factor: int, product: int) -> None:
    """Of a NaN factor, and of infinity times zero (E5M2 has infinities, E4M3 has none)."""
    eight, bf = "dot4" in name, "bf16" in name
    nan, infinity = (0x7F, 0x7C) if eight else (0x7FC1, 0x7F80) if bf else (0x7E01, 0x7C00)
    assert word_of(name, a0=nan) == factor
    assert word_of(name, a0=0, b0=infinity) == product
