"""The table of bounds as Markdown, LaTeX, CSV and JSON; cells without a bound say why."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from tcsmt import Domain, TcsmtError, accuracy
from tcsmt.interface.api import bound_table as api
from tcsmt.interface.api.bound_table import AlgorithmFindings, BoundTable
from tcsmt.support.checkpoint import Record
from tcsmt.support.errors import Exit
from tcsmt.support.jobs.processes import Task

CELL = {
    "unit": "volta/mma_x", "algorithm": "f16", "k": 16, "domain": "exponents 0 to 0", "found": 7.5,
    "proved": 8.0, "reason": "", "certificate": "1234abcd",
}  # fmt: skip
OPEN = CELL | {"k": 64, "found": None, "proved": None, "reason": "a sum may overflow", "certificate": ""}
TABLE = BoundTable((CELL, OPEN), {"a key": "its process died"}, {"volta/mma_x": "0123"})


def test_forms_have_the_same_cells() -> None:
    lines = TABLE.text().splitlines()
    assert lines[2] == "| volta/mma_x | f16 | 16 | exponents 0 to 0 | 7.5 | 8 | 1234abcd |"
    assert "no bound of f16 on volta/mma_x, K = 64: a sum may overflow" in lines
    assert "missing: a key: its process died" in lines
    head, first, second = csv.reader(TABLE.text("csv").splitlines())
    assert (head[0], first[4:], second[4:]) == ("unit", ["7.5", "8", "1234abcd"], ["infinite", "", ""])
    latex = TABLE.text("latex").splitlines()
    assert r"volta/mma\_x & f16 & 16 & exponents 0 to 0 & 7.5 & 8 & 1234abcd \\" in latex
    assert latex[-1] == r"\end{tabular}" and latex[1].count("{") == latex[1].count("}")
    assert json.loads(TABLE.text("json"))["cells"] == [CELL, OPEN] and TABLE.exit_code == 3
    with pytest.raises(TcsmtError, match="markdown, latex, csv, json"):
        TABLE.text("html")


def test_what_is_missing_is_asked_for() -> None:
    with pytest.raises(TcsmtError, match="a format or an algorithm"):
        accuracy.table(["volta"])
    with pytest.raises(TcsmtError, match="k = 0"):
        accuracy.table(["volta"], formats=["f16"], k=[0])
    with pytest.raises(TcsmtError, match="no unit of volta takes bf16"):
        accuracy.table(["volta"], formats=["bf16"], domain=Domain(exponents=(0, 0)))


def computed() -> Record:
    return {"verdict": "equivalent", "answer": "never worse", "run": uuid4().hex}


@pytest.mark.slow
def test_entries_are_in_the_file_and_in_the_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = [Task(key, "graphs", computed, (), "code") for key in ("one key", "another")]
    monkeypatch.setattr(api, "entries", lambda effort: tasks)
    path, told = tmp_path / "findings.json", list[str]()
    found = accuracy.findings(path, only="one", progress=lambda done, count, what: told.append(what))
    assert list(found.entries) == ["one key"] == list(json.loads(path.read_text()))
    assert found.verdicts == [found.entries["one key"]] and "one key: never worse" in told
    assert found.exit_code is Exit.ANSWERED
    assert repr(found) == f"<AlgorithmFindings 1 entry in {path}>"
    again = accuracy.findings(path)
    assert [*again.entries] == ["one key", "another"]
    assert again.entries["one key"] == found.entries["one key"]  # the first run's, not another
    assert json.loads(json.dumps(again.as_json()))["entries"] == again.entries


def test_unknown_and_missing_findings_exit_with_3(tmp_path: Path) -> None:
    found = AlgorithmFindings(tmp_path / "findings.json", {}, {})
    assert found.exit_code is Exit.ANSWERED
    unknown = {"a key": {"verdict": "unknown", "reason": "timeout"}}
    assert replace(found, entries=unknown).exit_code is Exit.UNKNOWN
    assert "unknown: a key: timeout" in str(replace(found, entries=unknown))
    assert replace(found, failed={"a key": "killed"}).exit_code is Exit.UNKNOWN


def test_a_file_of_something_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "entries", lambda effort: [])
    path = tmp_path / "findings.json"
    path.write_text("[]")
    with pytest.raises(TcsmtError, match="was not written by this command"):
        accuracy.findings(path)
