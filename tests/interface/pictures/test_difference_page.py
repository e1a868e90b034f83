"""The heat map: a cell for each block that differs, and none else."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np

from tcsmt.identification.kernels.differences import Differences
from tcsmt.interface.pictures.difference_page import as_page
from tcsmt.matrix_units.arithmetic.formats import FORMATS


def test_cells_are_the_blocks_that_differ() -> None:
    random = np.random.default_rng(0)
    left = random.integers(0, 1000, (130, 20)).astype(np.uint32)
    right = left + (random.random(left.shape) < 0.1)
    page = as_page(Differences(FORMATS["f32"], left, right.astype(np.uint32)), ["a < b"], None)
    svg = page[page.index("<svg") : page.index("</svg>") + 6]
    cells = [
        rect for rect in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}rect")
        if rect.get("class") == "cell"
    ]  # fmt: skip
    blocks = {
        (down, column)
        for down, top in enumerate(range(0, 130, 3))
        for column in range(20)
        if (left[top : top + 3, column] != right[top : top + 3, column]).any()
    }
    side = int(cells[0].get("width", ""))
    assert {(int(c.get("y", "")) // side, int(c.get("x", "")) // side) for c in cells} == blocks
    counts = [int(re.findall(r": (\d+) differ", title.text or "")[0]) for c in cells for title in c]
    assert sum(counts) == (left != right).sum()
    assert "a &lt; b" in page
