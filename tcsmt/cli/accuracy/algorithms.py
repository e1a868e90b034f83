"""``tcsmt accuracy algorithms``."""

from __future__ import annotations

import click

from tcsmt.cli import options
from tcsmt.cli.printing import echo_json
from tcsmt.recipes.named import RECIPES


@click.command()
@options.as_json
def algorithms(as_json: bool) -> None:
    """List the algorithms, what they do and where they come from.

    Wherever a command takes an algorithm, NAME,PARAM=VALUE,... changes one of these, and a TOML file
    (FILE.toml, or FILE.toml,PARAM=VALUE,...) is one of your own:

    \b
    format       format of the words: f16, bf16, tf32, e4m3, e5m2, ...
    split        rounding of the first word: RNE, RTZ, RNA, ...
    residual     rounding of the words after it: RNE, RTZ, RNA, ...
    scale        each residual is multiplied by a further 2^scale: 0, 1, ...
    order        of the products within a sum: written, reversed
    every        products after which the first sum begins a new chain:
                 a number, instruction; 0: one chain
    interleaved  whether each block of K sees all products of a sum before
                 the next block: yes, no
    c            where c enters: unit, first (outside, before the sums),
                 last (outside, after them)
    outside      rounding of the additions outside the unit: RNE, RTZ, ...

    A file has the same keys (interleaved = true or false), words, and a table [[sum]] for each chain with
    its products and every; base = NAME takes the rest from one of these algorithms.

    \b
    Examples:
      tcsmt accuracy algorithms
      tcsmt accuracy algorithms --json
    """
    if as_json:
        found = [
            {"name": recipe.name, "title": recipe.title, "source": recipe.source}
            for recipe in RECIPES.values()
        ]
        echo_json({"algorithms": found})
        return
    for recipe in RECIPES.values():
        click.echo(f"{recipe.name:<20} {recipe.title}\n{'':<20} {recipe.source}")
