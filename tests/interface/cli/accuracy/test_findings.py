"""``tcsmt accuracy findings``: what it prints, and its exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tcsmt.interface.api import bound_table
from tests.support.command_line import done


@pytest.mark.parametrize(("verdict", "code"), [("equivalent", 0), ("unknown", 3)])
def test_entries_are_printed(
    verdict: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry: dict[str, Any] = {"verdict": verdict, "answer": "never worse", "reason": "timeout"}

    def written(path: Path, *given: object) -> tuple[dict[str, Any], dict[str, str]]:
        return {"a key": entry}, {}

    monkeypatch.setattr(bound_table, "entries", lambda effort: [])
    monkeypatch.setattr(bound_table, "write", written)
    command = ("accuracy", "findings", "--output", tmp_path / "f.json")
    data = json.loads(done(*command, "--json", code=code))
    assert data["entries"] == {"a key": entry}
    assert (data["output"], data["failed"]) == (str(tmp_path / "f.json"), {})
    assert ("unknown: a key: timeout" in done(*command, code=code)) == (verdict == "unknown")
