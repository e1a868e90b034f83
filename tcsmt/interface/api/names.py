"""Names of architectures, GPUs, processors and instructions: all that there are, and what one stands for."""

from __future__ import annotations

from tcsmt.matrix_units.catalogue import rows, stands_for
from tcsmt.matrix_units.catalogue.naming import ARCHITECTURES, THIS_PROCESSOR, aliases, gpus
from tcsmt.matrix_units.catalogue.processors import PROCESSORS
from tcsmt.support.errors import TcsmtError


def architectures() -> list[str]:
    """Every name of an architecture, a GPU or a processor, its words joined by hyphens."""
    names = (*ARCHITECTURES, *gpus(), *aliases(), *PROCESSORS, THIS_PROCESSOR)
    return [name.replace(" ", "-") for name in names]


def instructions(architecture: str) -> list[str]:
    """Return the instructions of an architecture, the most used first; none of an unknown one."""
    try:
        return [row.instruction for row in rows(architecture)]
    except TcsmtError:
        return []


def meaning(unit: str) -> str:
    """Return what a processor's name stands for, as a sentence; empty for all others, and for unknown
    names.
    """
    try:
        return stands_for(unit.partition("+")[0])
    except TcsmtError:
        return ""
