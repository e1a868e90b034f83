"""What ACL2 has certified of one kind, as data and for people."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tcsmt.support.files import replace_text

__all__ = ["RESULTS", "Table", "markdown", "tags_of", "trusted"]

RESULTS = Path(__file__).resolve().parents[1]


class Table:
    """A file of results/theorems. entries: what ACL2 has certified.

    minutes: of the clock, for all of it: writing the books, CaDiCaL's refutations, and ACL2. make: what
    `make` in the folder of the books says, and what it takes; None where it has not been run.
    """

    def __init__(self, name: str) -> None:
        self.path = RESULTS / "theorems" / f"{name}.json"
        found: dict[str, Any] = {}
        if self.path.exists():
            found = json.loads(self.path.read_text(encoding="utf-8"))
        self.entries: list[dict[str, Any]] = found.get("theorems", [])
        self.minutes: float = found.get("minutes", 0.0)
        self.make: dict[str, Any] | None = found.get("make")

    def total(self, number: str) -> float:
        """The sum of a number of what is certified."""
        return float(sum(one[number] for one in self.entries if one["certified"]))

    def write(self, text: str) -> None:
        """The file, and beside it the text for people."""
        data = {
            "prover": "ACL2 8.5",
            "minutes": round(self.minutes, 2),
            "make": self.make,
            "theorems": self.entries,
        }
        replace_text(self.path, json.dumps(data, indent=1) + "\n")
        replace_text(self.path.with_suffix(".md"), text)


def trusted(table: Table, beside: str) -> str:
    """What a table's theorems rest on. beside: what must be believed beside ACL2."""
    return (
        f"What is trusted: ACL2 8.5 of Debian; its books, with the trust tags {tags_of(table)}, which make "
        f"two of them faster; and {beside}. No solver is trusted, and no code of tcsmt. Seconds are of the "
        "processor, ACL2's alone: the refutations are there."
    )


def tags_of(table: Table) -> str:
    """The trust tags that ACL2 has seen."""
    tags = sorted({tag for one in table.entries if one["certified"] for tag in one["trust_tags"]})
    return " and ".join(f"`{tag}`" for tag in tags)


def markdown(rows: Iterable[Sequence[Any]]) -> list[str]:
    """The lines of a table whose first row is its header."""
    lines = [f"| {' | '.join(map(str, row))} |" for row in rows]
    return [lines[0], "|" + " --- |" * (lines[0].count(" | ") + 1), *lines[1:]]
