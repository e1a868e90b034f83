"""The printed tables of Valpey et al."""

from __future__ import annotations

import pytest

from tcsmt.surveys.papers.valpey import printed_tables


@pytest.mark.long
def test_printed_tables() -> None:
    one, three, five = printed_tables()
    assert not one["reproduces"]
    assert "no FP16 number" in one["as_printed"]
    assert one["meant"].startswith("a is the FP16 subnormal 1.03515625·2^-16")
    assert one["with_it"]["exact_agrees"]
    assert one["with_it"]["fp16_agrees"]
    assert three["reproduces"]
    assert not five["reproduces"]
    fits = {(f["input"], f["exponent"]) for f in five["single_exponents_that_reproduce_it"]}
    assert fits == {("b1", 7), ("a1", 6)}
