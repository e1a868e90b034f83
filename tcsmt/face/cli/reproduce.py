"""``tcsmt reproduce``."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import click

from tcsmt.face.api.asked import SolvingOptions
from tcsmt.face.api.reproduce import reproduce as reproduced
from tcsmt.face.cli import options


@click.command(cls=options.SolvingCommand)
@click.argument("paper")
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Folder for PAPER.json and the plots; a run continues where it stopped.",
)
@options.as_json
@options.solving("timeout")
def reproduce(paper: str, output: Path | None, as_json: bool, solving: SolvingOptions) -> None:
    """Run a paper's experiments again, and print our results next to the published ones.

    PAPER: valpey, fasi, mma-sim, khattak or ootomo. Nothing is written without --output. Until the run is
    complete, the file in FOLDER is PAPER.partial.json. With --json, prints JSON, and the text goes to
    standard error.

    \b
    Examples:
      tcsmt reproduce fasi
      tcsmt reproduce khattak --output khattak-2025
    """
    result = reproduced(
        paper,
        output=output,
        timeout=solving.timeout,
        told=partial(click.echo, err=as_json),
        say=partial(click.echo, err=True),
    )
    if as_json:
        click.echo(json.dumps(result.as_json(), indent=1, ensure_ascii=False))
