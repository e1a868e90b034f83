"""``tcsmt vectors``."""

from __future__ import annotations

from pathlib import Path

import click

from tcsmt.face.api.terminal import TcsmtError, progress_bar
from tcsmt.face.api.units import side_of
from tcsmt.face.api.vectors import FILE_FORMATS, KINDS, file_format
from tcsmt.face.api.vectors import vectors as vectors_of_unit
from tcsmt.face.cli import options
from tcsmt.face.cli.names import UNIT
from tcsmt.face.cli.printing import echo_json


@click.command()
@click.argument("model", type=UNIT, metavar="UNIT")
@click.option(
    "--kind", type=click.Choice(KINDS), default="all", show_default=True, help="Which inputs (see below)."
)
@click.option(
    "--rows", type=click.IntRange(1), help="At most so many.  [default: all that decide, up to 1000]"
)
@click.option("--seed", default=1, show_default=True, help="Seed of the rows.")
@click.option(
    "--format",
    "written",
    type=click.Choice([*FILE_FORMATS]),
    help="How they are written.  [default: by the suffix of --output; json]",
)
@click.option("--output", type=click.Path(path_type=Path), help="Write them here, not to standard output.")
@options.as_json
def vectors(
    model: str,
    kind: str,
    rows: int | None,
    seed: int,
    written: str | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Write test vectors of UNIT: inputs with the expected result.

    Kinds: deciding (the fewest that exclude other units and changes of one parameter, what excludes most
    first), edge (special values, inputs near the boundaries of the arithmetic), random (half of these, half
    random words), all (the three, in this order).

    Formats: json, csv, hex (a line of words for each row), readmemh (one number for each row, for Verilog),
    npz. A run that is stopped leaves the deciding ones in --output FILE, unless there was one before.
    `tcsmt validate`, `tcsmt check --data` and `tcsmt audit` read all of them.

    \b
    Examples:
      tcsmt vectors volta --kind deciding
      tcsmt vectors h100 --rows 10000 --output h100.mem
    """
    if output is not None:
        by_suffix = file_format(output)
        if written not in (None, by_suffix):
            raise TcsmtError(
                f"--output {output}: the suffix of --format {written} is {FILE_FORMATS[str(written)]}"
            )
        written = by_suffix
    if output is None and written == "npz":
        raise TcsmtError("--format npz needs --output FILE.npz")
    if output is None and as_json and written not in (None, "json"):
        raise click.UsageError("--json needs --output, or no other --format")
    side = side_of(model)
    with progress_bar(lines=False) as progress:
        made = vectors_of_unit(side, kind, rows=rows, seed=seed, output=output, progress=progress)
    if output is None:
        click.echo(made.as_bytes(written or "json"), nl=False)
        click.echo(made.summary, err=True)
        return
    click.echo(f"{output}: {made.summary}", err=True)
    if as_json:
        echo_json(made.as_json() | {"output": str(output)})
