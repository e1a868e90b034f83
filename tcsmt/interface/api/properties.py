"""The properties that a unit can be asked about: those of tcsmt, and those of a user's own folders."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcsmt.support.floats import ieee_floats
from tcsmt.support.results import Result, columns
from tcsmt.support.text import counted
from tcsmt.surveys.properties.discovery import Property
from tcsmt.surveys.properties.discovery import properties as modules


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
