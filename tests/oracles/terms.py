"""Terms on arrays, by the meaning that SMT-LIB gives each operation: a second evaluator.

Words of up to 64 bits are held as uint64, wider ones as Python integers. A macro is what its definition
says, which is a term too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from tcsmt.language.terms import Term, expand

Array = np.ndarray[Any, np.dtype[Any]]


def values(roots: Sequence[Term], columns: Mapping[str, Array]) -> list[Array]:
    """The words of each root, where the variables have these words."""
    roots = expand(roots)
    known: dict[Term, Array] = {}
    for root in roots:
        _walk(root, columns, known)
    return [known[root] for root in roots]


def _walk(root: Term, columns: Mapping[str, Array], known: dict[Term, Array]) -> None:
    waiting = [root]
    while waiting:
        node = waiting[-1]
        missing = [arg for arg in node.args if arg not in known]
        if missing:
            waiting += missing
            continue
        waiting.pop()
        if node not in known:
            known[node] = _value(node, columns, [known[arg] for arg in node.args])


def _held(words: Array, width: int) -> Array:
    """The words modulo 2^width, as such words are held."""
    if width > 64:
        return np.asarray(words.astype(object) & ((1 << width) - 1))
    if words.dtype == object:
        return (words & ((1 << width) - 1)).astype(np.uint64)
    return words.astype(np.uint64) & np.uint64((1 << width) - 1)


def _value(node: Term, columns: Mapping[str, Array], args: list[Array]) -> Array:
    width = node.width
    if node.op == "const":
        whole: Any = int(node.data)  # type: ignore[arg-type]
        return _held(np.array([whole], dtype=object), width)
    if node.op == "var":
        return _held(columns[str(node.data)], width)
    widths = [arg.width for arg in node.args]
    if max(width, *widths) > 64:
        args = [arg.astype(object) for arg in args]
    return _held(np.asarray(_MEANING[node.op](node, widths, args)), width)


def _signed(word: Array, width: int) -> Array:
    """A word as a number: two's complement."""
    if word.dtype == object:
        return word - ((word >> (width - 1)) << width)
    return (word << np.uint64(64 - width)).view(np.int64) >> np.int64(64 - width)


def _shift(step: Callable[[Array, Array], Array], word: Array, by: Array, width: int) -> Array:
    """A shift by less than the width, else 0."""
    near = by < width
    return np.where(near, step(word, np.where(near, by, by & 0)), word & 0)


def _arithmetic(word: Array, by: Array, width: int) -> Array:
    by = np.where(by < width, by, (by & 0) + (by.dtype.type(width - 1) if by.dtype != object else width - 1))
    by = by.astype(object) if word.dtype == object else by.astype(np.int64)
    return _signed(word, width) >> by


def _concat(n: Term, w: Sequence[int], a: Sequence[Array]) -> Array:
    by: Any = w[1] if a[0].dtype == object else np.uint64(w[1])
    return (a[0] << by) | a[1]


def _extract(n: Term, w: Sequence[int], a: Sequence[Array]) -> Array:
    low: Any = n.data[1]  # type: ignore[index]
    return a[0] >> (low if a[0].dtype == object else np.uint64(low))


_MEANING: dict[str, Callable[[Term, Sequence[int], list[Array]], Any]] = {
    "not": lambda n, w, a: a[0] ^ ((1 << n.width) - 1 if n.width > 64 else np.uint64((1 << n.width) - 1)),
    "and": lambda n, w, a: reduce(lambda x, y: x & y, a),
    "or": lambda n, w, a: reduce(lambda x, y: x | y, a),
    "xor": lambda n, w, a: a[0] ^ a[1],
    "neg": lambda n, w, a: (a[0] & 0) - a[0],
    "add": lambda n, w, a: reduce(lambda x, y: x + y, a),
    "sub": lambda n, w, a: a[0] - a[1],
    "mul": lambda n, w, a: a[0] * a[1],
    "shl": lambda n, w, a: _shift(lambda x, y: x << y, a[0], a[1], n.width),
    "lshr": lambda n, w, a: _shift(lambda x, y: x >> y, a[0], a[1], n.width),
    "ashr": lambda n, w, a: _arithmetic(a[0], a[1], n.width),
    "concat": _concat,
    "extract": _extract,
    "zext": lambda n, w, a: a[0],
    "sext": lambda n, w, a: _signed(a[0], w[0]),
    "ite": lambda n, w, a: np.where(a[0] != 0, a[1], a[2]),
    "eq": lambda n, w, a: a[0] == a[1],
    "ult": lambda n, w, a: a[0] < a[1],
    "slt": lambda n, w, a: _signed(a[0], w[0]) < _signed(a[1], w[1]),
    "umax": lambda n, w, a: reduce(np.maximum, a),
}
