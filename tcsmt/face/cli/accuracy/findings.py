"""``tcsmt accuracy findings``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from tcsmt.analysis.sweeps.findings import Effort, entries, table, write
from tcsmt.face.api.asked import SolvingOptions
from tcsmt.face.api.terminal import Exit, __version__, shown
from tcsmt.face.cli import options
from tcsmt.face.cli.accuracy.inputs import search_option
from tcsmt.face.cli.certified import say_certified
from tcsmt.prove.engine.certify import require_sat_solver


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
    require_sat_solver(solving)
    with shown() as progress:
        found, failed = write(output, list(entries(Effort(solving, search))), solving, progress, only)
    if as_json:
        data = {"tcsmt": __version__, "output": str(output), "entries": found, "failed": failed}
        click.echo(json.dumps(data, indent=1, ensure_ascii=False))
    else:
        click.echo(table(found))
    say_certified(solving, [entry for entry in found.values() if "verdict" in entry])
    unknown = failed or any(entry.get("verdict") == "unknown" for entry in found.values())
    sys.exit(Exit.UNKNOWN if unknown else Exit.ANSWERED)
