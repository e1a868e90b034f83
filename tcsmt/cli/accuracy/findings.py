"""``tcsmt accuracy findings``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from tcsmt import __version__
from tcsmt.algorithms.findings import Effort, entries, table, write
from tcsmt.cli import options
from tcsmt.cli.accuracy.inputs import search_option
from tcsmt.prove.solvers.run import Settings
from tcsmt.statements.trust import Trust
from tcsmt.support.errors import Exit
from tcsmt.support.progress import shown
from tcsmt.survey.tasks import Workers


@click.command()
@options.resumed(required=True)
@options.jobs(1)
@options.scheduler
@search_option(2.0)
@options.timeout()
@options.confirm
@options.kept
@options.as_json
def findings(
    output: Path,
    jobs: int,
    scheduler: str,
    search: float,
    timeout: float,
    confirm: bool,
    kept: bool | None,
    as_json: bool,
) -> None:
    """Decide on every unit whether Ootomo-Yokota is ever worse than Markidis, and bound the errors of both.

    Prints the comparisons and the bounds as Markdown tables.

    Exit code: 0 every entry has an answer, 2 usage error, 3 some remained unknown.

    \b
    Examples:
      tcsmt accuracy findings --output accuracy.json --jobs 2
    """
    work = list(entries(Effort(Settings("auto", timeout), confirm, search)))
    with shown() as progress:
        found, failed = write(output, work, Workers(jobs, scheduler), Trust(confirm, kept), progress)
    if as_json:
        data = {"tcsmt": __version__, "output": str(output), "entries": found, "failed": failed}
        click.echo(json.dumps(data, indent=1, ensure_ascii=False))
    else:
        click.echo(table(found))
    unknown = failed or any(entry.get("verdict") == "unknown" for entry in found.values())
    sys.exit(Exit.UNKNOWN if unknown else Exit.ANSWERED)
