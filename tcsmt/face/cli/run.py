"""``tcsmt run``."""

from __future__ import annotations

from pathlib import Path

import click

from tcsmt.face.api.asked import OPERAND_RULES
from tcsmt.face.api.run import run as run_unit
from tcsmt.face.api.terminal import counted
from tcsmt.face.cli import options
from tcsmt.face.cli.names import UNIT
from tcsmt.face.cli.printing import echo_json
from tcsmt.face.cli.rounded import RoundedInputs


@click.command()
@click.argument("model", type=UNIT, metavar="UNIT")
@click.option(
    "--input",
    "source",
    type=click.Path(path_type=Path),
    required=True,
    help="File of rows: JSON, CSV or .npz.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Write the results here: JSON, CSV or .npz, by the suffix.",
)
@click.option(
    "--operands",
    type=click.Choice([*OPERAND_RULES]),
    help="How a, b and c are rounded that their formats do not hold.  [default: arrays are refused, decimal "
    "numbers in text rounded to nearest even]",
)
@click.option("--explain", is_flag=True, help="Print every stage of every row, also with --output.")
@options.as_json
def run(
    model: str, source: Path, output: Path | None, operands: str | None, explain: bool, as_json: bool
) -> None:
    """Simulate UNIT on the rows of a file.

    A value is a hexadecimal word with all digits of the format (0x3c00), a decimal number (rounded to
    the nearest value of the format, or by --operands), or a C99 hexadecimal number (0x1.8p-3; must be
    exact). A row has a0, a1, ..., b0, b1, ..., c, and sa0, ..., sb0, ... if the unit takes block scales.

    UNIT without an instruction is the most used one that takes a and b in the formats of the dtypes of an
    .npz file; text does not say formats, and is for the most used one of all.

    Prints the results. With --output, writes them to that file instead, which `tcsmt validate` can read.

    \b
    Examples:
      tcsmt run volta --input rows.csv --output results.csv
      tcsmt run a100/m16n8k8.f32.tf32 --input rows.npz --operands nearest-even
    """
    rounded = RoundedInputs()
    simulated = run_unit(model, source, operands=operands, rounded=rounded)
    rounded.finish()
    if output is not None:
        simulated.save(output)
        click.echo(f"{output}: {counted(len(simulated), 'row')} of {simulated.row.name}", err=True)
        if as_json:
            facts = {"output": str(output), "rows": len(simulated), "rounded": rounded.said}
            echo_json({"model": simulated.row.name} | facts)
    elif as_json:
        echo_json(simulated.as_json())
    if not as_json and (output is None or explain):
        click.echo(simulated.text(stages=explain))
