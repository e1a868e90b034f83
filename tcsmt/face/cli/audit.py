"""``tcsmt audit``."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import click

from tcsmt.face.api.asked import SolvingOptions
from tcsmt.face.api.audit import CLOSING_FILES, PUBLISHED, Audited
from tcsmt.face.api.audit import audit as audit_vectors
from tcsmt.face.api.terminal import TcsmtError, counted, progress_bar
from tcsmt.face.api.vectors import file_format
from tcsmt.face.cli import options
from tcsmt.face.cli.certified import say_certified
from tcsmt.face.cli.names import UNIT
from tcsmt.face.cli.printing import echo_json, show


@click.command(cls=options.SolvingCommand)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--published",
    type=click.Choice([*PUBLISHED]),
    multiple=True,
    help="Vectors of a paper: Fasi et al. 2020; FTTN (Li et al. 2024).",
)
@click.option(
    "--model", type=UNIT, metavar="UNIT", help="The unit.  [default: the unit that the first file names]"
)
@click.option(
    "--solve/--no-solve",
    default=True,
    help="Let solvers decide what no vector tells apart.  [default: solve]",
)
@click.option(
    "--output", type=click.Path(path_type=Path), help="Write the vectors that close the gaps: .json, .csv."
)
@click.option(
    "--subset",
    type=click.Path(path_type=Path),
    help="Write the fewest of the vectors that tell apart as much as all: .json, .csv, .hex, .mem, .npz.",
)
@options.as_json
@options.solving(
    "solver", "timeout", "memory", "confirm", "reuse", "jobs", "scheduler", "store", "certificate",
    jobs=2, timeout=20.0, confirm=True,
)  # fmt: skip
def audit(
    files: tuple[Path, ...],
    published: tuple[str, ...],
    model: str | None,
    solve: bool,
    output: Path | None,
    subset: Path | None,
    as_json: bool,
    solving: SolvingOptions,
) -> None:
    """Audit test vectors: which hypotheses they tell apart, and which vectors would close the gaps.

    A run that is stopped while solvers work prints what is known; with --store, the next one goes on from
    there.

    FILES are data sets or rows as `validate` and `run` read them; results in them are ignored. The
    hypotheses are the unit's model, its neighbours (one parameter changed), and every model in the
    catalogue with the same formats and K, refuted ones included.

    Exit code: 0 every pair of hypotheses is told apart or proved equal, 1 some pair is not, 2 usage error,
    3 unknown for some pair.

    \b
    Examples:
      tcsmt audit --published fasi --model volta
      tcsmt audit my_rows.json --output closing.json --subset fewest.json
    """
    if not files and not published:
        raise click.UsageError(f"give FILES, or --published {' or '.join(PUBLISHED)}")
    if published and not files and model is None:
        raise click.UsageError(
            "--published needs --model: the papers' vectors do not say which unit they are for"
        )
    if output is not None and output.suffix.lower() not in CLOSING_FILES:
        raise TcsmtError(f"--output {output}: allowed suffixes: {', '.join(CLOSING_FILES)}")
    for option, value in (("--output", output), ("--certificate", solving.certificate)):
        if value is not None and not solve:
            raise click.UsageError(f"{option} needs --solve")
    if subset is not None:
        file_format(subset)
    with progress_bar(lines=False) as progress:
        made = audit_vectors(files, model, published=published, solve=False, progress=progress)
    if subset is not None:
        made.fewest.save(subset)
        click.echo(f"{subset}: {counted(len(made.fewest), 'vector')}", err=True)
    if solve:
        with progress_bar() as progress:
            made = made.solved(solving, progress, partial(_say_stopped, as_json, solving))
    if output is not None and (count := made.save_closing(output)):
        click.echo(f"{output}: {counted(count, 'vector')}", err=True)
    show(made, as_json=as_json)
    if made.gaps is not None:
        say_certified(solving, [gap.record for gap in made.gaps])
    sys.exit(made.exit_code)


def _say_stopped(as_json: bool, solving: SolvingOptions, made: Audited) -> None:
    """What is known where a run is stopped: pairs that were not decided are unknown."""
    if as_json:
        echo_json(made.as_json() | {"stopped": True})
    else:
        hint = "" if solving.store else "; --store FILE keeps verdicts"
        click.echo(f"{made}\nSTOPPED before every pair was decided{hint}")
