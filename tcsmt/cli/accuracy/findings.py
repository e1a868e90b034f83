"""``tcsmt accuracy findings``."""

from __future__ import annotations

from pathlib import Path

import click

from tcsmt.algorithms.findings import entries, table, write
from tcsmt.cli import options
from tcsmt.cli.accuracy.inputs import search_option
from tcsmt.query import Solving
from tcsmt.solvers.run import Settings


@click.command()
@options.resumed(required=True)
@search_option(2.0)
@options.timeout()
def findings(output: Path, search: float, timeout: float) -> None:
    """Whether Ootomo-Yokota is ever worse than Markidis, on every unit, and what follows from it.

    Prints the comparisons as a Markdown table.
    """
    work = entries(Solving(Settings("auto", timeout)), search)
    click.echo(table(write(output, work, lambda line: click.echo(line, err=True))))
