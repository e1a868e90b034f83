"""``tcsmt.reproduce``: its text as it comes and at the end, its data, files and remarks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import tcsmt
from tcsmt import TcsmtError, accuracy
from tcsmt.interface.api import reproduce as api
from tcsmt.surveys.papers.experiment import Experiment, Paper, Run, concluded
from tcsmt.surveys.papers.variants import SIGNS, one_at_a_time


def _conclusions(run: Run) -> list[dict[str, object]]:
    run.say("no sweep")
    return [
        {"section": "1", "published": "one", "ours": run.data["value"]["ours"], "agrees": True},
        {"section": "2", "published": "two", "ours": "three", "agrees": False},
    ]


def _draw(path: Path, data: object) -> None:
    path.write_text("drawn")


def _refuse(path: Path, data: object) -> None:
    raise TcsmtError("no matplotlib")


PAPER = Paper(
    (
        Experiment("value", lambda run: {"ours": "one"}, lambda value: [value["ours"]], "the value"),
        Experiment("parts", lambda run: iter([1, 2]), lambda part: [f"part {part}"],
                   foot=lambda parts: [f"{len(parts)} parts"]),
        concluded(_conclusions),
    ),
    {"first": _draw, "second": _refuse},
    lambda: {"a model": "its digest"},
)  # fmt: skip
TEXT = """the value
one
part 1
part 2
2 parts

published, and ours
[as published] 1: one
    ours: one
[differs] 2: two
    ours: three
1 of 2 as published"""


@pytest.fixture
def _paper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "paper_named", lambda name: ("made", PAPER))


@pytest.mark.usefixtures("_paper")
def test_text_data_and_files(tmp_path: Path) -> None:
    told, noted = list[str](), list[str]()
    result = tcsmt.reproduce("made", output=tmp_path / "new", on_text=told.append, say=noted.append)
    assert "\n".join(told) == str(result) == TEXT
    assert result.data["parts"] == [1, 2] and result.data["models"] == {"a model": "its digest"}
    assert [judged["agrees"] for judged in result.conclusions] == [True, False]
    assert list(result.as_json())[:5] == ["paper", "tcsmt", "code", "date", "machine"]
    assert json.loads((tmp_path / "new" / "made.json").read_text()) == result.as_json()
    assert noted == [
        "no sweep", f"written: {tmp_path / 'new' / 'made.json'}",
        f"written: {tmp_path / 'new' / 'made-first.svg'}", "no plots: no matplotlib",
    ]  # fmt: skip
    assert {path.name for path in (tmp_path / "new").iterdir()} == {"made.json", "made-first.svg"}
    assert repr(result) == "<Reproduction of made>"


@pytest.mark.usefixtures("_paper")
def test_nothing_is_written_without_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert str(tcsmt.reproduce("made")) == TEXT
    assert not list(tmp_path.iterdir())


def test_refusals() -> None:
    with pytest.raises(TcsmtError, match="unknown paper 'valpy': did you mean valpey"):
        tcsmt.reproduce("valpy")
    with pytest.raises(TcsmtError, match="timeout = 0"):
        tcsmt.reproduce("fasi", timeout=0)


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

    monkeypatch.setattr("tcsmt.interface.api.reproduce.points", points)
    return new


def test_the_text_comes_line_by_line(made: list[dict[str, Any]], tmp_path: Path) -> None:
    told: list[str] = []
    found = accuracy.variants(1000, output=tmp_path / "variants.json", on_text=told.append)
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
