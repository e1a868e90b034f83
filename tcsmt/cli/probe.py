"""``tcsmt probe``."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import click

from tcsmt.cli import options
from tcsmt.cli.names import PROPERTY, UNIT
from tcsmt.cli.printing import echo_json
from tcsmt.data.model_files import row_given
from tcsmt.hardware import vectors as probe_vectors
from tcsmt.hardware.instructions import language_of
from tcsmt.hardware.run import judge_lines, judged, measure, require_device
from tcsmt.hardware.source import program
from tcsmt.prove.solvers.run import Settings
from tcsmt.prove.solving import Solving
from tcsmt.support.errors import Exit
from tcsmt.support.files import replace_text
from tcsmt.support.text import counted

_EMITTED = ("cuda", "hip", "c", "json", "csv")


@click.command()
@click.argument("model", type=UNIT, metavar="UNIT")
@click.option(
    "--property",
    "names",
    type=PROPERTY,
    multiple=True,
    help="Only the witnesses of this property (may be repeated).",
)
@click.option(
    "--vectors", "--plan", "source", type=click.Path(path_type=Path),
    help="Instead: rows of a file, e.g. from `identify --plan` or `audit --output`.",
)  # fmt: skip
@click.option("--emit", type=click.Choice(_EMITTED), help="What to write: a program, or the vectors.")
@click.option("--run", "run", is_flag=True, help="Compile and run the program; write and judge the answers.")
@click.option(
    "--output", type=click.Path(path_type=Path), help="The file to write; with --run, it gets the answers."
)
@options.solver
@options.timeout(20.0)
@options.memory
@options.folders
@options.as_json
def probe(
    model: str,
    names: tuple[str, ...],
    source: Path | None,
    emit: str | None,
    run: bool,
    output: Path | None,
    solver: str,
    timeout: float,
    memory: int,
    folders: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Write a program that runs vectors through the instruction UNIT and prints its answers.

    The vectors are the witnesses of all properties that apply, of some properties (--property), or the
    rows of a file (--vectors). Each comes with the result that each hypothesis predicts. `tcsmt validate`
    reads the answers.

    Exit code: 0 done, 1 (with --run) the device's answers differ from the model's, 2 usage error.

    \b
    Examples:
      tcsmt probe volta --property carry-bits --emit cuda --output probe.cu
    """
    if source is not None and names:
        raise click.UsageError("give --property or --vectors, not both")
    if run and (output is None or emit in ("json", "csv")):
        raise click.UsageError(
            "--run writes the device's answers: give --output FILE.json, and leave out --emit json and csv"
        )
    if not run and emit is None:
        raise click.UsageError(f"give --emit ({', '.join(_EMITTED)}) or --run")
    if as_json and output is None and emit != "json":
        raise click.UsageError(
            "--json describes what was written: give --output FILE, or use --emit json instead"
        )
    row = row_given(model)
    if emit not in ("json", "csv"):  # before the solvers work
        program(row, [], emit or language_of(row))
    if run:
        require_device(row)
    if source is not None:
        found = probe_vectors.from_file(source, row)
    else:
        solving = Solving(Settings(solver, timeout, memory))
        found = probe_vectors.from_properties(
            row, names, solving, folders, lambda line: click.echo(line, err=True)
        )
    if run and output is not None:
        text = program(row, found, language_of(row), _command())
        replace_text(output, measure(row, text))
        lines, wrong = judge_lines(output)
        click.echo(json.dumps(judged(output), indent=1, ensure_ascii=False) if as_json else "\n".join(lines))
        sys.exit(Exit.DIFFERS if wrong else Exit.ANSWERED)
    match emit:
        case "json":
            text = probe_vectors.as_json(row, found)
        case "csv":
            text = probe_vectors.as_csv(row, found)
        case _:
            text = program(row, found, str(emit), _command())
    if output is None:
        click.echo(text, nl=False)
        return
    replace_text(output, text)
    click.echo(f"{output}: {counted(len(found), 'vector')}", err=True)
    if as_json:
        facts = {"model": row.name, "output": str(output), "emitted": emit, "vectors": len(found)}
        echo_json(facts)


def _command() -> str:
    """The command line, as typed."""
    return shlex.join(["tcsmt", *sys.argv[1:]])
