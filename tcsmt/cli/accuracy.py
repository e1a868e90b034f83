"""``tcsmt accuracy``: one module for each subcommand."""

from __future__ import annotations

import click

from tcsmt.cli.split import split
from tcsmt.cli.sweep import sweep
from tcsmt.cli.variants import variants


@click.group()
def accuracy() -> None:
    """What a matrix unit does to an algorithm."""


accuracy.add_command(split)
accuracy.add_command(sweep)
accuracy.add_command(variants)
