"""``tcsmt reproduce``: its reports; what an interrupted run leaves, and what the next one takes from it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tcsmt.interface.api import reproduce as api
from tcsmt.support.checkpoint import Checkpoint, Layout
from tcsmt.surveys.papers.experiment import Experiment, Paper, Run
from tests.support.command_line import done, refused, tcsmt

GIVEN = ("reproduce", "fasi", "--output")


class Stopped:
    """A paper of two experiments; the second has three parts, and is stopped after ``parts`` of them."""

    def __init__(self) -> None:
        self.parts = 2
        self.before: Sequence[Any] = ()
        first = Experiment("first", lambda run: {"agrees": True})
        self.paper = Paper((first, Experiment("second", self.second)))

    def second(self, run: Run) -> Iterator[int]:
        self.before = run.before
        yield from range(self.parts)
        if self.parts < 3:
            raise KeyboardInterrupt


@pytest.fixture
def paper(monkeypatch: pytest.MonkeyPatch) -> Stopped:
    made = Stopped()
    monkeypatch.setattr(api, "paper_named", lambda name: (name, made.paper))
    return made


def test_an_interrupted_run_goes_on(paper: Stopped, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert tcsmt(*GIVEN, tmp_path).exit_code == 130
    assert not (tmp_path / "fasi.json").exists()
    kept = json.loads((tmp_path / "fasi.partial.json").read_text())["experiments"]
    assert {name: record["found"] for name, record in kept.items()} == {
        "first": {"agrees": True}, "second": [0, 1],
    }  # fmt: skip
    with monkeypatch.context() as patched:  # what other code has found does not count
        patched.setattr(api, "_code", lambda: "other")
        assert tcsmt(*GIVEN, tmp_path).exit_code == 130
        assert paper.before == []
        assert tcsmt(*GIVEN, tmp_path).exit_code == 130
        assert paper.before == [0, 1]
    paper.parts = 3
    done(*GIVEN, tmp_path)
    found = json.loads((tmp_path / "fasi.json").read_text())
    assert (found["first"], found["second"]) == ({"agrees": True}, [0, 1, 2])
    assert [path.name for path in tmp_path.iterdir()] == ["fasi.json"]


def test_a_shorter_run_leaves_what_a_longer_one_had(paper: Stopped, tmp_path: Path) -> None:
    """A run that is stopped again before it has as many parts: the file keeps those of the run before."""
    assert tcsmt(*GIVEN, tmp_path).exit_code == 130
    paper.parts = 1
    assert tcsmt(*GIVEN, tmp_path).exit_code == 130
    kept = json.loads((tmp_path / "fasi.partial.json").read_text())["experiments"]
    assert kept["second"]["found"] == [0, 1]


def test_two_runs_of_one_paper(paper: Stopped, tmp_path: Path) -> None:
    file = tmp_path / "fasi.partial.json"
    with Checkpoint(file, Layout()):
        assert f"{file} is in use by another run" in refused(*GIVEN, tmp_path)
    file.write_text("{}")
    assert f"{file} was not written by this command" in refused(*GIVEN, tmp_path)


def test_reproduce_fasi(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    found = tcsmt("reproduce", "fasi", "--output", folder, "--json")
    assert found.exit_code == 0
    assert "31 of 31 tests give on V100 and T4 what the paper reports" in found.stderr
    data = json.loads(found.stdout)
    assert data == json.loads((folder / "fasi.json").read_text())
    assert len(data["tests"]) == 31
    assert all(set(t["results"]) == {"v100", "t4", "a100"} for t in data["tests"])


@pytest.mark.long
def test_reproduce_valpey(tmp_path: Path) -> None:
    text = done("reproduce", "valpey", "--output", tmp_path, "--timeout", 300)
    data = json.loads((tmp_path / "valpey.json").read_text())
    assert "Table 3: reproduces as printed" in text
    for row in data["table 4"]:
        kind = "equivalent" if "changes nothing" in row["query"] else "distinguished"
        for solver in ("bitwuzla", "z3", "cvc5"):
            assert kind in row[solver]["answer"], (row["query"], solver)
            assert not row[solver]["unknown"], (row["query"], solver)
