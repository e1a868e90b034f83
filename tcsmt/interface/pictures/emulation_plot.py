"""Bar charts of the error of products: a bar for each layer and pass, split into the steps that cause it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tcsmt.support.plots import COLOURS, save_svg

#: A label, a relative error, and the share that each step has in its square.
Bar = tuple[str, float, Mapping[str, float]]
#: Inches: of the whole, of the axis' texts, and of one bar.
_WIDTH, _MARGIN, _HEIGHT = 7.5, 1.1, 0.24


def emulation_plot(path: Path, bars: Sequence[Bar], says: str) -> None:
    """Write the bars, the first one on top, as SVG. A share below 0, which others make up for, is not drawn.

    says: the answer, in a sentence. Raises :class:`.TcsmtError` without matplotlib.
    """

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        places = range(len(bars))
        start = [0.0] * len(bars)
        for colour, cause in zip(COLOURS, bars[0][2] if bars else (), strict=False):
            lengths = [error * max(0.0, shares[cause]) for _, error, shares in bars]
            axes.barh(places, lengths, left=start, color=colour, label=cause)
            start = [before + length for before, length in zip(start, lengths, strict=True)]
        axes.set_yticks(places, [label for label, _, _ in bars])
        axes.invert_yaxis()
        axes.set_xlabel("relative error (Frobenius norm), split by each step's share in its square")
        if bars:
            axes.legend(loc="lower right", frameon=False)

    save_svg(path, (_WIDTH, _MARGIN + _HEIGHT * max(1, len(bars))), draw, says)
