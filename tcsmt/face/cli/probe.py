"""``tcsmt probe``."""

from __future__ import annotations

import shlex
import sys
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path

import click

from tcsmt.face.api.asked import SolvingOptions
from tcsmt.face.api.probe import EMITTED
from tcsmt.face.api.probe import probe as probe_unit
from tcsmt.face.api.terminal import counted, progress_bar
from tcsmt.face.cli import options
from tcsmt.face.cli.names import PROPERTY, UNIT
from tcsmt.face.cli.printing import answer, echo_json


@click.command(cls=options.SolvingCommand)
@click.argument("model", type=UNIT, metavar="UNIT")
@click.option(
    "--property",
    "names",
    type=PROPERTY,
    multiple=True,
    help="Only the witnesses of this property (may be repeated).",
)
@click.option(
    "--vectors",
    "--plan",
    "source",
    type=click.Path(path_type=Path),
    help="Instead: rows of a file, e.g. from `identify --plan` or `audit --output`.",
)
@click.option("--emit", type=click.Choice(EMITTED), help="What to write: a program, or the vectors.")
@click.option("--run", "run", is_flag=True, help="Compile and run the program; judge the answers.")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="The file to write; with --run, it gets the answers.  [default: standard output; with --run, none]",
)
@options.folders
@options.as_json
@options.solving("solver", "timeout", "memory", timeout=20.0)
def probe(
    model: str,
    names: tuple[str, ...],
    source: Path | None,
    emit: str | None,
    run: bool,
    output: Path | None,
    folders: tuple[Path, ...],
    as_json: bool,
    solving: SolvingOptions,
) -> None:
    """Write a program that runs vectors through the instruction UNIT and prints its answers.

    The vectors are the witnesses of all properties that apply, of some properties (--property), or the
    rows of a file (--vectors). Where no property applies, they are those that decide between UNIT, other
    units and changes of one parameter, as in `tcsmt vectors --kind deciding`. Each comes with the result
    that each hypothesis predicts. `tcsmt validate` reads the answers.

    Exit code: 0 done, 1 (with --run) the device's answers differ from the model's, 2 usage error.

    \b
    Examples:
      tcsmt probe volta --property carry-bits --emit cuda --output probe.cu
      tcsmt probe x86/vdpbf16ps --run
    """
    if source is not None and names:
        raise click.UsageError("give --property or --vectors, not both")
    if run and emit in ("json", "csv"):
        raise click.UsageError("--run asks the device: leave out --emit json and csv")
    if run and output is not None and output.suffix.lower() != ".json":
        raise click.UsageError(f"--output {output}: with --run, the answers are JSON: give FILE.json")
    if not run and emit is None:
        raise click.UsageError(f"give --emit ({', '.join(EMITTED)}) or --run")
    if as_json and output is None and emit != "json" and not run:
        raise click.UsageError(
            "--json describes what was written: give --output FILE, or use --emit json instead"
        )
    with ExitStack() as opened:
        bar = cache(lambda: opened.enter_context(progress_bar(lines=False)))

        def progress(done: int, count: int, what: str) -> None:
            """Only where vectors that decide are looked for is there a bar."""
            bar()(done, count, what)

        made = probe_unit(
            model, names, vectors=source, folders=folders, options=solving, emitted=emit, run=run,
            made_by=shlex.join(["tcsmt", *sys.argv[1:]]), say=partial(click.echo, err=True),
            progress=progress,
        )  # fmt: skip
    if run:
        answer(made.run(output), as_json=as_json)
    if output is None:
        click.echo(made.text(str(emit)), nl=False)
        return
    made.save(output, str(emit))
    click.echo(f"{output}: {counted(len(made), 'vector')}", err=True)
    if as_json:
        echo_json({"model": made.row.name, "output": str(output), "emitted": emit, "vectors": len(made)})
