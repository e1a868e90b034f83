"""``tcsmt.accuracy``: comparisons and bounds of algorithms, and what they print."""

from __future__ import annotations

import pytest

import tcsmt
from tcsmt.catalogue import row_named


@pytest.mark.long
def test_accuracy() -> None:
    assert "markidis" in tcsmt.accuracy.recipes()
    found = tcsmt.accuracy.compare("markidis", "single-f16", "volta", k=1, search=0.3, timeout=0.1)
    assert found.ever_worse in (True, None) and "markidis: volta/" in str(found)
    domain = tcsmt.Domain(exponents=(0, 0), bits=(4, 4), c_zero=True)
    bound = tcsmt.accuracy.bound("single-f16", "volta", k=1, domain=domain, search=0.3)
    assert bound.proved is not None and bound.as_json()["unit"] == row_named("volta").name
    assert "(proved)" in str(bound)


@pytest.mark.long
def test_accuracy_of_several_instructions() -> None:
    domain = tcsmt.Domain(exponents=(-2, 2), bits=(11, 11))
    fp8 = tcsmt.accuracy.bound("fp8", "h100", k=1, domain=domain, search=0.2, timeout=0.2)
    assert fp8.row.instruction == "wgmma.m64nNk32.f32.e4m3.e4m3"
    assert "hopper/mma.m16n8k32.f32.e4m3.e4m3.f32" in fp8.others and "compute otherwise" in str(fp8)


def test_an_algorithm_against_itself_asks_nobody() -> None:
    found = tcsmt.accuracy.compare("markidis", "markidis", "volta", k=16, search=1e-6, timeout=1e-6)
    assert found.ever_worse is False
    assert "NEVER WORSE: both are the same algorithm on the same unit" in str(found)
    assert found.as_json()["scripts"] == []
