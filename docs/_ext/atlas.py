"""The atlas and the units' pages in the site: a directive, and pages that no document stands for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from atlas_pages import CompareAll, page_name
from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

import tcsmt
from tcsmt.matrix_units.catalogue import rows

RESULTS = Path(tcsmt.__file__).resolve().parents[1] / "results"


@cache
def compared() -> CompareAll:
    """Of the whole catalogue."""
    return CompareAll(list(rows()), RESULTS)


class Atlas(Directive):
    """``.. atlas::``: every pair of units of the same formats and K; atlas.js adds the filters."""

    def run(self) -> list[nodes.Node]:
        """The tables, as HTML, of a page in a folder."""
        return [nodes.raw("", compared().atlas("../"), format="html")]


def unit_pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """A page for each row of the catalogue."""
    for row in rows():
        yield page_name(row), {"title": row.name, "body": compared().unit(row, "../")}, "page.html"


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.add_directive("atlas", Atlas)
    app.connect("html-collect-pages", unit_pages)
    return {"parallel_read_safe": True}
