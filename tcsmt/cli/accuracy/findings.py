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
@options.confirm
def findings(output: Path, search: float, timeout: float, confirm: bool) -> None:
    """Whether Ootomo-Yokota is ever worse than Markidis, on every unit, and what follows from it.

    Prints the comparisons and the bounds as Markdown tables. With --confirm, proofs of an earlier run that
    no second solver has checked are asked for again.
    """
    work = entries(Solving(Settings("auto", timeout), confirm=confirm), search)
    click.echo(table(write(output, work, lambda line: click.echo(line, err=True), confirm=confirm)))
