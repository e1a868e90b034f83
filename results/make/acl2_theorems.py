#!/usr/bin/env python3
"""Have ACL2 certify the statements of results/certificates, and write results/theorems/acl2.json and acl2.md.

    python results/make/acl2_theorems.py BOOKS [--only PATTERN]

Debian: acl2, acl2-books, acl2-books-certs. BOOKS: a folder for the books and their refutations; `make` there
certifies all of it again without tcsmt. What is in the table already is kept, so that a run that was stopped
goes on; without the table, everything is certified. PATTERN: a regular expression of titles.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(RESULTS.parent))

from tcsmt.face.api.certified_books import certified_in
from tcsmt.prove.certificates.files import record_of, statement_files
from tcsmt.support.files import make_folder, replace_text

TABLE = RESULTS / "theorems" / "acl2.json"
TRUSTED = (
    "What is trusted: ACL2 8.5 of Debian; its books, with the trust tags of the last column, which make two "
    "of them faster; and that the functions of a unit's book say what the unit does. "
    "No solver is trusted, and no code of tcsmt."
)


def main() -> None:
    """Certify what is not in the table yet."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("books", type=Path)
    parser.add_argument("--only", default="", metavar="PATTERN")
    options = parser.parse_args()
    done: dict[str, dict[str, Any]] = {}
    if TABLE.exists():
        done = {one["title"]: one for one in json.loads(TABLE.read_text(encoding="utf-8"))["statements"]}
    certificates = RESULTS / "certificates"
    titles = [record_of(path)["statement"]["title"] for path in statement_files(certificates)]
    missing = {title for title in titles if re.search(options.only, title) and title not in done}
    for result in certified_in(certificates, options.books, titled=missing.__contains__):
        print(result, flush=True)
        done[result.title] = result.as_json()
        write([done[title] for title in titles if title in done])


def write(statements: list[dict[str, Any]]) -> None:
    """The table as data and for people."""
    make_folder(TABLE.parent)
    replace_text(TABLE, json.dumps({"prover": "ACL2 8.5", "statements": statements}, indent=1) + "\n")
    header = ("statement", "seconds", "refutations", "their lines", "domain", "trust tags")
    rows = [header, ("---",) * len(header)]
    for one in statements:
        if one["certified"]:
            domain = "has a witness" if one["inhabited"] else "no domain"
            tags = ", ".join(one["trust_tags"])
            rows.append((one["title"], one["seconds"], one["refutations"], one["lines"], domain, tags))
    refused = [("statement", "why"), ("---", "---")]
    refused += [(one["title"], one["flaw"]) for one in statements if not one["certified"]]
    lines = ["# Statements that ACL2 certifies", "", TRUSTED, "", *map(_row, rows)]
    lines += ["", "Not certified:", "", *map(_row, refused), ""]
    replace_text(TABLE.with_suffix(".md"), "\n".join(lines))


def _row(cells: tuple[Any, ...]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    main()
