"""A picture as a page that stands alone: the SVG as it is, and a name that is no markup."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

from tcsmt.interface.pictures.drawing import Sheet
from tcsmt.interface.pictures.html import as_html
from tcsmt.interface.pictures.svg import as_svg
from tcsmt.matrix_units.catalogue import row_named
from tests.support.drawn import VOLTA, picture

SHOWN = picture(row_named(VOLTA).model, a0="1.5", b0="1.5", c="0x1.fffffep-4")


def test_the_svg_stands_in_it_as_it_is() -> None:
    sheet = Sheet((SHOWN,))
    page = as_html(sheet)
    assert page.startswith("<!doctype html>") and page.count("<svg") == 1
    assert as_svg(sheet) in page
    ET.fromstring(page[page.index("<svg") : page.index("</svg>") + 6])
    assert "<title>c: bit 1 of weight 2^-24, cut off by alignment</title>" in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")  # no external resources


def test_a_name_is_no_markup() -> None:
    named = replace(SHOWN, model="<b>&co")
    assert "<title>&lt;b&gt;&amp;co</title>" in as_html(Sheet((named,)))
    assert "<title>one &lt; two</title>" in as_html(Sheet((SHOWN,), title="one < two"))
    assert "<b>" not in as_html(Sheet((named, named)))
