"""The catalogue: which model describes which instruction of which architecture, and why we think so.

Rows are data. Every parameter that differs between architectures is in this package's tables;
nothing else in tcsmt knows an architecture's name.
"""

from __future__ import annotations

import re
from functools import cache

from tcsmt.catalogue import amd, nvidia
from tcsmt.catalogue.gpus import ALIASES, ARCHITECTURES, GPUS
from tcsmt.catalogue.row import Row
from tcsmt.support.errors import TcsmtError, UnknownName, choose

__all__ = [
    "ARCHITECTURES",
    "GPUS",
    "Row",
    "architecture_named",
    "instruction_named",
    "row_named",
    "rows",
    "rows_of",
]


@cache
def _all_rows() -> dict[str, Row]:
    table: dict[str, Row] = {}
    for vendor in (nvidia, amd):
        table |= {row.name: row for row in vendor.units()}
        table |= {row.name: row for row in list(vendor.claims(table))}
    order = {name: place for place, name in enumerate(ARCHITECTURES)}
    return dict(sorted(table.items(), key=lambda item: order[item[1].architecture]))


def rows() -> list[Row]:
    """Every row, by architecture."""
    return list(_all_rows().values())


def architecture_named(name: str) -> str:
    """The architecture of that name, alias (``sm_90``) or GPU (``h200``)."""
    given = name.lower().replace("_", "-") if name.lower() not in ALIASES else name.lower()
    known = {**{a: a for a in ARCHITECTURES}, **ALIASES, **GPUS}
    known |= {alias.replace(" ", "-"): target for alias, target in known.items()}
    known |= {alias.replace(" ", ""): target for alias, target in known.items()}
    if given in known:
        return known[given]
    raise UnknownName("architecture", name, [*ARCHITECTURES, *GPUS], "tcsmt models")


def rows_of(architecture: str, *, claims: bool = False) -> list[Row]:
    """An architecture's rows, its most used instruction first."""
    name = architecture_named(architecture)
    return [r for r in rows() if r.architecture == name and (claims or "@" not in r.instruction)]


def instruction_named(architecture: str, instruction: str) -> Row:
    """The row of an instruction, given whole or by a part that only one row has."""
    name = architecture_named(architecture)
    table = {r.instruction: r for r in rows_of(name, claims=True)}
    given = re.sub(r"\bm(64|128)n\d+k", lambda m: f"m{m[1]}nNk", instruction)
    if given.startswith("tcgen05"):
        given = re.sub(r"m\d+nNk", "mMnNk", given)
    if given in table:
        return table[given]
    parts = [r for r in table.values() if given.lower() in r.instruction.lower()]
    plain = [r for r in parts if "@" in given or "@" not in r.instruction]
    if len(plain) == 1:
        return plain[0]
    if plain:
        names = ", ".join(r.instruction for r in plain[:8])
        raise TcsmtError(f"instruction {instruction!r} of {name} is one of several: {names}")
    raise UnknownName(f"instruction of {name}", instruction, table, f"tcsmt models --arch {name}")


def rows_named(name: str) -> list[Row]:
    """The rows of ``ARCH``, or the one of ``ARCH/INSTRUCTION`` (whole, or a unique part)."""
    architecture, slash, instruction = name.partition("/")
    if slash:
        return [instruction_named(architecture, instruction)]
    return rows_of(choose("architecture", architecture_named(architecture), ARCHITECTURES))


def row_named(name: str) -> Row:
    """The row ``ARCH`` (its first instruction) or ``ARCH/INSTRUCTION``."""
    return rows_named(name)[0]
