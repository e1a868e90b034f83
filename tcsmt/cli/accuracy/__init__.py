"""``tcsmt accuracy``: one module for each command, imported when it is used."""

from __future__ import annotations

import click

from tcsmt.cli.lazy import Lazy

__all__ = ["accuracy"]

_COMMANDS = (
    "algorithms", "bound", "compare", "explain", "find", "findings", "reduced", "split", "sweep", "variants",
)  # fmt: skip


@click.group(cls=Lazy, modules={name: f"{__name__}.{name}" for name in _COMMANDS})
def accuracy() -> None:
    """How accurate algorithms are that multiply binary32 matrices on a matrix unit."""
