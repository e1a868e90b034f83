"""``tcsmt accuracy explain``."""

from __future__ import annotations

from pathlib import Path

import click

from tcsmt.face.api.error_steps import explain as explain_algorithms
from tcsmt.face.cli.accuracy.inputs import arch_option
from tcsmt.face.cli.names import ALGORITHM
from tcsmt.face.cli.picture import picture_options, show_picture
from tcsmt.face.cli.rounded import vector_option


@click.command()
@click.argument("one", type=ALGORITHM)
@click.argument("two", type=ALGORITHM, required=False)
@arch_option
@click.option(
    "--k", type=click.IntRange(1, 64), help="Products in the dot product.  [default: the unit's own K]"
)
@click.option("--vector", required=True, help='"a0=1.5 b0=0x3fc00000 c=-0x1p-4"; inputs not named are 0.')
@picture_options
def explain(
    one: str,
    two: str | None,
    arch: str,
    k: int | None,
    vector: str,
    form: str | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Draw algorithm ONE on a dot product, step by step; with TWO, draw both and where they first differ.

    \b
    Examples:
      tcsmt accuracy explain markidis --arch volta --vector "a0=0.1 b0=0.3"
    """
    with vector_option() as rounded:
        explanation = explain_algorithms(one, arch, vector, two, k=k, rounded=rounded)
    show_picture(explanation, form, output, as_json=as_json)
