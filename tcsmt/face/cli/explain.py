"""``tcsmt explain``."""

from __future__ import annotations

from pathlib import Path

import click

from tcsmt.face.api.pictures import explain as explain_unit
from tcsmt.face.cli.names import UNIT
from tcsmt.face.cli.picture import picture_options, show_picture
from tcsmt.face.cli.rounded import RoundedInputs, vector_option


@click.command()
@click.argument("model", type=UNIT, metavar="UNIT")
@click.option("--input", "source", type=click.Path(path_type=Path), help="File of rows: JSON, CSV or .npz.")
@click.option("--row", type=int, help="Which row of the file, counted from 0.  [default: 0]")
@click.option("--vector", help='One row: "a0=1.5 b0=0x3e00 c=-0x1p-4"; inputs not named are 0 (scales: 1).')
@click.option(
    "--against",
    type=UNIT,
    metavar="UNIT",
    help="Draw this unit below UNIT, and mark where they first differ.",
)
@picture_options
def explain(
    model: str,
    source: Path | None,
    row: int | None,
    vector: str | None,
    against: str | None,
    form: str | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Draw one dot-add of UNIT bit by bit.

    A value is a hexadecimal word with all digits of the format (0x3c00), a decimal number (rounded to
    the nearest value of the format), or a C99 hexadecimal number (0x1.8p-3; must be exact).

    \b
    Examples:
      tcsmt explain volta --vector "a0=1.5 b0=0x3e00 c=-0x1p-4"
      tcsmt explain volta --vector "a0=1 b0=1 c=1e-9" --against ampere --output both.svg
    """
    if (source is None) == (vector is None):
        raise click.UsageError("give one of --input and --vector")
    if row is not None and source is None:
        raise click.UsageError("--row chooses a row of --input")
    if source is not None:
        noted = RoundedInputs()
        picture = explain_unit(model, source, against, row=row, rounded=noted)
        noted.finish()
    else:
        with vector_option() as rounded:
            picture = explain_unit(model, vector or "", against, rounded=rounded)
    show_picture(picture, form, output, as_json=as_json)
