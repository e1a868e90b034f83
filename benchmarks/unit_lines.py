"""Figures of one unit after the other, printed and written."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from machine import machine

from tcsmt.matrix_units.catalogue.digests import models_named

__all__ = ["measure"]


def measure(
    about: str | None,
    units: Sequence[str],
    line: Callable[[str], dict[str, Any]],
    shown: Callable[[dict[str, Any]], str],
) -> None:
    """Measure the units that ``--only`` leaves, print a line of each, and write all to ``--output``.

    about: a program's description. line: the figures of a unit; shown: their text.
    """
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", default="", help="part of the names")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    lines: list[dict[str, Any]] = []
    for name in units:
        if options.only not in name:
            continue
        figures = line(name).items()
        lines.append({key: round(value, 1) if isinstance(value, float) else value for key, value in figures})
        print(shown(lines[-1]), flush=True)
        if options.output:
            found = {"machine": machine(), "units": lines, "models": models_named(lines)}
            options.output.write_text(json.dumps(found, indent=1) + "\n")
