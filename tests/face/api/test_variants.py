"""``tcsmt.accuracy.variants``: points, what one change does to the error, and the text as it comes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tcsmt import TcsmtError, accuracy
from tcsmt.study.papers.variants import SIGNS, one_at_a_time


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The points that were computed: the V100's variants are as it is, those of the other twice as wrong."""
    new: list[dict[str, Any]] = []

    def points(largest: int, before: Sequence[dict[str, Any]] = ()) -> Iterator[dict[str, Any]]:
        for signs, words in product(SIGNS, (2, 3)):
            known = [p for p in before if (p["signs"], p["words"]) == (signs, words)]
            if not known:
                error = {label: 1e-7 if label.startswith("V100") else 2e-7 for label in one_at_a_time()}
                toward_zero = dict.fromkeys(error, 0.5)
                new.append({"n": 1000, "signs": signs, "words": words} | {
                    "error": error, "toward_zero": toward_zero,
                })  # fmt: skip
            yield known[0] if known else new[-1]

    monkeypatch.setattr("tcsmt.face.api.variants.points", points)
    return new


def test_the_text_comes_line_by_line(made: list[dict[str, Any]], tmp_path: Path) -> None:
    told: list[str] = []
    found = accuracy.variants(1000, output=tmp_path / "variants.json", told=told.append)
    assert "\n".join(told) == str(found) and str(found).startswith("\nn = 1000, 2 words, random signs\n")
    assert len(found.points) == len(made) == 4
    last = found.conclusions[-1]
    assert (last["unit"], last["change"], last["error_times"]) == ("V100", "B200", 2.0)
    assert repr(found) == "<ParameterVariants at 4 points>"
    again = accuracy.variants(1000, output=tmp_path / "variants.json")
    assert str(again) == str(found) and len(made) == 4  # the second call has them from the file
    assert json.loads(json.dumps(again.as_json())) == json.loads(json.dumps(found.as_json()))


def test_other_lengths_are_refused() -> None:
    with pytest.raises(TcsmtError, match="largest = 999: must be 1000 or more"):
        accuracy.variants(999)
