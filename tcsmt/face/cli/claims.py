"""``tcsmt claims``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tcsmt.face.api.asked import SolvingOptions
from tcsmt.face.api.claims import ClaimsReport
from tcsmt.face.api.claims import claims as judged
from tcsmt.face.api.terminal import progress_bar, replace_text
from tcsmt.face.cli import options
from tcsmt.face.cli.printing import echo_json, json_text


@click.command(cls=options.SolvingCommand)
@click.argument("names", nargs=-1)
@click.option(
    "--data",
    "folders",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Measured data sets, as for `tcsmt validate` (may be repeated).",
)
@click.option(
    "--output", type=click.Path(path_type=Path), help="Write JSON here, and update it during the run."
)
@options.as_json
@options.solving("solver", "timeout", "confirm")
def claims(
    names: tuple[str, ...],
    folders: tuple[Path, ...],
    output: Path | None,
    as_json: bool,
    solving: SolvingOptions,
) -> None:
    """Check published statements about matrix units against measured data and proofs.

    NAMES: check only these statements. Without NAMES, the output names all of them. Measured rows confirm
    or refute a statement about hardware. If no row decides it, the command prints a vector that would, or
    says that there is none.

    Exit code: 0 judged, 2 usage error, 3 a solver did not answer a decisive question.

    \b
    Examples:
      tcsmt claims --data ../shared/hardware
    """

    def show(report: ClaimsReport) -> None:
        if output is not None:
            replace_text(output, json_text(report.as_json()) + "\n")
        if not as_json:
            click.echo(str(report.judgements[-1]))

    with progress_bar() as progress:

        def begun(done: int, count: int, name: str) -> None:
            if not (done or folders):
                click.echo(_WITHOUT_DATA, err=True)
            progress(done, count, name)

        report = judged(names, data=folders, options=solving, judged=show, progress=begun)
    if as_json:
        echo_json(report.as_json())
    else:
        click.echo(report.summary)
    sys.exit(report.exit_code)


_WITHOUT_DATA = (
    "no --data: statements about hardware remain undecided; for each, solvers look for a vector "
    "that would decide it"
)
