"""``tcsmt accuracy slices``."""

from __future__ import annotations

from pathlib import Path

import click

from tcsmt.face.api.asked import SolvingOptions
from tcsmt.face.api.slices import slices as exact_slices
from tcsmt.face.api.terminal import progress_bar
from tcsmt.face.cli import options
from tcsmt.face.cli.certified import say_certified
from tcsmt.face.cli.printing import show


@click.command(cls=options.SolvingCommand)
@click.option("--only", default="", metavar="TEXT", help="Only units with this text in their names.")
@options.as_json
@options.resumed()
@options.solving("solver", "timeout", "confirm", "certificate")
def slices(
    only: str,
    as_json: bool,
    output: Path | None,
    solving: SolvingOptions,
) -> None:
    """Prove for every unit up to which K slices are multiplied exactly.

    A slice of b bits is an integer of at most 2^b in magnitude, as Ozaki's schemes have them. Prints a
    Markdown table. In it, the K in bold are the largest ones: an input with the next K, replayed, has
    another result.

    \b
    Examples:
      tcsmt accuracy slices --only volta/mma.m8n8k4.f32 --output exact.json
      tcsmt accuracy slices --only turing/mma.m8n8k16.s32 --certificate proofs
    """
    with progress_bar() as progress:
        result = exact_slices(only, output=output, options=solving, progress=progress)
    say_certified(solving, result.verdicts)
    show(result, as_json=as_json)
