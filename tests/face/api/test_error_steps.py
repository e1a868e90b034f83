"""``tcsmt.accuracy.explain``: algorithms on one dot product, step by step."""

from __future__ import annotations

import pytest

from tcsmt import TcsmtError, accuracy
from tcsmt.face.api.pictures import VectorError


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
