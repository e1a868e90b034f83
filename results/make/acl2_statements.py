"""The statements of results/certificates as theorems: results/theorems/acl2.json and acl2.md."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from acl2_table import RESULTS, Table, markdown, trusted

from tcsmt.interface.api.certified_books import certified_in
from tcsmt.prove.certificates.files import record_of
from tcsmt.prove.certificates.parts import statement_files

__all__ = ["TRUSTED", "certified", "text"]

CERTIFICATES = RESULTS / "certificates"
#: What is believed beside ACL2 and its books.
TRUSTED = (
    "that the functions of units, and of algorithms, say what these do; of an algorithm's error, the "
    "definitions of `values.lisp`, too"
)


def certified(table: Table, books: Path, only: str, timeout: float) -> Iterator[str]:
    """Certify what is not in the table yet; what became of each.

    only: a regular expression of titles. timeout: seconds for each book, and for each refutation.
    """
    kinds = kinds_of_titles()
    done = {one["title"]: one for one in table.entries}
    missing = {title for title in kinds if re.search(only, title)}
    missing -= {title for title, one in done.items() if one["certified"]}
    if not missing:
        return
    for result in certified_in(CERTIFICATES, books, titled=missing.__contains__, timeout=timeout):
        done[result.title] = result.as_json()
        table.entries = [done[title] for title in kinds if title in done]
        yield str(result)


def kinds_of_titles() -> dict[str, str]:
    """The kind of each statement, by its title."""
    kinds = {}
    for path in statement_files(CERTIFICATES):
        says = record_of(path)["statement"]
        about = "an algorithm's error" if "about" in says else ""
        kinds[says["title"]] = about or ("no such input" if "goal" in says else "the same word")
    return kinds


def text(table: Table) -> str:
    """The table for people."""
    kinds = kinds_of_titles()
    done: dict[str, dict[str, Any]] = {one["title"]: one for one in table.entries}
    accepted = {title: one for title, one in done.items() if one["certified"]}
    rows: list[tuple[Any, ...]] = [
        ("statement", "seconds", "refutations", "their lines", "domain", "trust tags")
    ]
    for title, one in accepted.items():
        domain = "has an inhabitant" if one["inhabited"] else "all words"
        numbers = one["processor_seconds"], one["refutations"], one["lines"]
        rows.append((title, *numbers, domain, ", ".join(one["trust_tags"])))
    refused = [
        (title, done[title]["flaw"] if title in done else "not tried")
        for title in kinds
        if title not in accepted
    ]
    all_of, certified_of = Counter(kinds.values()), Counter(kinds[title] for title in accepted)
    counts = [("kind", "statements", "certified"), *((k, n, certified_of[k]) for k, n in all_of.items())]
    lines = ["# Statements that ACL2 certifies", "", trusted(table, TRUSTED), ""]
    lines += [*markdown(counts), "", *markdown(rows), ""]
    if refused:
        lines += ["Not certified:", "", *markdown([("statement", "why"), *refused]), ""]
    return "\n".join(lines)
