"""Tables as lines of text: in columns for a terminal, or as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from textwrap import wrap

__all__ = ["columns", "markdown"]


def columns(
    rows: Iterable[Sequence[str]],
    aligned: str = "<",
    *,
    gap: str = "  ",
    least: int = 0,
    within: int | None = None,
) -> list[str]:
    """Rows with their cells below each other; a row may lack its last cells.

    aligned: "<" or ">" for each column, the last one for all that follow. least: width of
    a column. within: the width of the table, for which the cells of all columns but the first are wrapped.

    >>> columns([["unit", "K"], ["volta", "4"]], "<>")
    ['unit   K', 'volta  4']
    """
    cells = list(rows)
    widths = [max(least, *map(len, column)) for column in zip_longest(*cells, fillvalue="")]
    sides = aligned.ljust(len(widths), aligned[-1])
    parts = [[[cell] for cell in row] for row in cells]
    if within is not None:
        while sum(widths) + len(gap) * (len(widths) - 1) > within:
            widths[widths.index(max(widths[1:]), 1)] -= 1
        parts = [
            [[row[0]], *(wrap(cell, max(width, 1)) for cell, width in zip(row[1:], widths[1:], strict=False))]
            for row in cells
        ]
    lines = (texts for row in parts for texts in zip_longest(*row, fillvalue=""))
    return [
        gap.join(f"{t:{side}{width}}" for t, side, width in zip(texts, sides, widths, strict=False)).rstrip()
        for texts in lines
    ]


def markdown(head: Sequence[str], rows: Iterable[Iterable[object]]) -> list[str]:
    """A Markdown table.

    >>> markdown(["unit", "K"], [["volta", 4]])
    ['| unit | K |', '|---|---|', '| volta | 4 |']
    """
    lines = [f"| {' | '.join(map(str, row))} |" for row in (head, *rows)]
    return [lines[0], f"|{'---|' * len(head)}", *lines[1:]]
