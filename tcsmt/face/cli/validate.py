"""``tcsmt validate``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tcsmt.face.api.terminal import ignore
from tcsmt.face.api.validate import validate as validate_data
from tcsmt.face.cli import options
from tcsmt.face.cli.names import UNIT
from tcsmt.face.cli.printing import echo_json


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--against",
    type=UNIT,
    metavar="UNIT",
    help="Try this unit on all data sets that it fits.",
)
@click.option(
    "--examples",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    help="Number of mismatching rows to explain.",
)
@options.as_json
def validate(paths: tuple[Path, ...], against: str | None, examples: int, as_json: bool) -> None:
    """Replay measured data sets: .npz with a manifest, JSON, or the published text files.

    Files of predictions are shown beside what the models give.

    Also reads what `tcsmt run --output` and `tcsmt vectors` write (JSON, CSV, .npz, .hex, .mem), and files of
    the same form.

    Exit code: 0 every row matches, 1 some do not, or a model differs from what is predicted of it, 2 usage
    error, or nothing fits --against.

    \b
    Examples:
      tcsmt validate ../shared/hardware ../shared/units
      tcsmt validate results.csv --against volta
    """
    say = ignore if as_json else click.echo
    validation = validate_data(*paths, against=against, examples=examples, say=say)
    if as_json:
        echo_json(validation.as_json())
    else:
        click.echo(validation.conclusion)
    sys.exit(validation.exit_code)
