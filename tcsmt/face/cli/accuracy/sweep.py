"""``tcsmt accuracy sweep``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from tcsmt.face.api.asked import SolvingOptions
from tcsmt.face.api.sweep import DISTRIBUTIONS, LENGTHS
from tcsmt.face.api.sweep import sweep as sweep_of
from tcsmt.face.api.terminal import make_folder, progress_bar, require_matplotlib
from tcsmt.face.cli import options
from tcsmt.face.cli.names import ALGORITHM, UNIT


@click.command(cls=options.SolvingCommand)
@click.option(
    "--algorithm",
    "algorithms",
    type=ALGORITHM,
    multiple=True,
    help="An algorithm, as in `accuracy compare` (may be repeated).  [default: all]",
)
@click.option(
    "--arch",
    "units",
    type=UNIT,
    multiple=True,
    help="ARCH or ARCH/INSTRUCTION (may be repeated).  [default: all]",
)
@click.option(
    "--distribution",
    "distributions",
    multiple=True,
    help=f"{', '.join(DISTRIBUTIONS)} (may be repeated).  [default: all]",
)
@click.option(
    "--k",
    "lengths",
    type=click.IntRange(1, 1 << 20),
    multiple=True,
    help=f"Length of the dot products (may be repeated).  [default: {', '.join(map(str, LENGTHS))}]",
)
@click.option(
    "--size",
    type=click.IntRange(1, 1024),
    default=16,
    show_default=True,
    help="Rows and columns of the result.",
)
@click.option(
    "--seeds",
    type=click.IntRange(1, 1000),
    default=2,
    show_default=True,
    help="Number of matrix products, each with its own seed.",
)
@options.resumed()
@click.option("--plots", "folder", type=click.Path(path_type=Path), help="Folder for SVG plots.")
@options.as_json
@options.solving("jobs", "scheduler")
def sweep(
    algorithms: tuple[str, ...],
    units: tuple[str, ...],
    distributions: tuple[str, ...],
    lengths: tuple[int, ...],
    size: int,
    seeds: int,
    output: Path | None,
    folder: Path | None,
    as_json: bool,
    solving: SolvingOptions,
) -> None:
    """Measure the error of products of random matrices as K grows, for each algorithm and unit.

    The error is the distance from the exact product. Prints the measure of Ootomo and Yokota's slides: the
    Frobenius norm of the error over that of the product. The file of --output also has the distribution of
    the error, signs, cancellation, and which unit is closest. Fused units also appear with their last
    rounding (RNE), or with every truncation (all RNE), replaced by rounding to nearest even.

    Exit code: 0 done, 2 usage error, 3 a process died, so a record is missing.

    \b
    Examples:
      tcsmt accuracy sweep --algorithm markidis --arch volta --arch h100 --k 64 --k 1024
      tcsmt accuracy sweep --algorithm single-bf16 --distribution shared --arch rdna4 --arch x86 --arch arm
    """
    new = folder is not None and not folder.exists()
    if folder is not None:
        require_matplotlib()
        make_folder(folder)
    with progress_bar() as progress:
        result = sweep_of(
            algorithms, units, distributions=distributions, lengths=lengths or LENGTHS, size=size,
            seeds=seeds, jobs=solving.jobs, scheduler=solving.scheduler, output=output, progress=progress,
        )  # fmt: skip
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
