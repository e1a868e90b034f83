"""``tcsmt certificate export``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command_line import done, refused


@pytest.mark.slow
def test_files_are_written(certificates: Path, tmp_path: Path) -> None:
    text = done("certificate", "export", certificates, "--as", "smtlib", "--output", tmp_path / "out")
    assert '"2 carry bits against 3 carry bits": ' in text
    folders = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert folders == sorted(path.stem for path in (certificates / "statements").iterdir())
    asked = ("certificate", "export", certificates, "--as", "smtlib", "--output", tmp_path / "out", "--json")
    data = json.loads(done(*asked))
    assert all((tmp_path / "out" / name).is_file() for one in data["statements"] for name in one["files"])


def test_refused(certificates: Path, tmp_path: Path) -> None:
    assert "unknown language 'lean5'" in refused(
        "certificate", "export", certificates, "--as", "lean5", "--output", tmp_path
    )
    assert "--output" in refused("certificate", "export", certificates, "--as", "smtlib")
    assert "is not a certificate" in refused(
        "certificate", "export", tmp_path, "--as", "smtlib", "--output", tmp_path / "out"
    )
