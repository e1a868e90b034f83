"""``tcsmt certificate show``."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.certificates import edited, only
from tests.support.command_line import done, refused


def test_text_and_json(certificates: Path) -> None:
    text = done("certificate", "show", certificates)
    assert text.count("  statement: ") == text.count("  inputs: ") == 4
    found = json.loads(done("certificate", "show", certificates, "--json"))["statements"]
    assert all(one["title"] in text and one["says"] in text for one in found)
    assert set(found[0]) == {
        *("file", "title", "says", "where", "inputs", "formats", "models", "notes", "steps"),
        *("calls", "parameters", "inhabitant"),
    }


def test_unreadable_certificates_are_refused(certificates: Path, tmp_path: Path) -> None:
    assert "is not a certificate" in refused("certificate", "show", tmp_path)
    path = only(certificates, tmp_path / "c", "2 carry bits")
    edited(path, lambda record: record["statement"].update(calls=None))
    assert "cannot be read" in refused("certificate", "show", tmp_path / "c")
