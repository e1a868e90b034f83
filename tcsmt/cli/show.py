"""``tcsmt properties``, ``tcsmt models`` and ``tcsmt describe``."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from tcsmt.catalogue import Row, rows, rows_of
from tcsmt.cli import options
from tcsmt.cli.table import markdown
from tcsmt.custom import is_model_file, model_toml, row_given
from tcsmt.discovery import properties as find_properties
from tcsmt.formats import Format
from tcsmt.models import FusedDotAdd, Model
from tcsmt.rounding import Rounding


@click.command("properties")
@options.folders
@options.as_json
def properties(folders: tuple[Path, ...], as_json: bool) -> None:
    """List what can be asked."""
    found = find_properties(folders).values()
    if as_json:
        data = [{"name": p.name, "title": p.title, "file": str(p.path)} for p in found]
        click.echo(json.dumps(data, indent=1))
        return
    width = max(len(p.name) for p in found)
    for p in found:
        click.echo(f"{p.name:<{width}}  {p.title}")


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
        click.echo(json.dumps([row_data(row) for row in chosen], indent=1))
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


@click.command("describe")
@click.argument("arch")
@click.argument("instruction", required=False)
@options.as_json
def describe(arch: str, instruction: str | None, as_json: bool) -> None:
    """Describe an architecture's instruction, in every convention in use.

    Without INSTRUCTION: the architecture's first one, and the names of the others. ARCH can also be
    ARCH/INSTRUCTION, or a model file.
    """
    row = row_given(arch if instruction is None else f"{arch}/{instruction}")
    if as_json:
        click.echo(json.dumps(row_data(row), indent=1))
        return
    click.echo("\n".join(_description(row)))
    if instruction is None and "/" not in arch and not is_model_file(arch):
        others = [r.instruction for r in rows_of(arch, claims=True) if r is not row]
        click.echo("\nother instructions:\n  " + "\n  ".join(others))


def _description(row: Row) -> list[str]:
    lines = [
        row.name,
        f"  source: {row.source} ({row.date})",
        f"  evidence: {row.evidence}" + (f" on {', '.join(row.measured)}" if row.measured else ""),
        f"  status: {row.status}",
    ]
    lines += [f"  note: {row.note}"] if row.note else []
    m = row.model
    if not isinstance(m, FusedDotAdd) or m.group > 1:
        lines.append(f"  arithmetic: {m.title}")
    else:
        f, carry = m.fraction_bits, m.enough_carry_bits
        out = m.d_format
        kept = out.fraction_bits if m.round_fraction_bits is None else m.round_fraction_bits
        lines += [
            "  conventions:",
            f"    alignment fraction bits F: {f}   (MMA-Sim)",
            f"    extra alignment bits n_eab = F - 23: {m.extra_alignment_bits}   (Khattak and Mikaitis)",
            f"    product alignment (integer, fraction bits): (2,{f}), {2 + f} bits wide",
            f"    bits kept of an aligned FP32-like significand in [1, 2): {f + 1}   (Valpey et al.)",
            f"    carry bits above the two integer bits: {carry} = ceil(log2({m.n_fma} + 1))",
            "        (always enough; the fewest: tcsmt find --property carry-bits)",
            f"    accumulator: {2 + f + carry} bits and a sign; as {{integer.fraction}}: {{{2 + carry}.{f}}}",
            f"    Fasi et al. count from normalised terms: {{{1 + carry}.{f}}}",
            f"    block FMA size N_FMA: {m.n_fma} of K = {m.k}: {_blocks(m)}",
            f"    final rounding: {m.rounding} at fraction bit {kept} of {out.name}",
        ]
    lines.append("  parameters:")
    lines += [f"    {name} = {value}" for name, value in parameters(m).items()]
    return lines


def _blocks(m: FusedDotAdd) -> str:
    count = len(m.blocks)
    if count == 1:
        return "one fused sum"
    if m.interleave:
        return f"{count} sums, lanes dealt in groups of {m.interleave}"
    return f"{count} chained sums of contiguous lanes"


def parameters(model: Model) -> dict[str, Any]:
    """A model's parameters as plain values, the kind first."""
    data: dict[str, Any] = {"kind": model.kind}
    for one in fields(model):
        value = getattr(model, one.name)
        data[one.name] = value.name if isinstance(value, (Format, Rounding)) else value
    return data


def row_data(row: Row) -> dict[str, Any]:
    """A row as plain data."""
    data = {one.name: getattr(row, one.name) for one in fields(row) if one.name != "model"}
    return {**data, "measured": list(row.measured), "model": parameters(row.model)}
