"""Names and operators that several languages write alike: identifiers, and infix operators in parentheses."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from tcsmt.language.terms import Term

#: Those that mean the same on unsigned words, but for the width of the result.
OPERATORS = {
    "not": "~", "and": "&", "or": "|", "xor": "^", "neg": "-", "add": "+", "sub": "-", "mul": "*",
    "shl": "<<", "lshr": ">>", "eq": "==", "ult": "<",
}  # fmt: skip


def infix(node: Term, parts: Sequence[str]) -> str:
    """Return the node's operator between the expressions of its arguments."""
    return f"({f' {OPERATORS[node.op]} '.join(parts)})"


def bare(expression: str) -> str:
    """Return the expression without the parentheses around the whole."""
    level = 0
    for place, letter in enumerate(expression):
        level += (letter == "(") - (letter == ")")
        if not level:
            around_all = letter == ")" and place == len(expression) - 1 and expression[0] == "("
            return expression[1:-1] if around_all else expression
    return expression


Key = TypeVar("Key", bound=Hashable)


def identifier(text: str) -> str:
    """Return the text with every other character replaced: a name in C, SystemVerilog and SMT-LIB.

    >>> identifier("block 0: aligned c")
    'block_0_aligned_c'
    """
    name = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")
    return name if name[:1].isalpha() else f"n_{name}".rstrip("_")


def distinct(texts: Mapping[Key, str], taken: Iterable[str]) -> dict[Key, str]:
    """Return a name for each key, made from its text; none of those ``taken``, and none twice."""
    used = set(taken)
    names: dict[Key, str] = {}
    for key, text in texts.items():
        base = name = identifier(text)
        number = 2
        while name in used:
            name, number = f"{base}_{number}", number + 1
        used.add(name)
        names[key] = name
    return names
