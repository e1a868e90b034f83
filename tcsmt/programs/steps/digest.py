"""The reading of programs as digests: which programs do the same operations on the same values."""

from __future__ import annotations

import hashlib
from typing import Any

from tcsmt.matrix_units.models import Model
from tcsmt.programs.steps.program import ProductRun, UnitProgram


def digest(program: UnitProgram) -> str:
    """Return a digest of what a program does to its inputs, and in which format its result is.

    Additions commute, their NaN results being one word. Notes do not count.
    """
    held: list[str] = []
    told: dict[tuple[object, ...], str] = {}
    for step in program.steps:
        taken = ["" if at is None else held[at] for at in step.takes]
        if step.kind == "note":
            held.append(taken[0])
            continue
        if step.kind == "add" and not step.how["shift"]:
            taken.sort()
        key = step.kind, step.axes, id(step.format), *map(id, step.how.values())  # which the program holds
        if key not in told:
            how = (f"{name}={_text(value)}" for name, value in step.how.items())
            told[key] = "\0".join((step.kind, *how, step.format.name, step.axes))
        held.append(digest_of(told[key], *taken))
    return held[program.output]


def _text(value: Any) -> str:
    """Return what a step says, as a text that no other says."""
    name = getattr(value, "name", None)  # of formats and roundings
    if name is not None:
        return str(name)
    if isinstance(value, tuple):
        return ";".join(map(_text, value))
    if isinstance(value, ProductRun):
        return f"{value.indices.tobytes().hex()} {value.words}"
    return value.digest if isinstance(value, Model) else str(value)


def digest_of(*texts: str) -> str:
    """Return a digest of some texts, in order."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
