"""``tcsmt atlas``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tcsmt.face.api.asked import Domain, SolvingOptions
from tcsmt.face.api.atlas import SHARED, chained_atlas
from tcsmt.face.api.atlas import atlas as compare_all
from tcsmt.face.api.terminal import TcsmtError, progress_bar
from tcsmt.face.cli import options
from tcsmt.face.cli.certified import say_certified
from tcsmt.face.cli.names import ARCHITECTURE
from tcsmt.face.cli.printing import show


@click.command(cls=options.SolvingCommand)
@click.option(
    "--arch",
    "architectures",
    type=ARCHITECTURE,
    multiple=True,
    help="Only units of this architecture (may be repeated).",
)
@click.option(
    "--types", multiple=True, help="Only these formats, D.A.B.C, e.g. f32.f16.f16.f32 (may be repeated)."
)
@click.option("--claims", is_flag=True, help="Include published models that are refuted or disputed.")
@click.option(
    "--chained",
    is_flag=True,
    help="Chain smaller units to the same K, and search the largest simple domain on which units are equal.",
)
@click.option(
    "--k",
    type=int,
    metavar="N",
    help="With --chained: length of the dot product.  [default: the shortest for all units]",
)
@options.finite
@click.option("--output", type=click.Path(path_type=Path), help="Folder for atlas.json, .txt and .html.")
@options.as_json
@options.solving(
    "solver", "timeout", "memory", "confirm", "reuse", "jobs", "scheduler", "store", "certificate",
    confirm=True, jobs=2,
)  # fmt: skip
def atlas(
    architectures: tuple[str, ...],
    types: tuple[str, ...],
    claims: bool,
    chained: bool,
    k: int | None,
    finite: bool,
    output: Path | None,
    as_json: bool,
    solving: SolvingOptions,
) -> None:
    """Compare all units that have the same formats and K, pair by pair; can be stopped and resumed.

    Exit code: 0 every pair has a verdict, 2 usage error, 3 some pair remained unknown.

    \b
    Examples:
      tcsmt atlas --arch volta --arch ampere --output results
      tcsmt atlas --chained --types f32.f16.f16.f32 --no-confirm --timeout 5
    """
    if chained and finite:
        raise TcsmtError("--chained has domains of its own: it cannot be used with --finite")
    if k is not None and not chained:
        raise TcsmtError("--k needs --chained: other comparisons are over the units' own K")
    with progress_bar() as progress:
        report = (
            chained_atlas(
                architectures=architectures, claims=claims, types=types or SHARED, k=k, output=output,
                options=solving, progress=progress,
            )
            if chained
            else compare_all(
                architectures=architectures, claims=claims, types=types, domain=Domain(finite=finite),
                output=output, options=solving, progress=progress,
            )
        )  # fmt: skip
    show(report, as_json=as_json)
    say_certified(solving, report.verdicts)
    sys.exit(report.exit_code)
