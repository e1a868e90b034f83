"""``tcsmt accuracy findings``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tcsmt.face.api.asked import SolvingOptions
from tcsmt.face.api.findings import findings as findings_of
from tcsmt.face.api.terminal import progress_bar
from tcsmt.face.cli import options
from tcsmt.face.cli.accuracy.inputs import search_option
from tcsmt.face.cli.certified import say_certified
from tcsmt.face.cli.printing import show


@click.command(cls=options.SolvingCommand)
@options.resumed(required=True)
@click.option(
    "--only",
    default="",
    metavar="TEXT",
    help="Only entries with this text in their keys; others stay as they are.",
)
@search_option(2.0)
@options.as_json
@options.solving("timeout", "confirm", "reuse", "jobs", "scheduler", "certificate")
def findings(
    output: Path,
    only: str,
    search: float,
    as_json: bool,
    solving: SolvingOptions,
) -> None:
    """Decide on every unit whether Ootomo-Yokota is ever worse than Markidis, and bound the errors of both.

    Prints the comparisons and the bounds as Markdown tables.

    Exit code: 0 every entry has an answer, 2 usage error, 3 some remained unknown.

    \b
    Examples:
      tcsmt accuracy findings --output accuracy.json --jobs 2
      tcsmt accuracy findings --output accuracy.json --certificate proofs
      tcsmt accuracy findings --output accuracy.json --only "bound of single-bf16: x86/"
    """
    with progress_bar() as progress:
        results = findings_of(output, only=only, search=search, options=solving, progress=progress)
    show(results, as_json=as_json)
    say_certified(solving, results.verdicts)
    sys.exit(results.exit_code)
