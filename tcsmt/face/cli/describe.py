"""``tcsmt describe``."""

from __future__ import annotations

import click

from tcsmt.face.api.formats import describe_format
from tcsmt.face.api.terminal import TcsmtError
from tcsmt.face.api.units import rows_listed, side_of, unit
from tcsmt.face.cli import options
from tcsmt.face.cli.names import UNIT
from tcsmt.face.cli.printing import show


@click.command("describe")
@click.argument("arch", type=UNIT, metavar="UNIT", required=False)
@click.argument("instruction", required=False)
@click.option(
    "--format",
    "number_format",
    metavar="NAME",
    help="Instead, describe a format: a known one, or one of UNIT's own.",
)
@click.option("--cite", is_flag=True, help="Instead, print the unit's sources as BibTeX.")
@click.option("--steps", is_flag=True, help="Instead, print what the unit computes, as Python.")
@options.as_json
def describe(
    arch: str | None,
    instruction: str | None,
    number_format: str | None,
    cite: bool,
    steps: bool,
    as_json: bool,
) -> None:
    """Describe a unit by the parameters that each published convention uses.

    UNIT is an architecture, a GPU, ARCH/INSTRUCTION or a model file. For an architecture or a GPU
    without INSTRUCTION, describes the most used instruction and lists the names of the others.

    With --format, lists the extreme values of a number format, and every value if it has at most 8 bits.

    \b
    Examples:
      tcsmt describe h100/wgmma.m64nNk32.f32.e4m3.e4m3
      tcsmt describe --format e4m3
      tcsmt describe h100 --cite
      tcsmt describe cdna3 --steps
    """
    name = arch if instruction is None else f"{arch}/{instruction}"
    if (number_format is not None) + cite + steps > 1:
        raise TcsmtError("--format, --cite and --steps exclude each other")
    if number_format is not None:
        show(describe_format(number_format, name), as_json=as_json)
        return
    if arch is None or name is None:
        raise TcsmtError("expected a UNIT, or --format NAME")
    side = side_of(name)
    if cite:
        show(unit(side).citations(), as_json=as_json)
        return
    if steps:
        show(unit(side).steps(), as_json=as_json)
        return
    show(unit(side), as_json=as_json)
    if side.listed and not as_json:
        others = [other.instruction for other in rows_listed(arch, claims=True) if other is not side.row]
        click.echo("\nother instructions:\n  " + "\n  ".join(others))
