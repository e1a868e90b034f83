"""``tcsmt find``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from tcsmt.ask.discovery import choose_row, load
from tcsmt.ask.investigation import Investigation, Report
from tcsmt.cli import options
from tcsmt.cli.dumped import say_dumped
from tcsmt.cli.report import report_text
from tcsmt.prove.solvers.run import Settings
from tcsmt.prove.solving import Solving
from tcsmt.statements.finding import Finding
from tcsmt.support.errors import Exit
from tcsmt.support.files import replace_text


@click.command()
@click.option("--property", "name", required=True, help="What to ask; see `tcsmt properties`.")
@click.option("--arch", help="Architecture, sm_XX or GPU, such as volta or h200.")
@click.option("--instruction", help="Instruction, or a part that only one has; see `tcsmt models`.")
@click.option("--model", help="Instead: a model file, or ARCH/INSTRUCTION; see `tcsmt models --toml`.")
@options.solver
@options.timeout()
@options.memory
@options.confirm
@options.as_json
@click.option("--output", type=click.Path(path_type=Path), help="Write the JSON report here as it grows.")
@options.dump_smt
@options.folders
def find(
    name: str,
    arch: str | None,
    instruction: str | None,
    model: str | None,
    solver: str,
    timeout: float,
    memory: int,
    confirm: bool,
    as_json: bool,
    output: Path | None,
    dump_smt: Path | None,
    folders: tuple[Path, ...],
) -> None:
    """Ask a property of a unit (--arch or --model): a witness, or a proof that there is none.

    Exit code: 0 answered, 2 usage error, 3 some question stayed unknown.
    """
    settings = Settings(solver, timeout, memory)
    if (arch is None) == (model is None) or (model is not None and instruction is not None):
        raise click.UsageError("give either --arch (and --instruction), or --model")
    prop = load(name, folders)
    named = str(model) if arch is None else f"{arch}/{instruction}" if instruction else arch
    row = choose_row(prop, named)
    solving = Solving(settings, confirm=confirm, dump=dump_smt)
    ask = Investigation(row, solving)

    def save() -> None:
        if output is not None:
            partial = Report(name, prop.about.title, prop.claims, row, tuple(ask.findings), "")
            count = len(ask.findings)
            text = json.dumps(partial.as_json(), indent=1, ensure_ascii=False)
            replace_text(output, text + "\n", f"{count} {'finding' if count == 1 else 'findings'}")

    if output is not None:  # so that a file that cannot be written is known before the work starts
        save()

    def progress(finding: Finding) -> None:
        save()
        if sys.stderr.isatty():
            click.echo(f"{finding.question.title}: {type(finding.verdict).__name__.lower()}", err=True)

    ask.progress = progress
    report = prop.investigate(ask)
    say_dumped(solving)
    text = json.dumps(report.as_json(), indent=1, ensure_ascii=False)
    if output is not None:
        replace_text(output, text + "\n")
    click.echo(text if as_json else report_text(report))
    sys.exit(Exit.UNKNOWN if report.unknown else Exit.ANSWERED)
