"""Commands that ask many questions about algorithms: table, slices, sweep, reduced, findings."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from tcsmt.interface.api.terminal import make_folder, require_matplotlib
from tcsmt.interface.cli.declared import DeclaredCall, declared
from tcsmt.interface.cli.parameters import PATH
from tcsmt.interface.cli.printing import answer, say_certified, show


@declared(
    "bound_table.table", units="--unit", was={"--arch": "--unit"},
    options="solver timeout confirm reuse jobs scheduler certificate",
)  # fmt: skip
@click.option(
    "--as",
    "form",
    type=click.Choice(["markdown", "latex", "csv", "json"]),
    default="markdown",
    show_default=True,
    help="Format of the table.",
)
def table(call: DeclaredCall, form: str, as_json: bool) -> None:
    """Print a table of error bounds, found and proved: units by themselves, and algorithms on them.

    With --format, the unit by itself multiplies numbers of the format: without --exponents, one line is
    about its normal numbers and one about all numbers, including subnormal ones. With --algorithm, binary32
    numbers are multiplied by an algorithm. A unit that does not take one of them has no line for it. With
    --certificate, each cell has the digest in the name of its certificate; cells with subnormal numbers
    have no certificate.

    Exit code: 0 every cell has a bound, 2 usage error, 3 some have none.

    \b
    Examples:
      tcsmt accuracy table --unit v100 --unit h100 --format f16 --k 16 --k 64 --as latex
      tcsmt accuracy table --unit h100 --algorithm bf16x9 --k 1024 --output table.json --certificate proofs
    """
    result = call.with_progress()
    click.echo(result.text("json" if as_json else form))
    sys.exit(result.exit_code)


@declared("exact.slices", only="TEXT", options="solver timeout confirm certificate")
def slices(call: DeclaredCall, as_json: bool) -> None:
    """Prove for every unit up to which K slices are multiplied exactly.

    A slice of b bits is an integer of at most 2^b in magnitude, as Ozaki's schemes have them. Prints a
    Markdown table. A K in bold is the largest: an input with the next K, which is replayed, has another
    result.

    \b
    Examples:
      tcsmt accuracy slices --only volta/mma.m8n8k4.f32 --output exact.json
      tcsmt accuracy slices --only turing/mma.m8n8k16.s32 --certificate proofs
    """
    result = call.with_progress()
    say_certified(call["options"], result.verdicts)
    show(result, as_json=as_json)


@declared(
    "sweep.sweep", k=("--k", click.IntRange(1, 1 << 20)), size=click.IntRange(1, 1024),
    seeds=("--seeds", click.IntRange(1, 1000)), jobs="1", was={"--arch": "--unit"},
)  # fmt: skip
@click.option("--plots", "folder", type=PATH, help="Folder for SVG plots.")
def sweep(call: DeclaredCall, folder: Path | None, as_json: bool) -> None:
    """Measure the error of products of random matrices as K grows, for each algorithm and unit.

    The error is the distance from the exact product. Prints the measure of Ootomo and Yokota's slides: the
    Frobenius norm of the error over that of the product. The file of --output also has the distribution of
    the error, signs, cancellation, and which unit is closest. Fused units also appear with their last
    rounding (RNE), or with every truncation (all RNE), replaced by rounding to nearest even.

    Exit code: 0 done, 2 usage error, 3 a process died, so a record is missing.

    \b
    Examples:
      tcsmt accuracy sweep --algorithm markidis --unit volta --unit h100 --k 64 --k 1024
      tcsmt accuracy sweep --algorithm single-bf16 --distribution shared --unit rdna4 --unit x86 --unit arm
    """
    new = folder is not None and not folder.exists()
    if folder is not None:
        require_matplotlib()
        make_folder(folder)
    result = call.with_progress()
    if as_json:
        click.echo(json.dumps(result.as_json(), ensure_ascii=False))
    elif text := str(result):
        click.echo(text)
    if folder is not None:
        drawn = result.plots(folder)
        for path in drawn:
            click.echo(f"written: {path}", err=True)
        if not drawn:
            swept = dict.fromkeys(record["algorithm"] for record in result.records)
            what = f"{_listed(swept)} on {_listed(result.settings['units'])}"
            click.echo(f"nothing to plot: no figure shows {what}", err=True)
            if new:
                folder.rmdir()
    sys.exit(result.exit_code)


def _listed(names: Iterable[str], most: int = 3) -> str:
    """Return the first few names, and how many more there are."""
    listed = list(names)
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more


@declared(
    "reduced.reduced", widths="--widths", was={"--arch": "--unit"},
    options="solver timeout confirm reuse jobs scheduler",
)  # fmt: skip
def reduced(call: DeclaredCall, as_json: bool) -> None:
    """Check facts about algorithms on smaller formats: on all inputs where possible, then with solvers.

    A format of p significant bits stands for FP16, one of 2p + 2 stands for FP32, and the unit between them
    is scaled in the same way; p = 11 is the real case.

    Exit code: 0 every fact holds at every width, 1 some input refutes a fact, 2 usage error, 3 no fact is
    refuted, but some fact is open at some width.

    \b
    Examples:
      tcsmt accuracy reduced --output reduced.json
    """
    answer(call.with_progress(), as_json=as_json)


@declared(
    "bound_table.findings", output="--output", only="TEXT",
    options="timeout confirm reuse jobs scheduler certificate",
)  # fmt: skip
def findings(call: DeclaredCall, as_json: bool) -> None:
    """Decide on every unit whether Ootomo-Yokota is ever worse than Markidis, and bound the errors of both.

    Prints the comparisons and the bounds as Markdown tables.

    Exit code: 0 every entry has an answer, 2 usage error, 3 some remained unknown.

    \b
    Examples:
      tcsmt accuracy findings --output accuracy.json --jobs 2
      tcsmt accuracy findings --output accuracy.json --certificate proofs
      tcsmt accuracy findings --output accuracy.json --only "bound of single-bf16: x86/"
    """
    results = call.with_progress()
    show(results, as_json=as_json)
    say_certified(call["options"], results.verdicts)
    sys.exit(results.exit_code)
