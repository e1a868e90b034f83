"""Whether one algorithm is ever less accurate than another, and what it prints."""

from __future__ import annotations

from dataclasses import replace

import pytest

import tcsmt
from tcsmt import Domain, accuracy
from tcsmt.prove.statements.verdict import Unknown


@pytest.mark.long
def test_a_witness_or_unknown() -> None:
    found = tcsmt.accuracy.compare(
        "markidis", "single-f16", "volta", k=1, search=0.3, options=tcsmt.SolvingOptions(steps=100_000)
    )
    assert found.ever_worse in (True, None) and "markidis: volta/" in str(found)


def test_an_algorithm_against_itself_asks_nobody() -> None:
    found = tcsmt.accuracy.compare(
        "markidis", "markidis", "volta", k=16, search=1e-6, options=tcsmt.SolvingOptions(steps=1)
    )
    assert found.ever_worse is False
    assert "NEVER WORSE: both are the same algorithm on the same unit" in str(found)
    assert found.as_json()["scripts"] == []


@pytest.mark.slow
def test_unknown_results_say_why() -> None:
    """In ``reason`` and ``repr``, where ``ever_worse`` is None."""
    unknown = Unknown(reason="timeout after 1 s", seconds=1.0)
    domain = Domain(exponents=(0, 0), bits=(2, 2), c_zero=True)
    compared = accuracy.compare("single-bf16", "fasi-bf16x2", "hopper", k=1, domain=domain, search=0.1)
    assert compared.ever_worse is not None and compared.reason == ""
    compared = replace(compared, found=replace(compared.found, verdict=unknown))
    assert compared.ever_worse is None and compared.reason == unknown.reason
    assert repr(compared).endswith("unknown (timeout after 1 s)>")
