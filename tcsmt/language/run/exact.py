"""Terms on Python integers: exact, any width, one assignment at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from tcsmt.language.terms import FOLD, Fold, Term, operands_first


class _Step(NamedTuple):
    """A node's operation, the width and data that it takes, its arguments' widths and places."""

    fold: Fold
    width: int
    data: Any
    widths: list[int]
    arguments: list[int]
    mask: int


class _Plan(NamedTuple):
    """A graph in the order of its nodes: constants or None, variables by name, steps by place; the roots."""

    start: list[int | None]
    variables: list[tuple[int, str, int]]
    steps: list[tuple[int, _Step]]
    roots: list[int]


@lru_cache(maxsize=1)
def _plan(roots: tuple[Term, ...]) -> _Plan:
    """Return the plan of a graph. One is kept: the same graph is often evaluated many times in turn."""
    nodes = operands_first(roots)
    place = {node: number for number, node in enumerate(nodes)}
    plan = _Plan([None] * len(nodes), [], [], [place[root] for root in roots])
    for number, node in enumerate(nodes):
        mask = (1 << node.width) - 1
        if node.op == "const":
            plan.start[number] = node.value
        elif node.op == "var":
            plan.variables.append((number, str(node.data), mask))
        else:
            widths, arguments = [arg.width for arg in node.args], [place[arg] for arg in node.args]
            plan.steps.append((number, _Step(FOLD[node.op], node.width, node.data, widths, arguments, mask)))
    return plan


def evaluate(roots: Sequence[Term], values: Mapping[str, int]) -> list[int]:
    """Return the value of each root where the variable ``name`` is ``values[name]`` (unsigned words)."""
    plan = _plan(tuple(roots))
    values_of_nodes: list[Any] = plan.start.copy()
    for number, name, mask in plan.variables:
        values_of_nodes[number] = values[name] & mask
    for number, (fold, width, data, widths, arguments, mask) in plan.steps:
        values_of_nodes[number] = fold(width, data, widths, [values_of_nodes[a] for a in arguments]) & mask
    return [values_of_nodes[root] for root in plan.roots]
