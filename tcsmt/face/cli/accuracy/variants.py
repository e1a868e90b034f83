"""``tcsmt accuracy variants``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from tcsmt.face.api.terminal import TcsmtError, __version__
from tcsmt.face.cli import options
from tcsmt.face.cli.printing import echo_json
from tcsmt.study.papers.variants import LENGTHS, conclusions, content, one_at_a_time, plot, points
from tcsmt.support.checkpoint import Checkpoint, Layout, Record


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
    found: list[dict[str, Any]] = []
    with Checkpoint(output, _LAYOUT, "--output") as kept:
        asked = content()
        before = [point for point in kept.records.values() if point.get("asked") == asked]
        for point in points(largest, before):
            found.append(point)
            if point not in before:
                kept.keep(_key(point), {**point, "asked": asked})
            if as_json:
                continue
            click.echo(f"\nn = {point['n']}, {point['words']} words, {point['signs']}")
            click.echo(f"  {'':<30}{'error':>10}   too small in magnitude")
            for label, error in point["error"].items():
                click.echo(f"  {label:<30}{error:>10.2e}{point['toward_zero'][label]:>10.0%}")
        known = [*kept.records.values()]
    concluded = list(conclusions(found))
    if as_json:
        echo_json({"points": found, "conclusions": concluded})
    else:
        click.echo("\nwhat one change does to the error (2 words)")
        click.echo(f"  {'':<36}{'random signs':>14}{'all positive':>14}")
        for one in concluded:
            name = f"{one['unit']} -> {one['change']}"
            times = f"{one['error_times']:>12.3g} x{one['positive_error_times']:>12.3g} x"
            click.echo(f"  {name:<36}{times}")
    if output is None:
        return
    try:
        plot(output.with_suffix(".svg"), known)
    except TcsmtError as error:
        click.echo(f"no plot: {error}", err=True)


def _key(point: Record) -> str:
    return f"n = {point['n']}, {point['signs']}, {point['words']} words"


def _head(records: Mapping[str, Record]) -> Record:
    return {
        "tcsmt": __version__,
        "question": "Khattak and Mikaitis 2025, V-B, Fig. 7: why is the V100 more accurate than the B200?",
        "models": {label: model.digest for label, model in one_at_a_time().items()},
        "conclusions": list(conclusions([*records.values()])),
    }


_LAYOUT = Layout("points", _key, _head)
