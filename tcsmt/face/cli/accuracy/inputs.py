"""Options that the commands about an algorithm share: unit, length, time for searching."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from tcsmt.face.cli.names import UNIT

arch_option = click.option(
    "--arch", type=UNIT, required=True, help="Architecture, GPU, ARCH/INSTRUCTION or a model file."
)
k_option = click.option(
    "--k",
    type=int,
    default=1,
    show_default=True,
    help="Products in the dot product; not the unit's K by default, because time grows with K.",
)


def search_option(seconds: float) -> Callable[[Any], Any]:
    """``--search``, with its default."""
    return click.option(
        "--search", default=seconds, help="Time for the simulator's search, in seconds.", show_default=True
    )
