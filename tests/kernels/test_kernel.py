"""Kernels by name."""

from __future__ import annotations

import numpy as np
import pytest

import tcsmt
from tcsmt.data.model_files import row_given
from tcsmt.kernels.kernel import kernel_named

HOPPER = "hopper/mma.m16n8k16.f32.f16.f16.f32"


@pytest.mark.parametrize("text", ["+split-k:2", "+chained", "+sliced:2,step=8+out=bf16", "+chained+alpha=2"])
def test_the_name_reads_back(text: str) -> None:
    found = kernel_named(f"h100{text}", row_given)
    assert found.name == HOPPER + text
    assert kernel_named(found.name, row_given) == found


def test_a_unit_alone_is_chained() -> None:
    assert kernel_named("hopper", row_given).name == f"{HOPPER}+chained"


def test_it_multiplies() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.standard_normal((3, 40)).astype(np.float16), rng.standard_normal((40, 2)).astype(np.float16)
    found = kernel_named("hopper+split-k:2+alpha=3", row_given).multiply(a, b)
    expected = np.float32(3) * (
        tcsmt.gemm(a[:, :20], b[:20], unit=HOPPER) + tcsmt.gemm(a[:, 20:], b[20:], unit=HOPPER)
    )
    assert np.array_equal(found, expected)
