"""Differences of two matrices as one HTML page: a heat map, what is printed, and a picture of one element."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

import numpy as np

from tcsmt.identification.kernels.differences import Differences
from tcsmt.interface.pictures.drawing import Sheet
from tcsmt.interface.pictures.svg import as_svg

#: Cells of the heat map along each side, at most; each stands for a block of elements.
_CELLS = 64
#: Pixels of a cell, at least and at most, and of the whole side.
_SIDE = 640
#: The colour of the largest differences; smaller ones are paler.
_COLOUR = "#d9480f"

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>tcsmt kernel diff</title>
<style>
body {{ margin: 1rem; font-family: system-ui, sans-serif; }}
figure {{ margin: 0; overflow-x: auto; }}
figcaption {{ margin: .5rem 0; max-width: 60rem; }}
pre {{ overflow-x: auto; }}
.cell {{ fill: {colour}; }}
.frame {{ fill: none; stroke: currentColor; }}
</style>
<h1>Where two results differ</h1>
<pre>{text}</pre>
<figure>
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"
 role="img" aria-label="heat map of the differences">
<rect class="frame" x="0.5" y="0.5" width="{inner_width}" height="{inner_height}"/>
{cells}
</svg>
<figcaption>{caption}</figcaption>
</figure>
{picture}
</html>
"""


def as_page(differences: Differences, lines: Sequence[str], sheet: Sheet | None) -> str:
    """Return the page. lines: text for people. sheet: a picture of one element, if there is one."""
    rows, columns = differences.left.shape
    cell_height, cell_width = (-(-size // _CELLS) for size in (rows, columns))
    across, down = -(-columns // cell_width), -(-rows // cell_height)
    pixel = max(4, min(32, _SIDE // max(across, down)))
    width, height = across * pixel, down * pixel
    block = "one element" if cell_height == cell_width == 1 else f"{cell_height} x {cell_width} elements"
    caption = (
        f"Each cell is {block}; the darker it is, the larger the largest difference in it, on a logarithmic "
        "scale. Empty: no element differs. Point at a cell for its elements."
    )
    return _PAGE.format(
        colour=_COLOUR, text=escape("\n".join(lines)), width=width, height=height,
        inner_width=width - 1, inner_height=height - 1,
        cells="\n".join(_cells(differences, cell_height, cell_width, pixel)), caption=caption,
        picture=f"<figure>{as_svg(sheet)}</figure>" if sheet is not None else "",
    )  # fmt: skip


def _cells(differences: Differences, height: int, width: int, pixel: int) -> Iterator[str]:
    rows, columns = differences.left.shape
    scale = np.log2(differences.ulps.astype(np.float64) + 2)
    scale[~differences.differ] = 0
    largest = float(scale.max()) or 1.0
    for down, top in enumerate(range(0, rows, height)):
        for across, first in enumerate(range(0, columns, width)):
            part = slice(top, min(top + height, rows)), slice(first, min(first + width, columns))
            count = int(differences.differ[part].sum())
            if count:
                # NaN against a number counts as the largest distance
                most = int(differences.ulps[part].max())
                apart = "a NaN on one side" if most == np.iinfo(np.uint64).max else f"at most {most} ulps"
                label = (
                    f"rows {top} to {part[0].stop - 1}, columns {first} to {part[1].stop - 1}: "
                    f"{count} differ, {apart}"
                )
                opacity = 0.15 + 0.85 * float(scale[part].max()) / largest
                yield (
                    f'<rect class="cell" x="{across * pixel}" y="{down * pixel}" width="{pixel}" '
                    f'height="{pixel}" fill-opacity="{opacity:.2f}"><title>{label}</title></rect>'
                )
