"""``tcsmt models``."""

from __future__ import annotations

import json

import click

from tcsmt.catalogue import rows, rows_of
from tcsmt.cli import options
from tcsmt.cli.table import markdown
from tcsmt.data.model_files import model_toml, row_given


@click.command("models")
@click.option("--arch", help="Only this architecture or GPU.")
@click.option("--toml", metavar="MODEL", help="Print this one as a model file, to start one of your own.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print a table for documents.")
@click.option("--claims/--no-claims", default=True, help="Show refuted and disputed claims too.")
@options.as_json
def models(arch: str | None, toml: str | None, as_markdown: bool, claims: bool, as_json: bool) -> None:
    """List the catalogue: every unit with its parameters and evidence."""
    if toml is not None:
        if arch is not None or as_json or as_markdown:
            raise click.UsageError("--toml MODEL goes with none of --arch, --json, --markdown")
        click.echo(model_toml(row_given(toml)), nl=False)
        return
    chosen = (
        rows_of(arch, claims=claims) if arch else [r for r in rows() if claims or "@" not in r.instruction]
    )
    if as_json:
        click.echo(json.dumps([row.as_json() for row in chosen], indent=1))
        return
    if as_markdown:
        click.echo(markdown(chosen))
        return
    width = max(len(row.name) for row in chosen)
    click.echo(f"{'model':<{width}}  {'K':>3} {'N_FMA':>5} {'F':>3}  {'zero':>5}  evidence    status")
    for row in chosen:
        m = row.model
        given = [getattr(m, name, None) for name in ("n_fma", "fraction_bits", "zero_exponent")]
        n_fma, bits, zero = ("-" if value is None else value for value in given)
        numbers = f"{m.k:>3} {n_fma:>5} {bits:>3}  {zero:>5}"
        click.echo(f"{row.name:<{width}}  {numbers}  {row.evidence:<11} {row.status}")
