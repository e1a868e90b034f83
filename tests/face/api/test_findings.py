"""``tcsmt.accuracy.findings``: entries, what a second call takes from the file, and exit codes."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from tcsmt import TcsmtError, accuracy
from tcsmt.analysis.sweeps.findings import entries
from tcsmt.face.api import findings as api
from tcsmt.face.api.findings import AlgorithmFindings
from tcsmt.support.errors import Exit


def test_entries_are_in_the_file_and_in_the_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the first entry alone; what the others are about takes seconds."""
    monkeypatch.setattr(api, "entries", lambda effort: islice(entries(effort), 1))
    path, told = tmp_path / "findings.json", list[str]()
    found = accuracy.findings(path, only="Table 5", progress=lambda done, count, what: told.append(what))
    assert list(found.entries) == ["Table 5 (Valpey et al.)"] == list(json.loads(path.read_text()))
    assert found.entries["Table 5 (Valpey et al.)"]["rows"] and told
    assert found.exit_code is Exit.ANSWERED and found.verdicts == []
    assert repr(found) == f"<AlgorithmFindings 1 entry in {path}>"
    again = accuracy.findings(path, only="Table 5")
    assert again.entries == found.entries == json.loads(json.dumps(found.as_json()))["entries"]


def test_what_is_unknown_or_missing_is_exit_code_3(tmp_path: Path) -> None:
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
