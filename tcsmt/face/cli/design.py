"""``tcsmt design``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from tcsmt.face.api.designs import DesignFiles, ports_as_json, ports_lines, read
from tcsmt.face.api.terminal import progress_bar, replace_text
from tcsmt.face.cli import options
from tcsmt.face.cli.design_options import of_design
from tcsmt.face.cli.names import UNIT
from tcsmt.face.cli.printing import echo_json


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--like", type=UNIT, metavar="UNIT", help="The design has this unit's formats and k.")
@of_design
@click.option(
    "--output", type=click.Path(path_type=Path), help="Write the model file here.  [default: print it]"
)
@options.as_json
def design(
    files: tuple[Path, ...], like: str | None, design: DesignFiles, output: Path | None, as_json: bool
) -> None:
    """Read a hardware design, or a function in C, as a unit, and write it as a model file, which stands for
    it in every command.

    FILES are SystemVerilog or Verilog in the order in which they are compiled, one BTOR2 file, or one file of
    C. The model file holds the design itself, so that neither its files nor Yosys or clang are needed from
    then on.

    \b
    Examples:
      tcsmt design fdp.sv --like volta --port a=in_a --output mine.toml
      tcsmt design emulator.c --function dot --like volta --output mine.toml
      tcsmt design unit.btor2 --format a=u8 --format b=u8 --format c=u32 --format d=u32
    """
    with progress_bar(lines=False) as progress:
        unit = read(replace(design, files=(*design.files, *files), progress=progress), like)
    if output is not None:
        replace_text(output, unit.as_toml())
        click.echo(f"{output}: {unit.name}, k = {unit.k}", err=True)
    for line in ports_lines(unit.row):
        click.echo(line, err=True)
    if as_json:
        echo_json(unit.row.as_json() | ports_as_json(unit.row))
    elif output is None:
        click.echo(unit.as_toml(), nl=False)
