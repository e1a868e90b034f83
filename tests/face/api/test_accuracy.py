"""``tcsmt.accuracy``: comparisons and bounds of algorithms, and what they print."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

import tcsmt
from tcsmt import Domain, accuracy
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.prove.statements.verdict import Unknown


@pytest.mark.long
def test_accuracy() -> None:
    assert "markidis" in tcsmt.accuracy.recipes()
    found = tcsmt.accuracy.compare(
        "markidis", "single-f16", "volta", k=1, search=0.3, options=tcsmt.SolvingOptions(timeout=0.1)
    )
    assert found.ever_worse in (True, None) and "markidis: volta/" in str(found)
    domain = tcsmt.Domain(exponents=(0, 0), bits=(4, 4), c_zero=True)
    bound = tcsmt.accuracy.bound("single-f16", "volta", k=1, domain=domain, search=0.3)
    assert bound.proved is not None and bound.as_json()["unit"] == row_named("volta").name
    assert "(proved)" in str(bound)


@pytest.mark.long
def test_accuracy_of_several_instructions() -> None:
    domain = tcsmt.Domain(exponents=(-2, 2), bits=(11, 11))
    fp8 = tcsmt.accuracy.bound(
        "fp8", "h100", k=1, domain=domain, search=0.2, options=tcsmt.SolvingOptions(timeout=0.2)
    )
    assert fp8.row.instruction == "wgmma.m64nNk32.f32.e4m3.e4m3"
    assert "hopper/mma.m16n8k32.f32.e4m3.e4m3.f32" in fp8.others and "compute otherwise" in str(fp8)


def test_an_algorithm_against_itself_asks_nobody() -> None:
    found = tcsmt.accuracy.compare(
        "markidis", "markidis", "volta", k=16, search=1e-6, options=tcsmt.SolvingOptions(timeout=1e-6)
    )
    assert found.ever_worse is False
    assert "NEVER WORSE: both are the same algorithm on the same unit" in str(found)
    assert found.as_json()["scripts"] == []


def test_a_bound_that_is_not_proved_says_why() -> None:
    """As a property, in the text, in JSON and in its ``repr``; one that is proved has no reason."""
    domain = Domain(exponents=(0, 0), c_zero=True)
    found = accuracy.bound("ozaki1-e4m3,slices=2,every=128", "h100", k=128, domain=domain, search=0.1)
    assert found.proved is None
    assert found.reason.startswith("a chain of 128 products of integers up to 16 is not proved exact")
    assert found.as_json()["reason"] == found.reason
    assert f"no bound ({found.reason})" in str(found)
    assert repr(found).endswith(f", K = 128: not proved ({found.reason})>")
    shown = replace(found, found=replace(found.found, open=""))
    assert shown.reason == "no way to prove one was found"
    proved = replace(found, found=replace(found.found, proved=Fraction(3, 2)))
    assert proved.reason == "" and repr(proved).endswith(": 1.5>")


def test_unknown_results_say_why() -> None:
    """Every result of three values: its ``reason`` is there where it is None."""
    unknown = Unknown(reason="timeout after 1 s", seconds=1.0)
    domain = Domain(exponents=(0, 0), bits=(2, 2), c_zero=True)
    compared = accuracy.compare("single-bf16", "fasi-bf16x2", "hopper", k=1, domain=domain, search=0.1)
    assert compared.ever_worse is not None and compared.reason == ""
    compared = replace(compared, found=replace(compared.found, verdict=unknown))
    assert compared.ever_worse is None and compared.reason == unknown.reason
    assert repr(compared).endswith("unknown (timeout after 1 s)>")
    analysis = accuracy.split("bf16")[0]
    assert analysis.holds is None
    assert "not known (neither a proof nor all inputs were asked for)" in repr(analysis)
    exact = accuracy.exact("volta", integers=1 << 11, k=8, search=False)
    assert (exact.is_exact is None) == bool(exact.reason)
