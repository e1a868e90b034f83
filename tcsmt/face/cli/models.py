"""``tcsmt models``."""

from __future__ import annotations

import click

from tcsmt.face.api.catalogue import EVIDENCE, unit_list
from tcsmt.face.api.terminal import counted
from tcsmt.face.api.units import unit
from tcsmt.face.cli import options
from tcsmt.face.cli.names import ARCHITECTURE, UNIT
from tcsmt.face.cli.printing import show


@click.command("models")
@click.option(
    "--arch", type=ARCHITECTURE, help="Only this architecture, GPU or processor (cpu: this machine's)."
)
@click.option("--a", "a_format", metavar="FORMAT", help="Only units that take a in this format, e.g. e4m3.")
@click.option("--b", "b_format", metavar="FORMAT", help="Only units that take b in this format.")
@click.option("--c", "c_format", metavar="FORMAT", help="Only units that take c in this format.")
@click.option("--d", "d_format", metavar="FORMAT", help="Only units with results in this format.")
@click.option("--k", type=click.IntRange(1), metavar="N", help="Only units with this number of products.")
@click.option("--evidence", metavar="LEVEL", help=f"Only units with this evidence: {', '.join(EVIDENCE)}.")
@click.option(
    "--claims/--no-claims", default=True, help="Include published models that are refuted or disputed."
)
@click.option(
    "--toml", type=UNIT, metavar="UNIT", help="Print this unit as a model file, as a start for your own."
)
@click.option("--markdown", "as_markdown", is_flag=True, help="Print a table for documents.")
@options.as_json
def models(
    arch: str | None,
    a_format: str | None,
    b_format: str | None,
    c_format: str | None,
    d_format: str | None,
    k: int | None,
    evidence: str | None,
    claims: bool,
    toml: str | None,
    as_markdown: bool,
    as_json: bool,
) -> None:
    """List the catalogue: every unit with its parameters and evidence.

    With --arch, also the sequences of its instructions that are units of their own.

    \b
    Examples:
      tcsmt models --arch h100
      tcsmt models --arch cpu
      tcsmt models --a e4m3 --evidence measured
      tcsmt models --toml volta > mine.toml
    """
    formats = {"a_format": a_format, "b_format": b_format, "c_format": c_format, "d_format": d_format}
    if toml is not None:
        if any([arch, *formats.values(), k, evidence, as_json, as_markdown]):
            raise click.UsageError("--toml UNIT takes no other option")
        click.echo(unit(toml).as_toml(), nl=False)
        return
    units = unit_list(arch, **formats, k=k, evidence=evidence, claims=claims)
    if as_json or (units.rows and not as_markdown):
        show(units, as_json=as_json)
    elif units.rows:
        click.echo(units.as_markdown())
    else:
        click.echo(f"none of {counted(units.count, 'unit')} fits", err=True)
