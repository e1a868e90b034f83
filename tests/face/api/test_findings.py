"""``tcsmt.accuracy.findings``: entries, what a second call takes from the file, and exit codes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from tcsmt import TcsmtError, accuracy
from tcsmt.face.api import findings as api
from tcsmt.face.api.findings import AlgorithmFindings
from tcsmt.support.checkpoint import Record
from tcsmt.support.errors import Exit
from tcsmt.support.jobs.processes import Task


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
