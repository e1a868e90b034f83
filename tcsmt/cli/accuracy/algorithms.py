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

    \b
    Examples:
      tcsmt accuracy algorithms
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
