#!/usr/bin/env python3
"""Have ACL2 certify everything in results/theorems, from nothing, and write its tables.

    python results/make/theorems.py BOOKS [--only PATTERN] [--timeout SECONDS] [--make]

Certified are the statements of results/certificates (acl2.json, acl2.md), and that units of the catalogue are
the specification (acl2_specification.json and .md); README.md has both, what it took, and what is trusted.
Debian: acl2, acl2-books, acl2-books-certs, cadical. BOOKS: a folder for the books and their refutations. What
is in the tables stays there, so that a run that was stopped goes on; without them, everything is certified.
PATTERN: a regular expression of titles and of names of units. SECONDS: for each book and each refutation.
--make: then have `make` in BOOKS certify all of it again, without tcsmt.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import acl2_statements
import acl2_units
from acl2_table import RESULTS, Table, markdown, tags_of

from tcsmt.support.files import replace_text

PAGE = RESULTS / "theorems" / "README.md"
HEADER = (
    "theorems", "certified", "minutes", "ACL2's seconds", "refutations", "their lines",
    "certified by `make`", "its memory", "trust tags", "what is trusted beside ACL2",
)  # fmt: skip


@dataclass(frozen=True)
class Part:
    """One of the tables. name: of its file. folder: of its books, below the given one."""

    about: str
    name: str
    folder: str
    trusted: str
    certified: Callable[[Table, Path, str, float], Iterator[str]]
    text: Callable[[Table], str]


PARTS = (
    Part(
        "statements of `certificates`",
        "acl2",
        "statements",
        acl2_statements.TRUSTED,
        acl2_statements.certified,
        acl2_statements.text,
    ),
    Part(
        "units that are the specification",
        "acl2_specification",
        "units",
        acl2_units.TRUSTED,
        acl2_units.certified,
        acl2_units.text,
    ),
)


def main() -> None:
    """Certify what is not in the tables yet, and all of it again by make."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("books", type=Path)
    parser.add_argument("--only", default="", metavar="PATTERN")
    parser.add_argument("--timeout", type=float, default=600.0, metavar="SECONDS")
    parser.add_argument("--make", action="store_true")
    options = parser.parse_args()
    for part in PARTS:
        table, books = Table(part.name), options.books / part.folder
        start = time.monotonic()
        for line in part.certified(table, books, options.only, options.timeout):
            print(line, flush=True)
            now = time.monotonic()
            table.minutes, start = table.minutes + (now - start) / 60, now
            table.write(part.text(table))
        if options.make:
            table.make = made_again(books)
            table.write(part.text(table))
    replace_text(PAGE, page())


def made_again(books: Path) -> dict[str, Any]:
    """What `make` says, and what it takes."""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(["make", "-s", "-C", books], stdout=output, stderr=output)
        _, status, used = os.wait4(process.pid, 0)  # what it has started counts
        output.seek(0)
        said = output.read()
    if status:
        raise SystemExit(f"make: a book is not certified\n{said[-4000:]}")
    tags = re.findall(r":[\w-]+", " ".join(re.findall("TRUST-TAGS: (.*)", said)))
    return {
        "theorems": said.count("\nTHEOREM: "),
        "trust_tags": sorted({tag.lower() for tag in tags}),
        "seconds": round(used.ru_utime + used.ru_stime),
        "megabytes": round(used.ru_maxrss / 1024),
    }


def page() -> str:
    """Both tables in one, with what they took and what is trusted."""
    return "\n".join([
        "# Theorems that ACL2 certifies", "",
        "`python results/make/theorems.py BOOKS --make` makes all of this from nothing: it writes the books, "
        "has CaDiCaL refute their clauses, and has ACL2 certify them; then `make` certifies the books again, "
        "and nothing of tcsmt runs. Minutes are of the clock, with CaDiCaL; seconds are of the processor. No "
        "solver is trusted, as ACL2 checks the refutations, and no code of tcsmt.",
        "", *markdown([HEADER, *map(row, PARTS)]), "",
    ])  # fmt: skip


def row(part: Part) -> tuple[Any, ...]:
    """The row of a table."""
    table = Table(part.name)
    totals = map(table.total, ("processor_seconds", "refutations", "lines"))
    again = ("not run", "")
    if table.make:
        again = f"{table.make['theorems']}, {table.make['seconds']:,} s", f"{table.make['megabytes']:,} MB"
    return (
        f"[{part.about}]({part.name}.md)",
        sum(one["certified"] for one in table.entries),
        *(f"{number:,.0f}" for number in (table.minutes, *totals)),
        *again,
        tags_of(table),
        part.trusted,
    )


if __name__ == "__main__":
    main()
