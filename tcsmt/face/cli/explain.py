"""``tcsmt explain``."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from tcsmt.face.api.pictures import explain as explain_unit
from tcsmt.face.cli.linked import link_options, links_wanted
from tcsmt.face.cli.names import UNIT
from tcsmt.face.cli.picture import picture_options, show_picture
from tcsmt.face.cli.printing import show
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
@link_options
@click.option("--browser", is_flag=True, help="Open the link in a browser instead of drawing here.")
@picture_options
def explain(
    model: str,
    source: Path | None,
    row: int | None,
    vector: str | None,
    against: str | None,
    link: bool,
    page: str | None,
    browser: bool,
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
      tcsmt explain volta --vector "a0=1 b0=1 c=1e-9" --against ampere --browser
    """
    if browser and (form or output):
        raise click.UsageError("--browser draws nothing here: --format and --output are not allowed")
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
    if not browser:
        show_picture(picture, form, output, as_json=as_json, links=links_wanted(picture, link, page))
        return
    from tcsmt.face.api.links import links  # a page is needed for nothing else

    made = links(picture, page)
    show(made, as_json=as_json)
    made.open(partial(click.echo, err=True))
