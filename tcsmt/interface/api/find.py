"""Questions of property modules about one unit, those of tcsmt and of a user's own folders.

``tcsmt.find``, and the list of what can be asked: ``tcsmt.properties``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tcsmt.interface.api.units import UnitLike, side_of
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.finding import Finding
from tcsmt.support.floats import ieee_floats
from tcsmt.support.results import Result, columns
from tcsmt.support.text import counted
from tcsmt.surveys.properties.discovery import Property, choose_row, load
from tcsmt.surveys.properties.discovery import properties as modules
from tcsmt.surveys.properties.investigation import Investigation, Report


@ieee_floats
def find(
    property: str,  # noqa: A002 - what it is called everywhere
    unit: UnitLike,
    *,
    folders: Sequence[str | os.PathLike[str]] = (),
    options: SolvingOptions = SolvingOptions(),
    progress: Callable[[Report], None] = lambda report: None,
) -> Report:
    """Ask a property of a unit; of an architecture's units, the first one to which it applies.

    Args:
        property: The property; see `tcsmt properties`.
        unit: The unit, or an architecture.
        folders: A folder with property modules of your own.
        options: Of solvers; a proof is not confirmed where they leave it open.
        progress: Called with the report so far, at first without findings.

    Returns the report: ``conclusion``, ``findings``, ``unknown``, text by ``str``.
    Raises :class:`tcsmt.TcsmtError` where the property does not exist, or does not apply.

    >>> import tcsmt
    >>> tcsmt.find("carry-bits", "volta").conclusion[:40]
    '3 carry bits are enough and 2 are not (4'
    """
    prop = load(property, [Path(folder) for folder in folders])
    row = choose_row(prop, side_of(unit).programs)
    solving = Solving(options)
    ask = Investigation(row, solving)

    def tell(finding: Finding | None = None) -> None:
        about = prop.about
        progress(Report(about.name, about.title, prop.claims, row, tuple(ask.findings), ""))

    tell()
    ask.progress = tell
    return replace(prop.investigate(ask), scripts=solving.scripts)


@dataclass(frozen=True, repr=False)
class PropertyList(Result):
    """Properties that can be asked, each with its name, title and file."""

    properties: tuple[Property, ...]

    def _facts(self) -> dict[str, Any]:
        listed = [{"name": p.name, "title": p.title, "file": str(p.path)} for p in self.properties]
        return {"properties": listed}

    def _lines(self) -> list[str]:
        return columns([(p.name, p.title) for p in self.properties])

    @property
    def _title(self) -> str:
        return f"of {counted(len(self.properties), 'property', 'properties')}"


def property_list(folders: Sequence[str | os.PathLike[str]] = ()) -> PropertyList:
    """Return every property that can be asked.

    Args:
        folders: A folder with property modules of your own.
    """
    return PropertyList(tuple(modules([Path(folder) for folder in folders]).values()))


@ieee_floats
def properties(folders: Sequence[str | os.PathLike[str]] = ()) -> dict[str, str]:
    """Every property that can be asked, by name, with its title; ``folders``: with modules of your own.

    >>> import tcsmt
    >>> tcsmt.properties()["carry-bits"][:43]
    'How many carry bits the accumulator needs: '
    """
    return {entry.name: entry.title for entry in property_list(folders).properties}
