"""Text that several rooms print."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["counted", "one_line", "ranges"]

_COUNTED = re.compile(r"([a-z]*)(-?\d+)")


def counted(number: int, one: str, several: str = "") -> str:
    """``1 row`` or ``2 rows``; several: where the plural is not made by an s.

    >>> counted(1, "row"), counted(0, "mismatch", "mismatches")
    ('1 row', '0 mismatches')
    """
    return f"{number} {one if number == 1 else several or one + 's'}"


def one_line(text: str) -> str:
    """The text, with what a terminal would not print as a character of this line written as an escape.

    >>> one_line("a name"), one_line("two\nlines")
    ('a name', 'two\\nlines')
    """
    return text if text.isprintable() else ascii(text)[1:-1]


def ranges(names: Iterable[str]) -> list[str]:
    """The names in order, three or more that count up as one range.

    >>> ranges(["a1", "a2", "a3", "b0", "b1", "c"])
    ['a1..a3', 'b0', 'b1', 'c']
    """
    runs: list[list[str]] = []
    for name in names:
        if runs and _next(runs[-1][-1]) == name:
            runs[-1].append(name)
        else:
            runs.append([name])
    return [text for run in runs for text in ([f"{run[0]}..{run[-1]}"] if len(run) > 2 else run)]


def _next(name: str) -> str | None:
    counted = _COUNTED.fullmatch(name)
    return f"{counted[1]}{int(counted[2]) + 1}" if counted else None
