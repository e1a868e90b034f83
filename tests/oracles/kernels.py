"""Kernels in exact integers: chains of an instruction, and additions to nearest even of what they give.

As in :mod:`.exact`, a unit is read as data. How K is cut and in which order parts are added is written down
again here, for some reductions, from the text of ``tcsmt.kernels.reduction``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tcsmt.models import IeeeDotAdd
from tests.oracles import exact

Array = exact.Array
Columns = dict[str, Array]


def _split(k: int, step: int) -> list[list[int]]:
    half = -(-k // 2)
    return [list(range(half)), list(range(half, k))]


def _dealt(k: int, step: int) -> list[list[int]]:
    return [[n for n in range(k) if n // step % 2 == part] for part in range(2)]


def _singly(k: int, step: int) -> list[list[int]]:
    return [[n] for n in range(k)]


def _whole(k: int, step: int) -> list[list[int]]:
    return [list(range(k))]


def _in_order(add: Callable[[Array, Array], Array], parts: Sequence[Array], c: Array) -> Array:
    for part in parts:
        c = add(c, part)
    return c


def _from_the_last(add: Callable[[Array, Array], Array], parts: Sequence[Array], c: Array) -> Array:
    return _in_order(add, parts[::-1], c)


def _in_pairs(add: Callable[[Array, Array], Array], parts: Sequence[Array], c: Array) -> Array:
    """Two or three parts."""
    first = add(parts[0], parts[1]) if len(parts) > 1 else parts[0]
    return add(c, add(first, parts[2]) if len(parts) > 2 else first)


#: Of each reduction: the parts, and how c and their sums are added. None: one chain, from c.
REDUCTIONS: dict[str, tuple[Any, Any] | None] = {
    "chained": None,
    "split-k:1": (_whole, _in_order),
    "split-k:2": (_split, _in_order),
    "split-k:2,reversed": (_split, _from_the_last),
    "split-k:2,pairs": (_split, _in_pairs),
    "sliced:2": (_dealt, _in_order),
    "promote:1": (_singly, _in_order),
    "promote:1,pairs": (_singly, _in_pairs),
}


def results(unit: Any, reduction: str, k: int, columns: Columns) -> Array:
    """The words of d of kernels on a unit, with c in the unit's format of d."""
    fmt = unit.d_format
    adder = IeeeDotAdd(
        a_format=fmt, b_format=fmt, c_format=fmt, d_format=fmt, sum_format=fmt, k=1, method="fma"
    )  # fmt: skip
    one = _one(fmt)

    def add(x: Array, y: Array) -> Array:
        return exact.results(adder, {"a0": x, "b0": np.full_like(x, one), "c": y}).astype(np.int64)

    def chain(lanes: Sequence[int], c: Array) -> Array:
        zero = np.zeros_like(c)
        for first in range(0, len(lanes), unit.k):
            here = [*lanes[first : first + unit.k]]
            given = {
                f"{side}{n}": columns[f"{side}{here[n]}"] if n < len(here) else zero
                for side in "ab"
                for n in range(unit.k)
            }
            c = exact.results(unit, given | {"c": c}).astype(np.int64)
        return c

    c, how = columns["c"].astype(np.int64), REDUCTIONS[reduction]
    if how is None:
        return chain(range(k), c)
    cut, order = how
    parts = [chain(lanes, np.zeros_like(c)) for lanes in cut(k, unit.k) if lanes]
    return np.asarray(order(add, parts, c))


def _one(fmt: Any) -> int:
    """The word of 1."""
    words = np.arange(1 << fmt.width)
    x = exact.Format.of(fmt).decode(words)
    (found,) = words[(x.mag * 2.0**x.lsb == 1) & (x.sign == 0) & ~x.inf & ~x.nan][:1]
    return int(found)
