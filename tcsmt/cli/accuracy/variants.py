"""``tcsmt accuracy variants``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from tcsmt import __version__
from tcsmt.cli import options
from tcsmt.cli.accuracy.earlier import earlier
from tcsmt.papers.variants import LENGTHS, conclusions, plot, points
from tcsmt.support.errors import TcsmtError
from tcsmt.support.files import make_folder, replace_text


@click.command()
@click.option(
    "--largest",
    type=click.IntRange(min=LENGTHS[0]),
    default=LENGTHS[-1],
    show_default=True,
    help="Largest length of the dot products.",
)
@options.as_json
@options.results
def variants(largest: int, as_json: bool, results: Path) -> None:
    """Khattak and Mikaitis's open question: V100 and B200, one parameter at a time.

    Multi-word products of FP16 words (V-B, Fig. 7) on both models and on every variant by one
    parameter, with random signs as published and with positive entries. Writes
    RESULTS/variants.json and .svg; goes on where it stopped.
    """
    make_folder(results)
    path = results / "variants.json"
    before = earlier(path, _kept) or []
    beyond = [point for point in before if point["n"] > largest]
    found: list[dict[str, Any]] = []
    for point in points(largest, before):
        found.append(point)
        if point not in before:
            _write(path, [*found, *beyond])
        if not as_json:
            click.echo(f"\nn = {point['n']}, {point['words']} words, {point['signs']}")
            click.echo(f"  {'':<30}{'error':>10}   too small in magnitude")
            for label, error in point["error"].items():
                click.echo(f"  {label:<30}{error:>10.2e}{point['toward_zero'][label]:>10.0%}")
    _write(path, [*found, *beyond])
    concluded = list(conclusions(found))
    if as_json:
        click.echo(json.dumps({"points": found, "conclusions": concluded}, indent=1))
    else:
        click.echo("\nwhat one change does to the error (2 words)")
        click.echo(f"  {'':<36}{'random signs':>14}{'all positive':>14}")
        for one in concluded:
            name = f"{one['unit']} -> {one['change']}"
            times = f"{one['error_times']:>12.3g} x{one['positive_error_times']:>12.3g} x"
            click.echo(f"  {name:<36}{times}")
    try:
        plot(results / "variants.svg", [*found, *beyond])
    except TcsmtError as error:
        click.echo(f"no plot: {error}", err=True)


def _write(path: Path, found: list[dict[str, Any]]) -> None:
    data = {
        "tcsmt": __version__,
        "question": "Khattak and Mikaitis 2025, V-B, Fig. 7: why is the V100 more accurate than the B200?",
        "conclusions": list(conclusions(found)),
        "points": found,
    }
    replace_text(path, json.dumps(data, indent=1) + "\n")


def _kept(data: Any) -> list[dict[str, Any]]:
    """The points of this version's file."""
    points: list[dict[str, Any]] = data["points"]
    return points if data["tcsmt"] == __version__ else []
