"""``tcsmt compare``."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import click

from tcsmt.face.api.asked import Domain, SolvingOptions
from tcsmt.face.api.compare import compare as compare_units
from tcsmt.face.api.designs import DesignFiles, rows_compared
from tcsmt.face.api.terminal import no_progress, progress_bar
from tcsmt.face.cli import options
from tcsmt.face.cli.design_options import of_design
from tcsmt.face.cli.domain import domain_of_models
from tcsmt.face.cli.dumped import say_dumped
from tcsmt.face.cli.linked import link_options, links_wanted
from tcsmt.face.cli.names import UNIT
from tcsmt.face.cli.printing import show


@click.command(cls=options.SolvingCommand)
@click.argument("a", type=UNIT)
@click.argument("b", type=UNIT)
@domain_of_models
@click.option(
    "--k",
    type=int,
    metavar="N",
    help="Length of the dot product; units are chained as in a kernel.  [default: fits both]",
)
@click.option("--lanes", type=int, metavar="N", help="Only the first N lanes; the others are zero.")
@of_design
@click.option(
    "--exhaustive",
    is_flag=True,
    help="Run every finite input instead of asking solvers; those that the graphs do not tell apart once.",
)
@click.option(
    "--checkpoint",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Keep how far --exhaustive has come; the same command continues there.",
)
@click.option("--explain", is_flag=True, help="Draw both units on the witness.")
@link_options
@options.as_json
@options.solving(
    "solver",
    "timeout",
    "steps",
    "memory",
    "confirm",
    "reuse",
    "jobs",
    "certificate",
    "dump_smt",
    confirm=True,
)
def compare(
    a: str,
    b: str,
    domain: Domain,
    k: int | None,
    lanes: int | None,
    design: DesignFiles,
    exhaustive: bool,
    checkpoint: Path | None,
    explain: bool,
    link: bool,
    page: str | None,
    as_json: bool,
    solving: SolvingOptions,
) -> None:
    """Decide whether A and B compute the same function: a proof, or an input on which they differ.

    A and B are units (ARCH, GPU, ARCH/INSTRUCTION or a model file). The one with the smaller K
    is chained, as a kernel would do it. If one takes wider formats, both get only values of
    the narrower formats.

    One of them may be a hardware design, a file of SystemVerilog (.sv, .v) or BTOR2 (.btor2), or a function
    in C (.c), which then has the formats and the K of the other. The options from --top to --define are about
    it.

    \b
    Examples:
      tcsmt compare volta ampere
      tcsmt compare a100 h100 --finite --explain --link
      tcsmt compare volta fdp.sv --top fdp --port a=in_a --const mode=0 --cycles 3
      tcsmt compare volta emulator.c --function dot
      tcsmt compare mine.toml fma.sv --exhaustive --no-confirm --checkpoint run.json

    Exit code: 0 equal (proved), 1 different, 2 usage error, 3 unknown.
    """
    with progress_bar(lines=False) as progress:
        left, right = rows_compared(a, b, replace(design, query=solving.timeout, progress=progress))
    with progress_bar(lines=exhaustive) if exhaustive else nullcontext(no_progress) as progress:
        comparison = compare_units(
            left, right, domain, k=k, lanes=lanes, exhaustive=exhaustive, checkpoint=checkpoint,
            options=solving, progress=progress,
        )  # fmt: skip
    say_dumped(solving, comparison.scripts)
    show(comparison, as_json=as_json, links=links_wanted(comparison, link, page))
    picture = comparison.picture() if explain and not as_json else None
    if picture is not None:
        click.echo(f"\n{picture}")
    sys.exit(comparison.exit_code)
