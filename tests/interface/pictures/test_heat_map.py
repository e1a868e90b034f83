"""The atlas as a table and as a page."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from tcsmt.interface.pictures.heat_map import as_page, as_table
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.statements.domain import Domain
from tcsmt.surveys.units.atlas import Atlas, run
from tcsmt.surveys.units.model_pairs import verdicts_in
from tests.support.paths import ROOT
from tests.support.results import result_text
from tests.support.sampling import mostly_long
from tests.support.small_atlas import small


def test_pages_of_nothing() -> None:
    nothing = Atlas((), Domain(), {})
    assert as_table(nothing) == "\n"
    assert "<table>" not in as_page(nothing)


# --- in a real browser: a click on a cell draws its witness, another closes it -----------------------


def seen(page: Path, selector: str) -> dict[str, Any]:
    """What ``browser.py`` saw before a click on the element, after it, and after one on ``close``."""
    if importlib.util.find_spec("PySide6") is None:
        pytest.skip("no browser: PySide6 (the extra browser) is not installed")
    command = [sys.executable, str(ROOT / "tests" / "support" / "browser.py"), str(page), selector]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if "cannot open shared object file" in ended.stderr:
        pytest.skip(f"no browser: {ended.stderr.strip().splitlines()[-1]}")
    assert ended.returncode == 0, ended.stderr[-2000:]
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Atlas:
    folder = tmp_path_factory.mktemp("atlas")
    with verdicts_in(folder / "a.json") as store:
        return run(small(), Domain(), store, SolvingOptions(jobs=2))


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


def test_pairs_without_a_verdict_are_not_asked_yet(tmp_path: Path) -> None:
    page = tmp_path / "atlas.html"
    page.write_text(as_page(Atlas(tuple(small()), Domain(), {})))
    _, clicked, _ = seen(page, "td.unknown button")["seen"]
    assert "not asked yet" in clicked["shown"]


# --- labels of the stored atlas: each stays in its cell, and a narrow page stays narrow --------------

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


#: The boxes of texts, not of the cells around them: a text that does not fit its cell covers the next one.
MEASURE = """
<pre id="measured"></pre>
<script>
const boxes = [...document.querySelectorAll("table")].map(table =>
  [...table.querySelectorAll("th, td")].filter(cell => cell.textContent.trim()).map(cell => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    const text = range.getBoundingClientRect(), own = cell.getBoundingClientRect();
    return [cell.textContent, text.left, text.right, text.top, text.bottom,
            own.left, own.right, own.top, own.bottom];
  }));
const page = document.documentElement;
document.getElementById("measured").textContent =
  JSON.stringify({boxes, wide: page.scrollWidth, window: page.clientWidth});
</script>
</html>
"""


def measured(folder: Path, width: int) -> dict[str, Any]:
    if CHROMIUM is None:
        pytest.skip("no browser: Chromium is not installed")
    page = folder / "page.html"
    page.write_text(result_text("comparisons/atlas.html").replace("</html>", MEASURE))
    command = [
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu",
        f"--user-data-dir={folder / 'profile'}", f"--window-size={width},900", "--dump-dom", page.as_uri(),
    ]  # fmt: skip
    ended = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    found = re.search(r'<pre id="measured">(.*?)</pre>', ended.stdout, re.DOTALL)
    if found is None:
        pytest.skip(f"no browser: {ended.stderr.strip()[-200:]}")
    result: dict[str, Any] = json.loads(unescape(found[1]))
    return result


@pytest.mark.parametrize("width", mostly_long([1400, 800, 500], []))
def test_labels_stay_in_their_cells(width: int, tmp_path: Path) -> None:
    seen = measured(tmp_path, width)
    assert len(seen["boxes"]) > 20
    for table in seen["boxes"]:
        for text, left, right, top, bottom, *cell in table:
            assert cell[0] <= left and right <= cell[1], text
            assert cell[2] <= top and bottom <= cell[3], text
    assert seen["wide"] <= seen["window"], "the page scrolls sideways: only a table may"
