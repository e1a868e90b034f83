"""Text that several rooms print."""

from __future__ import annotations

import re
from collections.abc import Iterable

#: Nouns that end so have a plural in -es; those in -is lose that.
_HISSES = ("s", "x", "ch", "sh")
_COUNTED = re.compile(r"([a-z]*|\w+\[)(-?\d+)(\]?)")


def agreeing(number: int, one: str, several: str = "") -> str:
    """Return words that agree with a number; several: for all but 1, if not the noun's plural.

    >>> agreeing(2, "row"), agreeing(0, "hypothesis"), agreeing(1, "tells", "tell")
    ('rows', 'hypotheses', 'tells')
    """
    if number == 1 or several:
        return one if number == 1 else several
    return f"{one.removesuffix('is')}es" if one.endswith(_HISSES) else f"{one}s"


def counted(number: int, one: str, several: str = "") -> str:
    """Return a number, and the words that agree with it.

    >>> counted(1, "row"), counted(0, "mismatch"), counted(2, "unit differs", "units differ")
    ('1 row', '0 mismatches', '2 units differ')
    """
    return f"{number} {agreeing(number, one, several)}"


def one_line(text: str) -> str:
    """Return the text, with what a terminal would not print as a character of this line written as an escape.

    >>> one_line("a name"), one_line("two\nlines")
    ('a name', 'two\\nlines')
    """
    return text if text.isprintable() else ascii(text)[1:-1]


def quotation(text: str) -> str:
    """Return words of somebody else, in quotation marks that nothing in them ends.

    >>> print(quotation('so "called"'))
    "so 'called'"
    """
    return '"' + one_line(text).replace('"', "'") + '"'


def ranges(names: Iterable[str]) -> list[str]:
    """Return the names in order, three or more that count up as one range.

    >>> ranges(["a1", "a2", "a3", "b0", "b1", "c", "s[8]", "s[9]", "s[10]"])
    ['a1..a3', 'b0', 'b1', 'c', 's[8]..s[10]']
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
    return f"{counted[1]}{int(counted[2]) + 1}{counted[3]}" if counted else None
