"""``tcsmt accuracy findings``: what it writes and prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tcsmt.face.cli.accuracy import findings
from tests.support.command_line import done


def test_entries_are_written_and_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry: dict[str, Any] = {"verdict": "equivalent", "answer": "never worse"}

    def written(path: Path, *given: object) -> tuple[dict[str, Any], dict[str, str]]:
        return {"a key": entry}, {}

    monkeypatch.setattr(findings, "entries", lambda effort: [])
    monkeypatch.setattr(findings, "write", written)
    data = json.loads(done("accuracy", "findings", "--output", tmp_path / "f.json", "--json"))
    assert data["entries"] == {"a key": entry}
    assert (data["output"], data["failed"]) == (str(tmp_path / "f.json"), {})
