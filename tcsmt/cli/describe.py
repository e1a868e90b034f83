"""``tcsmt describe``."""

from __future__ import annotations

import click

from tcsmt.catalogue import rows_of
from tcsmt.catalogue.description import description
from tcsmt.cli import options
from tcsmt.cli.names import UNIT
from tcsmt.cli.printing import echo_json
from tcsmt.data.model_files import is_model_file, row_given


@click.command("describe")
@click.argument("arch", type=UNIT, metavar="UNIT")
@click.argument("instruction", required=False)
@options.as_json
def describe(arch: str, instruction: str | None, as_json: bool) -> None:
    """Describe a unit by the parameters that each published convention uses.

    UNIT is an architecture, a GPU, ARCH/INSTRUCTION or a model file. For an architecture or a GPU
    without INSTRUCTION, describes the most used instruction and lists the names of the others.

    \b
    Examples:
      tcsmt describe h100/wgmma.m64nNk32.f32.e4m3.e4m3
    """
    row = row_given(arch if instruction is None else f"{arch}/{instruction}")
    if as_json:
        echo_json(row.as_json())
        return
    click.echo(description(row))
    if instruction is None and "/" not in arch and not is_model_file(arch):
        others = [r.instruction for r in rows_of(arch, claims=True) if r is not row]
        click.echo("\nother instructions:\n  " + "\n  ".join(others))
