"""Results, as people and programs read them: text, JSON and HTML; and tables as lines of text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from itertools import zip_longest
from textwrap import wrap
from typing import Any

from tcsmt.support.errors import Exit
from tcsmt.support.floats import guard_members
from tcsmt.support.version import __version__


def columns(
    rows: Iterable[Sequence[str]],
    aligned: str = "<",
    *,
    gap: str = "  ",
    least: int = 0,
    within: int | None = None,
) -> list[str]:
    """Return rows with their cells below each other; a row may lack its last cells.

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
    """Return a Markdown table.

    >>> markdown(["unit", "K"], [["volta", 4]])
    ['| unit | K |', '|---|---|', '| volta | 4 |']
    """
    lines = [f"| {' | '.join(map(str, row))} |" for row in (head, *rows)]
    return [lines[0], f"|{'---|' * len(head)}", *lines[1:]]


class Result:
    """A result: text by ``str``, plain data by :meth:`as_json`, HTML in notebooks.

    A kind of result has a title (what ``repr`` says of it), lines of text, and facts, its plain data. What is
    computed when it is read is computed as in public calls, in the default floating-point state.
    """

    def __init_subclass__(cls) -> None:
        guard_members(cls)

    @property
    def _title(self) -> str:
        raise NotImplementedError

    def _lines(self) -> Iterable[str]:
        raise NotImplementedError

    def _facts(self) -> dict[str, Any]:
        raise NotImplementedError

    @property
    def exit_code(self) -> Exit:
        """Return what the command that prints it exits with: 0 answered, 1 an input differs, 3 unknown."""
        return Exit.ANSWERED

    def as_json(self) -> dict[str, Any]:
        """Return the result as plain data: what the command prints with ``--json``."""
        return {"tcsmt": __version__, **self._facts()}

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._title}>"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


guard_members(Result)


def json_text(data: dict[str, Any]) -> str:
    """Return plain data as the text of a JSON document, which says which version wrote it."""
    return json.dumps({"tcsmt": __version__, **data}, indent=1, ensure_ascii=False)
