"""``tcsmt accuracy findings``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tcsmt.algorithms.findings import entries, table, write
from tcsmt.cli import options
from tcsmt.cli.accuracy.inputs import search_option
from tcsmt.prove.solvers.run import Settings
from tcsmt.prove.solving import Solving
from tcsmt.statements.trust import Trust
from tcsmt.support.errors import Exit


@click.command()
@options.resumed(required=True)
@search_option(2.0)
@options.timeout()
@options.confirm
@options.kept
def findings(output: Path, search: float, timeout: float, confirm: bool, kept: bool | None) -> None:
    """Whether Ootomo-Yokota is ever worse than Markidis, on every unit, and what follows from it.

    Prints the comparisons and the bounds as Markdown tables.

    Exit code: 0 every entry has an answer, 2 usage error, 3 some stayed unknown.
    """
    work = entries(Solving(Settings("auto", timeout), confirm=confirm), search)
    found = write(output, work, lambda line: click.echo(line, err=True), Trust(confirm, kept))
    click.echo(table(found))
    unknown = any(entry.get("verdict") == "unknown" for entry in found.values())
    sys.exit(Exit.UNKNOWN if unknown else Exit.ANSWERED)
