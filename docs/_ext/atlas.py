"""The atlas, the units' pages and links to witnesses, on their way into the site."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from atlas_pages import COMPUTES, CompareAll, page_name
from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from witness_links import views_in

import tcsmt
from tcsmt.interface.api.views import address
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


class WitnessLinks(SphinxTransform):
    """Below a block that prints an input of units, a link to the page that computes them on it."""

    default_priority = 400

    def apply(self, **options: object) -> None:
        """Add the links."""
        top = "../" * self.env.docname.count("/")
        for block in list(self.document.findall(nodes.literal_block)):
            for view in views_in(block.astext()):
                href = escape(address(f"{top}{COMPUTES}", view))
                link = f'<p class="witness"><a href="{href}">This input on the page, to be changed</a></p>'
                place = block.parent.index(block) + 1
                block.parent.insert(place, nodes.raw("", link, format="html"))


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.add_directive("atlas", Atlas)
    app.add_transform(WitnessLinks)
    app.connect("html-collect-pages", unit_pages)
    return {"parallel_read_safe": True}
