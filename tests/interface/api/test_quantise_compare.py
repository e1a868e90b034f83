"""``tcsmt.compare_quantisers``: its text and its facts."""

from __future__ import annotations

import math

import pytest

import tcsmt


def test_a_difference() -> None:
    """The scale and the element, with what both compute, line by line."""
    found = tcsmt.compare_quantisers("torchao/nvfp4.two-level", "te/nvfp4")
    assert found.equal is False and found.exit_code == 1
    assert (found.block("scale"), found.block("element")) == ([9.0], [7.0, 2.0])
    text = str(found)
    assert "the element of [7, 2], with 8 elsewhere in the tensor:" in text and "    s = 0x7c (384)" in text
    scale, element = found.as_json()["witnesses"]
    assert scale["given"] == "0x41400000" and [side["word"] for side in element["sides"]] == ["0x4", "0x3"]


@pytest.mark.slow
def test_numbers_in_bfloat16_and_words_that_are_not_finite() -> None:
    """A row that computes in the tensor's format has other bits there; a NaN is a block's number."""
    found = tcsmt.compare_quantisers(
        "torchao/Float8Tensor.per-row", "compressed-tensors/fp8", tcsmt.Domain(), numbers="bf16"
    )
    assert found.equal is False and found.as_json()["domain"].startswith("finite")
    nan = tcsmt.compare_quantisers("torchao/blockwise.reference", "torchao/blockwise.triton")
    assert any(map(math.isnan, nan.block("scale") or []))
    with pytest.raises(tcsmt.TcsmtError, match="f32, bf16 or f16"):
        tcsmt.compare_quantisers("te/mxfp8", "te/mxfp8.older", numbers="e4m3")


def test_a_proof() -> None:
    """What is asked of solvers, and by whom it is proved."""
    found = tcsmt.compare_quantisers("te/mxfp8", "te/mxfp8")
    assert found.equal and found.exit_code == 0 and found.block("scale") is None
    assert "EQUAL, proved" in str(found) and ": the same graph" in str(found)
