"""``tcsmt accuracy algorithms``."""

from __future__ import annotations

import click

from tcsmt.recipes.named import RECIPES


@click.command()
def algorithms() -> None:
    """The algorithms, what they do and where they come from."""
    for recipe in RECIPES.values():
        click.echo(f"{recipe.name:<20} {recipe.title}\n{'':<20} {recipe.source}")
