"""Integers that kernels add up exactly: held against exact sums, and against inputs beyond what is proved."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tcsmt
from tcsmt.algorithms.exactness.kernels import exact_kernel
from tcsmt.algorithms.fused_loss import Unbounded, need
from tcsmt.algorithms.proof import StepwiseProof
from tcsmt.api.units import row_of
from tcsmt.kernels.reduction import reduction_named
from tcsmt.prove.solving import Solving
from tcsmt.terms import TRUE

CASES = [
    ("volta", "chained", 64, 512), ("volta", "split-k:2,parts=bf16", 64, 2),
    ("volta", "split-k:4,pairs", 64, 512),
    ("ieee/fma.f32", "sliced:2", 50, 579), ("turing/mma.m8n8k16.s32.s8.s8.s32", "split-k:3", 96, 128),
]  # fmt: skip


@pytest.fixture(scope="module")
def solving() -> Solving:
    """What is proved for one case is known to the next one."""
    return Solving()


def results(unit: str, reduction: str, a: Any, b: Any) -> Any:
    dtype = np.int8 if "s8" in unit else np.float32 if "f32" in unit else np.float16
    return tcsmt.gemm(a.astype(dtype), b.astype(dtype), unit=unit, reduction=reduction)


@pytest.mark.parametrize(("unit", "reduction", "k", "limit"), CASES)
def test_exact_up_to_the_limit_and_not_beyond(
    unit: str, reduction: str, k: int, limit: int, solving: Solving
) -> None:
    found = exact_kernel(StepwiseProof(solving), row_of(unit).model, reduction_named(reduction), k)
    assert found.integers == limit
    rng = np.random.default_rng(k)
    top = min(limit, 127) if "s8" in unit else limit
    a = np.concatenate([rng.integers(-top, top + 1, (30, k)), np.full((1, k), top), np.zeros((1, k))]).astype(
        int
    )
    b = np.concatenate([rng.integers(-top, top + 1, (30, k)), np.full((1, k), top), -a[:1]]).astype(int).T
    d = results(unit, reduction, a, b)
    assert (d == a @ b).all()
    assert not np.signbit(d[d == 0]).any()
    if top == limit:  # sums of numbers up to twice as large: some are rounded
        more = rng.integers(limit, 2 * limit + 1, (30, k))
        assert (results(unit, reduction, more, more.T) != more @ more.T).any()


def test_negative_zeros_give_no_negative_zero() -> None:
    """Products of -0 alone, in every part."""
    a = np.full((1, 16), -0.0, np.float16)
    for reduction in ("chained", "split-k:2", "sliced:2,reversed"):
        d = tcsmt.gemm(a, np.abs(a).T, np.zeros((1, 1), np.float32), unit="volta", reduction=reduction)
        assert d.view(np.uint32) == 0


def test_a_lemma_that_does_not_hold_stops_the_proof() -> None:
    with pytest.raises(Unbounded):
        need(StepwiseProof(Solving()), "nothing", TRUE)


@pytest.mark.long
def test_reductions_agree_on_these_integers() -> None:
    reductions = ["chained", "split-k:2"]
    found = tcsmt.kernel_invariant("volta", reductions, k=16)
    assert found.invariant is False
    assert found.integers == 1024
    text = str(found)
    assert "the same bits, exactly the sum, up to 1024" in text
    assert [one["integers"] for one in found.as_json()["exact"]] == [1024, 1024]
