"""Labels of the stored atlas in a real browser: each stays in its cell, and a narrow page stays narrow."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from tests.support.paths import ROOT
from tests.support.sampling import mostly_long

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

if CHROMIUM is None:
    pytest.skip("no browser: Chromium is not installed", allow_module_level=True)

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
    page = folder / "page.html"
    page.write_text((ROOT / "results" / "atlas.html").read_text().replace("</html>", MEASURE))
    command = [
        CHROMIUM or "", "--headless", "--no-sandbox", "--disable-gpu",
        f"--user-data-dir={folder / 'profile'}", f"--window-size={width},900", "--dump-dom", page.as_uri(),
    ]  # fmt: skip
    ended = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    found = re.search(r'<pre id="measured">(.*?)</pre>', ended.stdout, re.DOTALL)
    if found is None:
        pytest.skip(f"no browser: {ended.stderr.strip()[-200:]}")
    result: dict[str, Any] = json.loads(unescape(found[1]))
    return result


@pytest.mark.parametrize("width", mostly_long([1400, 800, 500], [800]))
def test_labels_stay_in_their_cells(width: int, tmp_path: Path) -> None:
    seen = measured(tmp_path, width)
    assert len(seen["boxes"]) > 20
    for table in seen["boxes"]:
        for text, left, right, top, bottom, *cell in table:
            assert cell[0] <= left and right <= cell[1], text
            assert cell[2] <= top and bottom <= cell[3], text
    assert seen["wide"] <= seen["window"], "the page scrolls sideways: only a table may"
