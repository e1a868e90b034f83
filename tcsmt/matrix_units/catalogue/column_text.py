"""Tables as text, in columns: the first line names a key for each column, each other line is an entry."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from tcsmt.support.errors import TcsmtError

__all__ = ["entries_of"]

#: Columns whose cells are lists, of one element too.
_LISTS = ("inherits", "instructions", "lanes", "measured", "where")


def entries_of(table: str) -> Iterator[dict[str, Any]]:
    """Yield the keys that each line gives; ``-`` stands for nothing, and commas divide a list.

    Raises :class:`.TcsmtError` where a line has not as many cells as there are columns.

    >>> list(entries_of("name   k   lanes  exact\\nfirst  16  3,4    -\\nnext   -   2      true"))
    [{'name': 'first', 'k': 16, 'lanes': [3, 4]}, {'name': 'next', 'lanes': [2], 'exact': True}]
    """
    header, *lines = table.splitlines()
    columns = header.split()
    for line in lines:
        cells = line.split()
        if len(cells) != len(columns):
            raise TcsmtError(
                f"{line!r}: {len(cells)} cells: must be {len(columns)}, one for each of {header}"
            )
        named = zip(columns, cells, strict=True)
        yield {name: _value(cell, name in _LISTS) for name, cell in named if cell != "-"}


@cache
def _value(cell: str, is_list: bool) -> Any:
    """Return what a cell says: a list, a number, true or false, or a text."""
    if is_list or "," in cell:
        return [_value(part, False) for part in cell.split(",")]
    if re.fullmatch(r"-?\d+|0x[0-9a-f]+", cell):
        return int(cell, 0)
    return {"true": True, "false": False}.get(cell, cell)
