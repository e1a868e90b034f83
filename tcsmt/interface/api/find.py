"""Questions of property modules about one unit: ``tcsmt.find``."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from tcsmt.interface.api.units import UnitLike, side_of
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.finding import Finding
from tcsmt.support.floats import ieee_floats
from tcsmt.surveys.properties.discovery import choose_row, load
from tcsmt.surveys.properties.investigation import Investigation, Report

__all__ = ["Report", "find"]


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
    row = choose_row(prop, side_of(unit).units)
    solving = Solving(options)
    ask = Investigation(row, solving)

    def tell(finding: Finding | None = None) -> None:
        about = prop.about
        progress(Report(about.name, about.title, prop.claims, row, tuple(ask.findings), ""))

    tell()
    ask.progress = tell
    return replace(prop.investigate(ask), scripts=solving.scripts)
