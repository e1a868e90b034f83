"""``tcsmt accuracy variants``."""

from __future__ import annotations

from pathlib import Path

import click

from tcsmt.face.api.terminal import TcsmtError, ignore
from tcsmt.face.api.variants import LENGTHS
from tcsmt.face.api.variants import variants as parameter_variants
from tcsmt.face.cli import options
from tcsmt.face.cli.printing import show


@click.command()
@click.option(
    "--largest",
    type=click.IntRange(min=LENGTHS[0]),
    default=LENGTHS[-1],
    show_default=True,
    help="Largest length of the dot products.",
)
@options.as_json
@options.resumed()
def variants(largest: int, as_json: bool, output: Path | None) -> None:
    """Change one parameter of the V100 or the B200 at a time: Khattak and Mikaitis's open question.

    Computes multi-word products of FP16 words (V-B, Fig. 7) on both models and on every variant that
    differs in one parameter, with random signs (as published) and with positive entries. With --output,
    a plot is written beside the file (.svg).

    \b
    Examples:
      tcsmt accuracy variants --output variants.json
    """
    result = parameter_variants(largest, output=output, told=ignore if as_json else click.echo)
    if as_json:
        show(result, as_json=True)
    if output is None:
        return
    try:
        result.plot(output.with_suffix(".svg"))
    except TcsmtError as error:
        click.echo(f"no plot: {error}", err=True)
