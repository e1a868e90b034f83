"""Plots as SVG files, the same bytes on every run; matplotlib is the extra ``plot``."""

from __future__ import annotations

import io
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from tcsmt.support import extras
from tcsmt.support.errors import TcsmtError
from tcsmt.support.files import replace_bytes

#: Told apart by most colour-blind readers too (Okabe and Ito).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")


def require_matplotlib() -> None:
    """Raise :class:`.TcsmtError` where matplotlib is not installed: before the work that is to be drawn."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise TcsmtError(f"plots need matplotlib: {extras.install('plot')}") from None


def save_svg(path: Path, size: tuple[float, float], draw: Callable[[Any], None], says: str) -> None:
    """Have ``draw`` fill a matplotlib figure of that size in inches, and write it on a white ground.

    says: what the figure shows, in a sentence, for those who cannot see it.
    Raises :class:`.TcsmtError` where matplotlib is not installed.
    """
    require_matplotlib()
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    settings = {"svg.hashsalt": "tcsmt", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 9}
    with rc_context(settings):
        figure = Figure(figsize=size, layout="constrained", facecolor="white")
        draw(figure)
        content = io.StringIO()
        figure.savefig(content, format="svg", metadata={"Date": None, "Creator": "tcsmt"})
    head, svg, rest = content.getvalue().partition("<svg ")
    attributes, end, rest = rest.partition(">")
    title = f"\n <title>{escape(says)}</title>"
    replace_bytes(path, f'{head}{svg}role="img" {attributes}{end}{title}{rest}'.encode())
