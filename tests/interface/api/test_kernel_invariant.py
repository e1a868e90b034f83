"""``tcsmt.kernel_invariant``: what is said of groups, as text and plain data."""

from __future__ import annotations

import json

import numpy as np
import pytest

import tcsmt

INTEGERS = "turing/mma.m8n8k16.s32.s8.s8.s32"


@pytest.mark.slow
def test_sums_of_integers_that_wrap_are_invariant() -> None:
    """Addition modulo 2^32 in any order; the same by matrices."""
    reductions = ["chained", "split-k:2", "sliced:2"]
    found = tcsmt.kernel_invariant(
        INTEGERS, reductions, k=32, narrow=False, options=tcsmt.SolvingOptions(confirm=False)
    )
    assert found.invariant is True
    assert found.groups == (tuple(reductions),)
    assert found.k == 32
    assert "all reductions give the same bits" in str(found)
    data = json.loads(json.dumps(found.as_json()))
    assert data["invariant"] is True and data["reductions"] == reductions and data["exact"] == []
    assert data["domains"][0]["groups"] == [reductions]
    rng = np.random.default_rng(1)
    a, b = rng.integers(-128, 128, (4, 32)).astype(np.int8), rng.integers(-128, 128, (32, 4)).astype(np.int8)
    c = rng.integers(-(1 << 31), 1 << 31, (4, 4)).astype(np.int32)
    wrapped = (a.astype(np.int64) @ b.astype(np.int64) + c).astype(np.int32)
    for reduction in reductions:
        assert (tcsmt.gemm(a, b, c, unit=INTEGERS, reduction=reduction) == wrapped).all()


def test_reductions_are_data_or_text() -> None:
    given = [tcsmt.reduction("chained"), "split-k:2"]
    options = tcsmt.SolvingOptions(confirm=False)
    found = tcsmt.kernel_invariant("volta", given, k=8, narrow=False, options=options)
    listed = tcsmt.kernel_invariant("volta", "chained,split-k:2", k=8, narrow=False, options=options)
    assert listed.groups == found.groups
    assert found.groups == (("chained",), ("split-k:2",))
    assert found.invariant is False and found.integers == 0
    (pair,) = found.as_json()["domains"][0]["pairs"]
    assert pair["verdict"] == "distinguished"
    assert "#1 chained and split-k:2 differ, replayed:" in str(found)


@pytest.mark.parametrize(
    ("reductions", "message"),
    [
        (["chained"], "give two or more"),
        (["chained", "split:2"], "unknown reduction 'split': did you mean split-k"),
    ],
)
def test_bad_input(reductions: list[str], message: str) -> None:
    with pytest.raises(tcsmt.TcsmtError, match=message):
        tcsmt.kernel_invariant("volta", reductions)
