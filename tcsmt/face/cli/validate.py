"""``tcsmt validate``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tcsmt.face.api.units import side_of
from tcsmt.face.api.validate import (
    HEAD,
    ReplayedDataset,
    Validation,
    checked,
    predicted,
    prediction_lines,
    replayed,
)
from tcsmt.face.cli import options
from tcsmt.face.cli.names import UNIT
from tcsmt.face.cli.printing import json_text
from tcsmt.matrix_units.catalogue.preferred import by_use


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
    other = by_use(side_of(against).units) if against is not None else None
    found: list[ReplayedDataset] = []
    left = examples
    if not as_json:
        click.echo(HEAD)
    for one in replayed(paths, other, examples, against or ""):
        found.append(one)
        if not as_json:
            click.echo("\n".join(one.lines(left)))
            left -= min(left, len(one.result.examples) if one.result else 0)
    result = checked(Validation(tuple(found), examples, predicted(paths, other)))
    if not as_json:
        for line in prediction_lines(result.predictions):
            click.echo(line)
    click.echo(json_text(result.as_json()) if as_json else result.summary)
    sys.exit(result.exit_code)
