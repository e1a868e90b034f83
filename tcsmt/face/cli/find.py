"""``tcsmt find``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tcsmt.face.api.asked import SolvingOptions
from tcsmt.face.api.find import Report
from tcsmt.face.api.find import find as find_property
from tcsmt.face.api.terminal import counted, replace_text
from tcsmt.face.cli import options
from tcsmt.face.cli.dumped import say_dumped
from tcsmt.face.cli.linked import link_options, links_wanted
from tcsmt.face.cli.names import ARCHITECTURE, PROPERTY, UNIT
from tcsmt.face.cli.printing import answer, json_text


@click.command(cls=options.SolvingCommand)
@click.option(
    "--property", "name", type=PROPERTY, required=True, help="The property; see `tcsmt properties`."
)
@click.option("--arch", type=ARCHITECTURE, help="Architecture, sm_XX or GPU, e.g. volta or h200.")
@click.option("--instruction", help="Instruction, or a unique part of its name; see `tcsmt models`.")
@click.option(
    "--model",
    type=UNIT,
    help="Instead of --arch: a model file, or ARCH/INSTRUCTION; see `tcsmt models --toml`.",
)
@link_options
@options.as_json
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Write the JSON report here, and update it during the run.",
)
@options.folders
@options.solving("solver", "timeout", "steps", "memory", "confirm", "certificate", "dump_smt")
def find(
    name: str,
    arch: str | None,
    instruction: str | None,
    model: str | None,
    link: bool,
    page: str | None,
    as_json: bool,
    output: Path | None,
    folders: tuple[Path, ...],
    solving: SolvingOptions,
) -> None:
    """Find a property of a unit (--arch or --model): witnesses of differences, or proofs that there are none.

    Exit code: 0 answered, 2 usage error, 3 some question remained unknown.

    \b
    Examples:
      tcsmt find --property carry-bits --arch volta
      tcsmt find --property zero-exponent --arch h100 --confirm --json
    """
    if (arch is None) == (model is None) or (model is not None and instruction is not None):
        raise click.UsageError("give either --arch (and --instruction), or --model")
    unit = str(model) if arch is None else f"{arch}/{instruction}" if instruction else arch

    def progress(report: Report) -> None:
        if output is not None:  # written before the work starts, too: a file that cannot be is known then
            replace_text(output, _json(report) + "\n", counted(len(report.findings), "finding"))
        if report.findings and sys.stderr.isatty():
            last = report.findings[-1]
            click.echo(f"{last.question.title}: {type(last.verdict).__name__.lower()}", err=True)

    report = find_property(name, unit, folders=folders, options=solving, progress=progress)
    say_dumped(solving, report.scripts)
    if output is not None:
        replace_text(output, _json(report) + "\n")
    answer(report, as_json=as_json, links=links_wanted(report, link, page))


def _json(report: Report) -> str:
    return json_text(report.as_json())
