#!/usr/bin/env python3
"""Have ACL2 certify the statements of results/certificates, and write results/theorems/acl2.json and acl2.md.

    python results/make/acl2_theorems.py BOOKS [--only PATTERN] [--timeout SECONDS] [--make]

Debian: acl2, acl2-books, acl2-books-certs. BOOKS: a folder for the books and their refutations. What ACL2 has
certified already stays in the table, so that a run that was stopped goes on; without the table, everything is
certified. PATTERN: a regular expression of titles. SECONDS: for each book, and for each refutation.
--make: certify no more, but have `make` in BOOKS certify all of it again, without tcsmt, and note its time.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(RESULTS.parent))

from tcsmt.face.api.certified_books import certified_in
from tcsmt.prove.certificates.files import record_of, statement_files
from tcsmt.support.files import make_folder, replace_text
from tcsmt.support.text import counted

CERTIFICATES = RESULTS / "certificates"
TABLE = RESULTS / "theorems" / "acl2.json"


def main() -> None:
    """Certify what is not in the table yet, or all of the books again."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("books", type=Path)
    parser.add_argument("--only", default="", metavar="PATTERN")
    parser.add_argument("--timeout", type=float, default=600.0, metavar="SECONDS")
    parser.add_argument("--make", action="store_true")
    options = parser.parse_args()
    table: dict[str, Any] = {"prover": "ACL2 8.5", "statements": []}
    if TABLE.exists():
        table = json.loads(TABLE.read_text(encoding="utf-8"))
    if options.make:
        table["make"] = made_again(options.books)
        write(table)
        return
    done = {one["title"]: one for one in table["statements"]}
    kinds = kinds_of_titles()
    missing = {title for title in kinds if re.search(options.only, title)}
    missing -= {title for title, one in done.items() if one["certified"] and "processor_seconds" in one}
    for result in certified_in(
        CERTIFICATES, options.books, titled=missing.__contains__, timeout=options.timeout
    ):
        print(result, flush=True)
        done[result.title] = result.as_json()
        table["statements"] = [done[title] for title in kinds if title in done]
        write(table)


def trusted(tags: str, definition: str) -> str:
    """What a table's theorems rest on. tags: ACL2's trust tags; definition: what else must be believed."""
    return (
        f"What is trusted: ACL2 8.5 of Debian; its books, with {tags}, which make two of them faster; and "
        f"{definition}. No solver is trusted, and no code of tcsmt. Seconds are of the processor, ACL2's "
        "alone: the refutations are there."
    )


def kinds_of_titles() -> dict[str, str]:
    """The kind of each statement, by its title."""
    kinds = {}
    for path in statement_files(CERTIFICATES):
        says = record_of(path)["statement"]
        about = "an algorithm's error" if "about" in says else ""
        kinds[says["title"]] = about or ("no such input" if "goal" in says else "the same word")
    return kinds


def made_again(books: Path) -> dict[str, Any]:
    """What `make` says, and the processor time that it takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(["make", "-s", "-C", books], check=False, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(done.stdout[-2000:])
    if done.returncode:
        raise SystemExit("make: a book is not certified")
    return {
        "theorems": done.stdout.count("\nTHEOREM: "),
        "trust_tags": sorted(
            set(re.findall(r":[\w-]+", " ".join(re.findall("TRUST-TAGS: (.*)", done.stdout))))
        ),
        "seconds": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime),
        "megabytes": round(after.ru_maxrss / 1024),
    }


def write(table: dict[str, Any]) -> None:
    """The table as data and for people."""
    make_folder(TABLE.parent)
    replace_text(TABLE, json.dumps(table, indent=1) + "\n")
    kinds = kinds_of_titles()
    done = {one["title"]: one for one in table["statements"]}
    certified = {title: one for title, one in done.items() if one["certified"]}
    header = ("statement", "seconds", "refutations", "their lines", "domain", "trust tags")
    rows = [header, ("---",) * len(header)]
    for title, one in certified.items():
        domain = "has an inhabitant" if one["inhabited"] else "all words"
        tags = ", ".join(one["trust_tags"])
        rows.append(
            (
                title,
                one.get("processor_seconds", "not measured"),
                one["refutations"],
                one["lines"],
                domain,
                tags,
            )
        )
    numbers = ("processor_seconds", "refutations", "lines")
    totals = [sum(one.get(name, 0) for one in certified.values()) for name in numbers]
    rows.append(("**all**", round(totals[0]), *totals[1:], "", ""))
    refused = [
        (title, done[title]["flaw"] if title in done else "not tried")
        for title in kinds
        if title not in certified
    ]
    all_of, certified_of = Counter(kinds.values()), Counter(kinds[title] for title in certified)
    counts = [("kind", "statements", "certified"), ("---", "---", "---")]
    counts += [(kind, count, certified_of[kind]) for kind, count in all_of.items()]
    rests = trusted(
        "the trust tags of the last column",
        "that the functions of units, and of algorithms, say what these do. Of an algorithm's error, the "
        "definitions of `values.lisp` are trusted, too",
    )
    lines = ["# Statements that ACL2 certifies", "", rests, *_again(table), "", *map(_row, counts)]
    lines += ["", *map(_row, rows), ""]
    if refused:
        lines += ["Not certified:", "", *map(_row, [("statement", "why"), ("---", "---"), *refused]), ""]
    replace_text(TABLE.with_suffix(".md"), "\n".join(lines))


def _again(table: dict[str, Any]) -> list[str]:
    again = table.get("make")
    if again is None:
        return []
    tags = " and ".join(f"`{tag.lower()}`" for tag in again["trust_tags"])
    return [
        "",
        f"`make` in the folder of the books certifies {counted(again['theorems'], 'theorem')} from nothing, "
        f"with ACL2 and a shell alone: {again['seconds']} seconds of the processor, "
        f"{again['megabytes']} MB. They rest on {tags}.",
    ]


def _row(cells: tuple[Any, ...]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    main()
