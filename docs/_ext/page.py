"""The page that computes units, in the site: ``page/index.html``, written after the documents."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

import tcsmt

RESULTS = Path(__file__).resolve().parents[2] / "results"


def write(app: Sphinx, exception: Exception | None) -> None:
    """The page of the whole catalogue, with the committed results; of a build that failed, none."""
    if exception is None and app.builder.name == "html":
        tcsmt.page(Path(app.outdir) / "page", results=RESULTS)


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True}
