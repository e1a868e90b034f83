"""Terms on Python integers: exact, any width, one assignment at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tcsmt.terms import FOLD, Term, operands_first

__all__ = ["evaluate"]


def evaluate(roots: Sequence[Term], values: Mapping[str, int]) -> list[int]:
    """The value of each root where the variable ``name`` is ``values[name]`` (unsigned words)."""
    known: dict[Term, int] = {}
    for node in operands_first(roots):
        if node.op == "const":
            known[node] = node.data  # type: ignore[assignment]
            continue
        if node.op == "var":
            value = values[str(node.data)]
        else:
            widths = [arg.width for arg in node.args]
            value = FOLD[node.op](node.width, node.data, widths, [known[a] for a in node.args])
        known[node] = value & ((1 << node.width) - 1)
    return [known[root] for root in roots]
