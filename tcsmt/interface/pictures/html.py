"""A sheet as an HTML page that stands alone: the SVG in it, which names each bit under the pointer."""

from __future__ import annotations

from html import escape

from tcsmt.interface.pictures.drawing import Sheet
from tcsmt.interface.pictures.svg import as_svg

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
body {{ margin: 1rem; font-family: system-ui, sans-serif; }}
figure {{ margin: 0; overflow-x: auto; }}
figcaption {{ margin: 0.5rem 20px; font-size: small; }}
</style>
<figure>
{svg}<figcaption>Point at a bit for its weight and what becomes of it.</figcaption>
</figure>
</html>
"""


def as_html(sheet: Sheet) -> str:
    """Return the sheet as an HTML document."""
    return _PAGE.format(title=escape(sheet.name), svg=as_svg(sheet))
