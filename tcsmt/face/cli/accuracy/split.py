"""``tcsmt accuracy split``."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import click

from tcsmt.face.api.asked import SolvingOptions
from tcsmt.face.api.splits import split as analyse
from tcsmt.face.api.terminal import Exit, ignore, no_progress, progress_bar
from tcsmt.face.cli import options
from tcsmt.face.cli.printing import echo_json


@click.command(cls=options.SolvingCommand)
@click.option(
    "--format", "formats", multiple=True, help="Format of the words: f16, tf32, bf16 (may be repeated)."
)
@click.option("--prove", is_flag=True, help="Have a solver prove it for all inputs.")
@click.option(
    "--enumerate",
    "go_through",
    is_flag=True,
    help="Try all 2^32 inputs on two back ends (three minutes each on one core).",
)
@options.resumed()
@options.as_json
@options.solving("solver", "timeout", "confirm", "reuse", "certificate")
def split(
    formats: tuple[str, ...],
    prove: bool,
    go_through: bool,
    output: Path | None,
    as_json: bool,
    solving: SolvingOptions,
) -> None:
    """Show what a split of an FP32 number into narrower words keeps, and where its residual underflows.

    For each split: the error in units in the last place (ulp) of x, the share of exact significands,
    the expected number of mantissa bits kept (of 23), and the probabilities that the last word
    underflows, or is subnormal, by exponent. --prove and --enumerate show, for all inputs, that the error is
    what the closed form says. Only a proof has a certificate; the inputs that were tried have none.

    Exit code: 0 all inputs agree with the closed form, 1 some input does not, 2 usage error, 3 unknown.

    \b
    Examples:
      tcsmt accuracy split --prove
      tcsmt accuracy split --format bf16 --prove --certificate proofs
    """
    if solving.certificate is not None and not prove:
        raise click.UsageError("--certificate needs --prove")
    with progress_bar(lines=False) if go_through else nullcontext(no_progress) as progress:
        analyses = analyse(
            formats, prove=prove, try_all=go_through, output=output, options=solving, progress=progress,
            told=ignore if as_json else click.echo, say=partial(click.echo, err=True),
        )  # fmt: skip
    if as_json:
        echo_json({"splits": [analysis.as_json() for analysis in analyses]})
    codes = {analysis.exit_code for analysis in analyses}
    sys.exit(next((code for code in (Exit.DIFFERS, Exit.UNKNOWN) if code in codes), Exit.ANSWERED))
