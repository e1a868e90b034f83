"""In which order numbers are added: one after the other, or as a tree; and nested trees, as data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tcsmt.support.errors import TcsmtError, choose

Value = TypeVar("Value")

#: Names of orders of additions.
TREES = ("order", "reversed", "pairs", "halves", "folded")


def summed(
    order: str,
    parts: Sequence[Value],
    add: Callable[[Value, Value], Value],
    kept: Callable[[Value], Value] = lambda total: total,
    start: Value | None = None,
) -> Value:
    """Return the sum of the parts in an order: one of :data:`TREES`, or their numbers (``2-0-1``).

    kept: what becomes of a running total after each addition. start: what the parts are added to, one after
    the other; or the sum of all, where they are a tree. Raises :class:`.TcsmtError` for another number of
    parts than the order has.
    """
    if order in ("pairs", "halves", "folded"):
        total = _folded(parts, add) if order == "folded" else _tree(order, parts, add)
        return total if start is None else add(start, total)
    values = list(parts)
    if order == "reversed":
        values.reverse()
    elif order != "order":
        numbers = list(map(int, order.split("-")))
        if len(numbers) != len(values):
            raise TcsmtError(f"an order of {len(numbers)} parts, of {len(values)}")
        values = [values[number] for number in numbers]
    first, *others = values if start is None else [start, *values]
    total = kept(first)
    for value in others:
        total = kept(add(total, value))
    return total


def _tree(order: str, parts: Sequence[Value], add: Callable[[Value, Value], Value]) -> Value:
    """Neighbours are added in pairs, or each part to that of the other half, until one sum is left."""
    values = list(parts)
    while len(values) > 1:
        half = (len(values) + 1) // 2
        if order == "pairs":
            pairs = [values[place : place + 2] for place in range(0, len(values), 2)]
        else:
            pairs = [[value, *values[half + at : half + at + 1]] for at, value in enumerate(values[:half])]
        values = [add(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return values[0]


def _folded(parts: Sequence[Value], add: Callable[[Value, Value], Value]) -> Value:
    """Return the last part, to which the sums of one part of each half of the others are added."""
    *others, total = parts
    half = (len(parts) + 1) // 2
    for place in range(half if others else 0):
        pair = others[place], *others[place + half : place + half + 1]
        total = add(total, add(*pair) if len(pair) == 2 else pair[0])
    return total


@dataclass(frozen=True)
class SumOrder:
    """Nested sums: neighbours of so many are added in an order, then neighbours of these sums, and so on.

    levels: each an order, as :func:`summed` takes them, and how many neighbours (0: all that are left, of the
    last level alone). ``order of 4, then halves of 32, then halves of 8``: a reduction over 4 registers of a
    thread, 32 threads of a warp and 8 warps.
    """

    levels: tuple[tuple[str, int], ...] = (("order", 0),)

    def __post_init__(self) -> None:
        for number, (order, count) in enumerate(self.levels):
            digits = order.split("-")
            if not all(map(str.isdecimal, digits)):
                choose("order of a sum", order, TREES)
            elif sorted(map(int, digits)) != list(range(len(digits))):
                raise TcsmtError(f"order {order} of a sum: it must have each number from 0 on once")
            if not count and number < len(self.levels) - 1:
                raise TcsmtError(f"sum {self}: {order} needs a number of neighbours: {order} of 4")

    def __str__(self) -> str:
        return ", then ".join(f"{order} of {count}" if count else order for order, count in self.levels)

    def sum(self, values: Sequence[Value], add: Callable[[Value, Value], Value]) -> Value:
        """Return the sum of the values. Raises :class:`.TcsmtError` where they are more or fewer."""
        rest, product = list(values), 1
        for order, count in self.levels:
            each = count or len(rest)
            product *= each
            rest = [summed(order, rest[at : at + each], add) for at in range(0, len(rest), each)]
        if product != len(values):
            raise TcsmtError(f"sum {self}: of {product} numbers, not of {len(values)}")
        return rest[0]
