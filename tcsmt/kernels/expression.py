"""Which reductions are the same function: the tree of their sums, whatever their text."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from tcsmt.kernels.reduction import Level, Reduction, fold

__all__ = ["expression"]

Array = np.ndarray[Any, np.dtype[Any]]


def expression(reduction: Reduction, length: int, k: int) -> str:
    """A digest of the tree of a reduction's sums over so many products, for a unit with k.

    Two reductions with the same digest do the same operations on the same values; additions commute, their
    NaN results being one word.
    """
    return _of(reduction, np.arange(length), k)


def _of(reduction: Reduction, indices: Array, k: int) -> str:
    if not reduction.levels:
        return _digest("chain", indices.tobytes().hex())
    level, inner = reduction.levels[0], Reduction(reduction.levels[1:])
    parts = [_rounded(level, "parts", _of(inner, part, k)) for part in level.cut(indices, k)]
    if len(parts) == 1 and level.total is level.sum is None and not level.from_zero:
        return parts[0]
    start = "+0" if level.from_zero else None
    if level.order == "any":
        return _digest(f"any order {start} {level.total} {level.sum}", *sorted(parts))
    name = "" if level.sum is None else level.sum.name

    def add(one: str, two: str) -> str:
        return _digest(f"sum {name}", *sorted((one, two)))

    return fold(level, parts, add, lambda value: _rounded(level, "total", value), start)


def _rounded(level: Level, name: str, value: str) -> str:
    fmt = getattr(level, name)
    return value if fmt is None else _digest("rounded", fmt.name, value)


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
