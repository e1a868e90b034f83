"""``tcsmt export``."""

from __future__ import annotations

from pathlib import Path

from tcsmt.ask.scripts import scripts
from tests.support.command_line import done
from tests.support.paths import ROOT


def test_export(tmp_path: Path) -> None:
    done("export", "--queries", tmp_path / "queries")
    written = {p.name: p.read_text() for p in (tmp_path / "queries").iterdir()}
    assert written == {f"{name}.smt2": text for name, text in scripts()}
    committed = ROOT / "queries"
    assert {p.name: p.read_text() for p in committed.glob("*.smt2")} == written
