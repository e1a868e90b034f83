"""Programs on units in fractions, with each step's rounding or without any.

A value is a fraction, or None: an infinity or a NaN; along K a list of them; a split is a list of lists.
Units are fused multiply-adds. No reading of the package is used, but for the list of the steps.
"""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from tests.oracles import exact

Number = Fraction | None


@lru_cache(maxsize=64)
def numbers(fmt: Any) -> tuple[Number, ...]:
    """Return the number of each word of a format."""
    x = exact.Format.of(fmt).decode(np.arange(1 << fmt.width, dtype=np.int64))
    return tuple(
        None if bad else (-1 if sign else 1) * Fraction(int(mag)) * Fraction(2) ** int(lsb)
        for bad, sign, mag, lsb in zip(x.nan | x.inf, x.sign, x.mag, x.lsb, strict=True)
    )


@lru_cache(maxsize=64)
def _magnitudes(fmt: Any) -> list[Fraction]:
    return sorted({x for x in numbers(fmt) if x is not None and x >= 0})


def rounded(fmt: Any, x: Number, mode: str = "RNE", *, saturate: bool = False) -> Number:
    """Return the nearest number of the format, ties to even, or the next one toward zero (RTZ)."""
    if x is None:
        return None
    sizes, size, sign = _magnitudes(fmt), abs(x), -1 if x < 0 else 1
    if size > sizes[-1]:
        beyond = sizes[-1] + (sizes[-1] - sizes[-2]) / 2
        if saturate or mode == "RTZ" or size < beyond:
            return sign * sizes[-1]
        return None
    at = bisect_left(sizes, size)
    if sizes[at] == size:
        return x
    low, high = sizes[at - 1], sizes[at]
    if mode == "RTZ" or size - low < high - size:
        return sign * low
    if size - low > high - size:
        return sign * high
    return sign * (low if (at - 1) % 2 == 0 else high)  # the last bit of a magnitude is that of its place


def result(program: Any, inputs: dict[str, Any], *, exactly: bool) -> Number:
    """Return the result of a program's steps. inputs: by name. exactly: without any rounding."""
    values: list[Any] = []
    for step in program.steps:
        taken = [None if at is None else values[at] for at in step.takes]
        values.append(_step(step, taken, inputs, exactly))
    return values[program.output]


def _step(step: Any, taken: list[Any], inputs: dict[str, Any], exactly: bool) -> Any:
    how = step.how
    match step.kind:
        case "input":
            return inputs[how["name"]]
        case "constant":
            return numbers(how["fmt"])[how["word"]]
        case "note":
            return taken[0]
        case "split":
            return [
                list(words)
                for words in zip(*(_split(how["split"], x, exactly) for x in taken[0]), strict=True)
            ]
        case "chain":
            return _chain(step, taken, exactly)
        case "sum":

            def plus(x: Number, y: Number) -> Number:
                return _rounded(how["fmt"], None if x is None or y is None else x + y, "RNE", exactly)

            total = taken[0][0]
            for one in taken[0][1:]:
                total = plus(total, one)
            return total
        case "pick":
            return taken[0][how["at"]]
    along = [len(x) for x in taken if isinstance(x, list)]
    if along:
        many = [x if isinstance(x, list) else [x] * along[0] for x in taken]
        return [_operation(step, list(each), exactly) for each in zip(*many, strict=True)]
    return _operation(step, taken, exactly)


def _operation(step: Any, taken: list[Number], exactly: bool) -> Number:
    how = step.how
    if step.kind == "select":
        return None if taken[0] is None else taken[1] if taken[0] else taken[2]
    if any(x is None for x in taken):
        return None
    x, *others = taken
    assert x is not None
    y = others[0] if others else Fraction(0)
    assert y is not None
    mode = how["rounding"].name if "rounding" in how else "RNE"
    match step.kind:
        case "add":
            return _rounded(how["fmt"], x / 2 ** how["shift"] + y, mode, exactly)
        case "multiply":
            return _rounded(how["fmt"], x * y, mode, exactly)
        case "multiply_add":
            return _rounded(how["fmt"], x * y + (others[1] or 0), mode, exactly)
        case "divide":
            return None if y == 0 else _rounded(how["fmt"], x / y, mode, exactly)
        case "negate":
            return -x
        case "maximum":
            return max(x, y)
        case "compare":
            truth = {"equal": x == y, "less": x < y, "less_equal": x <= y}
            return Fraction(truth[how["relation"]])
        case "convert":
            return x if exactly else rounded(how["target"], x, mode, saturate=how["saturate"])
    raise NotImplementedError(step.kind)


def _rounded(fmt: Any, x: Number, mode: str, exactly: bool) -> Number:
    return x if exactly else rounded(fmt, x, mode)


def _split(split: Any, x: Number, exactly: bool) -> list[Number]:
    """Return the words; exactly, the last one is what is left over. Differences are exact here."""
    words, rest = [rounded(split.format, x, split.rounding.name)], x
    for place in range(1, split.words):
        last = words[-1]
        rest = None if rest is None or last is None else (rest - last) * 2**split.scale
        done = exactly and place == split.words - 1
        words.append(rest if done else rounded(split.format, rest, split.residual.name))
    if exactly and split.words == 1:
        return [x]
    return words


def _chain(step: Any, taken: list[Any], exactly: bool) -> Number:
    c, a, b = taken
    unit = step.how["unit"]
    assert unit.k == 1
    total: Number = Fraction(0) if step.takes[0] is None else c
    for run in step.how["runs"]:
        i, j = run.words or (0, 0)
        x, y = (a[i], b[j]) if run.words else (a, b)
        for k in run.indices:
            if total is None or x[k] is None or y[k] is None:
                return None
            total = _rounded(unit.d_format, total + x[k] * y[k], "RNE", exactly)
    return total
