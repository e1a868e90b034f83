#!/usr/bin/env python3
"""Have ACL2 certify that units of the catalogue are the specification in results/theorems/acl2.

    python results/make/acl2_specification.py BOOKS [UNIT ...]

Writes results/theorems/acl2_specification.json and .md. Debian: acl2, acl2-books, acl2-books-certs. BOOKS: a
folder for the books and their refutations; `make` there certifies all of it again without tcsmt. UNIT: names
of rows; without any, all units that the specification has parameters for. What is in the table is kept, so
that a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(RESULTS.parent))

from acl2_theorems import trusted

from tcsmt.face.api.specified_units import specified_in
from tcsmt.matrix_units.catalogue import Row, row_named, rows
from tcsmt.outside.exports.acl2.specification import specified_numbers
from tcsmt.support.errors import TcsmtError
from tcsmt.support.files import replace_text

HOME = RESULTS / "theorems"
TABLE = HOME / "acl2_specification.json"
ABOUT = (
    "Of each unit ACL2 has certified this theorem: for all words, those of infinities and NaNs included, the "
    "unit's function gives the word of [the specification](acl2/specification.lisp) with these parameters. "
)


def main() -> None:
    """Certify what is not in the table yet."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("books", type=Path)
    parser.add_argument("units", nargs="*", metavar="UNIT")
    options = parser.parse_args()
    done: dict[str, dict[str, Any]] = {}
    if TABLE.exists():
        done = json.loads(TABLE.read_text(encoding="utf-8"))["units"]
    chosen = [row_named(name) for name in options.units] or list(rows())
    waiting = {
        row.model.digest: row for row in reversed(chosen) if row.model.digest not in done and covered(row)
    }
    for unit in specified_in(list(reversed(waiting.values())), options.books):
        print(unit.unit, unit.flaw or f"certified, {unit.book.seconds:.1f} s", flush=True)
        if not unit.flaw:
            numbers = asdict(unit.numbers)
            done[row_named(unit.unit).model.digest] = {
                "row": unit.unit,
                "numbers": numbers,
            } | unit.book.as_json()
            write(done)


def covered(row: Row) -> bool:
    """Whether the specification has parameters for the row's unit."""
    try:
        specified_numbers(row.model)
    except TcsmtError:
        return False
    return True


def write(done: dict[str, dict[str, Any]]) -> None:
    """The table as data and for people."""
    replace_text(TABLE, json.dumps({"prover": "ACL2 8.5", "units": done}, indent=1) + "\n")
    header = (
        "unit",
        "F",
        "carry bits",
        "zero",
        "fraction bits",
        "rounding",
        "seconds",
        "refutations",
        "lines",
    )
    table: list[Sequence[Any]] = [header, ("---",) * len(header)]
    for one in done.values():
        n = one["numbers"]
        numbers = [n[name] for name in ("fraction_bits", "carry_bits", "zero", "precision")]
        table.append(
            (one["row"], *numbers, n["mode"][1:], one["processor_seconds"], one["refutations"], one["lines"])
        )
    lines = [f"| {' | '.join(map(str, cells))} |" for cells in table]
    rests = trusted("two trust tags (`:fast-cons-memo`, `:aig-vars`)", "that page")
    text = ["# Units that are what the specification says", "", ABOUT + rests, "", *lines, ""]
    replace_text(TABLE.with_suffix(".md"), "\n".join(text))


if __name__ == "__main__":
    main()
