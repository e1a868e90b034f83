"""Units of the catalogue that are the specification: results/theorems/acl2_specification.json and .md."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from acl2_table import Table, markdown, trusted

from tcsmt.interface.api.certified_books import specified_in
from tcsmt.interop.exports.acl2.specification import specified_numbers
from tcsmt.matrix_units.catalogue import Row, rows
from tcsmt.support.errors import TcsmtError

__all__ = ["TRUSTED", "certified", "text"]

#: What is believed beside ACL2 and its books.
TRUSTED = "[the specification](acl2/specification.lisp), one page"
ABOUT = (
    "Of each unit ACL2 has certified this theorem: for all words, those of infinities and NaNs included, the "
    "unit's function gives the word of [the specification](acl2/specification.lisp) with these parameters. "
)


def certified(table: Table, books: Path, only: str, timeout: float) -> Iterator[str]:
    """Certify what is not in the table yet; what became of each.

    only: a regular expression of names. timeout: seconds for each book, and for each refutation.
    """
    done = {one["model"] for one in table.entries}
    waiting: dict[str, Row] = {}
    for row in rows():  # the first row of each arithmetic
        if row.model.digest not in done and re.search(only, row.name) and covered(row):
            waiting.setdefault(row.model.digest, row)
    digests = {row.name: digest for digest, row in waiting.items()}
    for unit in specified_in(list(waiting.values()), books, timeout):
        if not unit.flaw:
            own = {"row": unit.unit, "model": digests[unit.unit], "numbers": asdict(unit.numbers)}
            table.entries = [*table.entries, own | unit.book.as_json()]
        yield f"{unit.unit} {unit.flaw or f'certified, {unit.book.seconds:.1f} s'}"


def covered(row: Row) -> bool:
    """Whether the specification has parameters for the row's unit."""
    try:
        specified_numbers(row.model)
    except TcsmtError:
        return False
    return True


def text(table: Table) -> str:
    """The table for people."""
    names = ("fraction_bits", "carry_bits", "zero", "precision")
    rows: list[tuple[Any, ...]] = [
        ("unit", "F", "carry bits", "zero", "fraction bits", "rounding", "seconds", "refutations", "lines")
    ]
    for one in table.entries:
        n = one["numbers"]
        numbers = one["processor_seconds"], one["refutations"], one["lines"]
        rows.append((one["row"], *(n[name] for name in names), n["mode"][1:], *numbers))
    about = ABOUT + trusted(table, TRUSTED)
    return "\n".join(["# Units that are what the specification says", "", about, "", *markdown(rows), ""])
