"""``tcsmt page``."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.command_line import done, refused


def test_page(tmp_path: Path) -> None:
    data = json.loads(done("page", tmp_path / "site", "volta", "--json"))
    assert data["page"] == str(tmp_path / "site" / "index.html") and Path(data["page"]).is_file()
    assert (data["units"], data["modules"]) == (1, 1)
    text = done("page", tmp_path / "site", "volta", "v100")
    assert text.startswith(f"{tmp_path / 'site' / 'index.html'}: 2 units of 1 different functions")


def test_refusals(tmp_path: Path) -> None:
    assert "the nearest" in refused("page", tmp_path, "volt") or "volta" in refused("page", tmp_path, "volt")
    assert "does not exist" in refused("page", tmp_path, "volta", "--results", tmp_path / "none")
    assert "an atlas cannot be read there" in refused("page", tmp_path, "volta", "--results", tmp_path)
    (tmp_path / "file").write_text("")
    assert "is a file" in refused("page", tmp_path / "file", "volta")
