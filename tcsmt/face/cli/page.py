"""``tcsmt page``."""

from __future__ import annotations

from pathlib import Path

import click

from tcsmt.face.api.page import page as page_of_units
from tcsmt.face.api.terminal import progress_bar
from tcsmt.face.cli import options
from tcsmt.face.cli.names import UNIT
from tcsmt.face.cli.printing import show

_FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command()
@click.argument("folder", type=_FOLDER, metavar="DIR")
@click.argument("units", type=UNIT, nargs=-1, metavar="[UNIT]...")
@click.option(
    "--results",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    metavar="DIR",
    help="Results, such as this project's results/: the page shows what they say of pairs.",
)
@options.as_json
def page(folder: Path, units: tuple[str, ...], results: Path | None, as_json: bool) -> None:
    """Write a page to DIR that computes units bit for bit in a browser.

    Open DIR/index.html: no server is needed, and nothing is sent anywhere. Without UNIT, the page has the
    whole catalogue, and kernels of few products. A UNIT may be a model file, or a kernel: UNIT+REDUCTION@K.

    \b
    Examples:
      tcsmt page site --results results
      tcsmt page site mine.toml h100 "h100+split-k:2@32"
    """
    with progress_bar(lines=False) as progress:
        made = page_of_units(folder, units or None, results=results, progress=progress)
    show(made, as_json=as_json)
