"""The digest of each row's graph: ``python -m tests.support.digests`` writes ``tests/data/digests.txt``.

A digest in that file is changed only together with the bits of a model, which the changelog names.
"""

from __future__ import annotations

from collections.abc import Iterable

from tcsmt.matrix_units.catalogue import Row, rows
from tests.support.paths import DATA

FILE = DATA / "digests.txt"


def digests(chosen: Iterable[Row]) -> dict[str, str]:
    """By the rows' names."""
    return {row.name: row.model.digest for row in chosen}


def kept() -> dict[str, str]:
    """Those of the file."""
    pairs = (line.split(" ", 1) for line in FILE.read_text().splitlines())
    return {name: digest for digest, name in pairs}


if __name__ == "__main__":
    FILE.write_text("".join(f"{digest} {name}\n" for name, digest in digests(rows()).items()))
