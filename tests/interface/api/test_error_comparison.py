"""Whether one algorithm is ever less accurate than another, and what it prints."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import tcsmt
from tcsmt import Domain, TcsmtError, accuracy
from tcsmt.interface.api.pictures import VectorError
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
    assert "NEVER WORSE" in str(found)
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


def test_two_algorithms_beside_each_other() -> None:
    found = accuracy.explain("ootomo-halfhalf", "volta", {"a0": "0.1", "b0": "0x3f801000"}, "markidis",
                             rounded=list[str]().append)  # fmt: skip
    assert found.as_json()["pictures"][0]["panels"][0]["sides"] == ["ootomo-halfhalf", "markidis"]
    assert "◄ they first differ here" in str(found) and found.as_svg().startswith("<svg")


def test_an_inexact_number_is_refused_or_rounded_and_told() -> None:
    with pytest.raises(VectorError, match=r"a0: '?0\.1"):
        accuracy.explain("markidis", "volta", "a0=0.1", k=1)
    told: list[str] = []
    accuracy.explain("markidis", "volta", "a0=0.1", k=1, rounded=told.append)
    assert len(told) == 1 and told[0].startswith("a0: 0.1 is not an exact f32 value")


def test_refusals() -> None:
    for algorithm, given, k, said in (
        ("ootomo", "a0=1", 1, "unknown algorithm"), ("markidis", "a9=1", 4, "unknown input 'a9'"),
        ("markidis", "a0=1", 65, "k = 65: must be from 1 to 64"), ("markidis", "a0=inf", 1, "finite"),
    ):  # fmt: skip
        with pytest.raises(TcsmtError, match=said):
            accuracy.explain(algorithm, "volta", given, k=k)


@pytest.mark.slow
def test_flaws() -> None:
    found = tcsmt.accuracy.find("sign", "markidis", "hopper", k=2, search=0.5)
    assert found.has_flaw is True and found.witness is not None and "WRONG SIGN" in str(found)
    data = json.loads(json.dumps(found.as_json()))
    assert data["unit"] == found.row.name and data["short"]["inputs"]["a0"]["word"] in str(found)
    assert "<svg" in found._repr_html_() and repr(found).endswith("distinguished>")
    with pytest.raises(tcsmt.TcsmtError, match="unknown question 'sing': did you mean sign"):
        tcsmt.accuracy.find("sing", "markidis", "volta")
    with pytest.raises(tcsmt.TcsmtError, match="k = 65: must be from 1 to 64"):
        tcsmt.accuracy.find("sign", "markidis", "volta", k=65)
