"""Operators that C and SystemVerilog write alike, between parentheses."""

from __future__ import annotations

from collections.abc import Sequence

from tcsmt.language.terms import Term

__all__ = ["OPERATORS", "bare", "infix"]

#: Those that mean the same on unsigned words, but for the width of the result.
OPERATORS = {
    "not": "~", "and": "&", "or": "|", "xor": "^", "neg": "-", "add": "+", "sub": "-", "mul": "*",
    "shl": "<<", "lshr": ">>", "eq": "==", "ult": "<",
}  # fmt: skip


def infix(node: Term, parts: Sequence[str]) -> str:
    """Return the node's operator between the expressions of its arguments."""
    return f"({f' {OPERATORS[node.op]} '.join(parts)})"


def bare(expression: str) -> str:
    """Without the parentheses around the whole."""
    level = 0
    for place, letter in enumerate(expression):
        level += (letter == "(") - (letter == ")")
        if not level:
            whole = letter == ")" and place == len(expression) - 1 and expression[0] == "("
            return expression[1:-1] if whole else expression
    return expression
