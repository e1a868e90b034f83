"""Expressions that are written where they are used, and those that get a name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Hashable, Iterator
from itertools import count
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


class Inlining(dict[Key, str]):
    """Expressions that stand for nodes: each its own, or the name under which it was defined.

    most: levels of an expression that gets a name. define: writes a node's definition, and returns its name.
    """

    def __init__(self, most: int, define: Callable[[Key, str], str]) -> None:
        self._most, self._define = most, define
        self._levels: dict[Key, int] = {}

    def add(self, node: Key, expression: str, arguments: Collection[Key], *, named: bool) -> None:
        """Add a node, after its arguments. named: whether it gets a name in any case, if it has arguments."""
        levels = self._levels
        level = max([levels.get(arg, 0) for arg in arguments]) + 1 if arguments else 0
        if arguments and (named or level >= self._most):
            expression, level = self._define(node, expression), 0
        self[node], self._levels[node] = expression, level


def fresh(taken: Container[str]) -> Iterator[str]:
    """Return the names t0, t1, and so on, but those that are taken."""
    return (name for number in count() if (name := f"t{number}") not in taken)
