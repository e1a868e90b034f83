"""The atlas' page in a real browser: a click on a cell draws its witness, another closes it."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tcsmt.prove.solvers.run import Settings
from tcsmt.statements.domain import Domain
from tcsmt.survey.atlas import Atlas, run
from tcsmt.survey.heat_map import as_page
from tcsmt.survey.settle import Asking, verdicts_in
from tests.support.paths import ROOT
from tests.support.small_atlas import small

if importlib.util.find_spec("PySide6") is None:
    pytest.skip("no browser: PySide6 (the extra browser) is not installed", allow_module_level=True)


def seen(page: Path, selector: str) -> dict[str, Any]:
    """What ``browser.py`` saw before a click on the element, after it, and after one on ``close``."""
    command = [sys.executable, str(ROOT / "tests" / "support" / "browser.py"), str(page), selector]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    if "cannot open shared object file" in ended.stderr:
        pytest.skip(f"no browser: {ended.stderr.strip().splitlines()[-1]}")
    assert ended.returncode == 0, ended.stderr[-2000:]
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Atlas:
    folder = tmp_path_factory.mktemp("atlas")
    with verdicts_in(folder / "a.json") as store:
        return run(small(), Domain(), store, Asking(Settings(timeout=30), jobs=2))


def test_a_click_draws_the_witness(made: Atlas, tmp_path: Path) -> None:
    page = tmp_path / "atlas.html"
    page.write_text(as_page(made))
    found = seen(page, "td.n1 button")
    assert found["title"] == "tcsmt atlas"
    assert found["said"] == []  # no error of the script
    before, clicked, closed = found["seen"]
    assert before == closed
    assert (before["shown"], before["drawings"], before["closable"]) == ("Click a cell.", 0, False)
    assert clicked["drawings"] == 1 and clicked["height"] > 200
    assert clicked["closable"]
    (group,) = made.groups
    record = made.between(*([unit] for unit in group.units[:2]))
    names = [unit.name for unit in group.units]
    assert sum(name in clicked["shown"] for name in names) >= 2
    assert record is not None
    for result in record["results"]:
        assert result["word"] in clicked["shown"]


def test_a_click_shows_the_proof(made: Atlas, tmp_path: Path) -> None:
    page = tmp_path / "atlas.html"
    page.write_text(as_page(made))
    _, clicked, _ = seen(page, "td.equal button")["seen"]
    assert "proved equal" in clicked["shown"]
    assert clicked["drawings"] == 0


def test_a_pair_without_a_verdict(tmp_path: Path) -> None:
    page = tmp_path / "atlas.html"
    page.write_text(as_page(Atlas(tuple(small()), Domain(), {})))
    _, clicked, _ = seen(page, "td.unknown button")["seen"]
    assert "not asked yet" in clicked["shown"]
