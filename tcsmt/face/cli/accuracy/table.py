"""``tcsmt accuracy table``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tcsmt.face.api.asked import Domain, SolvingOptions
from tcsmt.face.api.bound_table import FORMS
from tcsmt.face.api.bound_table import table as table_of
from tcsmt.face.api.terminal import progress_bar
from tcsmt.face.cli import options
from tcsmt.face.cli.accuracy.inputs import search_option
from tcsmt.face.cli.domain import domain_of_operands
from tcsmt.face.cli.names import ALGORITHM, UNIT


@click.command(cls=options.SolvingCommand)
@click.option("--arch", "units", type=UNIT, multiple=True, required=True, help="A unit (may be repeated).")
@click.option(
    "--format", "formats", multiple=True, help="An operand format, for the unit by itself (may be repeated)."
)
@click.option(
    "--algorithm",
    "algorithms",
    type=ALGORITHM,
    multiple=True,
    help="An algorithm, as in `accuracy bound` (may be repeated).",
)
@click.option(
    "--k",
    "lengths",
    type=int,
    multiple=True,
    default=(16,),
    show_default=True,
    help="Products in the dot product (may be repeated).",
)
@domain_of_operands
@search_option(2.0)
@click.option(
    "--as", "form", type=click.Choice(FORMS), default="markdown", show_default=True, help="How it is written."
)
@options.resumed()
@options.as_json
@options.solving("solver", "timeout", "confirm", "reuse", "jobs", "scheduler", "certificate")
def table(
    units: tuple[str, ...],
    formats: tuple[str, ...],
    algorithms: tuple[str, ...],
    lengths: tuple[int, ...],
    domain: Domain,
    search: float,
    form: str,
    output: Path | None,
    as_json: bool,
    solving: SolvingOptions,
) -> None:
    """Print a table of error bounds, found and proved: units by themselves, and algorithms on them.

    With --format, the unit by itself multiplies numbers of the format: without --exponents, one line is about
    its normal numbers and one about all of them, subnormal ones, too. With --algorithm, binary32 numbers are
    multiplied by an algorithm. A unit that does not take one of them has no line for it. With --certificate,
    each cell has the digest in the name of its certificate, but for those with subnormal numbers, of which
    none is written.

    Exit code: 0 every cell has a bound, 2 usage error, 3 some have none.

    \b
    Examples:
      tcsmt accuracy table --arch v100 --arch h100 --format f16 --k 16 --k 64 --as latex
      tcsmt accuracy table --arch h100 --algorithm bf16x9 --k 1024 --output table.json --certificate proofs
    """
    with progress_bar() as progress:
        result = table_of(
            units,
            formats=formats,
            algorithms=algorithms,
            lengths=lengths,
            domain=domain,
            search=search,
            output=output,
            options=solving,
            progress=progress,
        )
    click.echo(result.text("json" if as_json else form))
    sys.exit(result.exit_code)
