"""Terms on NumPy arrays: many assignments at once.

A word of width 1 is held as bool, up to 32 bits as uint32, up to 64 as uint64; wider words are
Python integers in object arrays (exact, slower). A binary32 fused multiply-add is computed in
binary64, rounded to odd and then to binary32; other macros by their definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from tcsmt.terms import Term, expand, operands_first

__all__ = ["Program", "storage"]

Array = np.ndarray[Any, np.dtype[Any]]


def storage(width: int) -> np.dtype[Any]:
    """The dtype that holds words of this width."""
    if width == 1:
        return np.dtype(bool)
    return np.dtype(np.uint32 if width <= 32 else np.uint64 if width <= 64 else object)


class Program:
    """A term graph made ready to run on arrays, block by block."""

    def __init__(self, roots: Sequence[Term]) -> None:
        roots = expand(roots, _MACROS.__contains__)
        nodes = operands_first(roots)
        slot = {node: number for number, node in enumerate(nodes)}
        last_use = {arg: number for number, node in enumerate(nodes) for arg in node.args}
        kept = set(roots)
        self.roots = [slot[root] for root in roots]
        self.inputs = [(slot[n], str(n.data), storage(n.width)) for n in nodes if n.op == "var"]
        self.constants = [(slot[n], _constant(n)) for n in nodes if n.op == "const"]
        self.steps = []
        for number, node in enumerate(nodes):
            if node.args:
                done = {a for a in node.args if last_use[a] == number and a not in kept}
                free = [slot[a] for a in done if a.op not in ("const", "var")]
                arguments = [slot[a] for a in node.args]
                self.steps.append((number, _OPERATIONS[node.op](node), arguments, free))
        self.size = len(nodes)

    def run(self, values: Mapping[str, Array], block: int = 4096) -> list[Array]:
        """The roots' values for equally long one-dimensional arrays of unsigned words."""
        columns = {
            name: np.ascontiguousarray(values[name]).astype(dtype, copy=False)
            for _, name, dtype in self.inputs
        }
        rows = len(next(iter(values.values()))) if values else 1
        results: list[list[Array]] = [[] for _ in self.roots]
        for start in range(0, rows, block):
            count = min(block, rows - start)
            memory: list[Any] = [None] * self.size
            for place, value in self.constants:
                memory[place] = value
            for place, name, _ in self.inputs:
                memory[place] = columns[name][start : start + count]
            for place, operation, arguments, free in self.steps:
                memory[place] = operation(*[memory[a] for a in arguments])
                for unused in free:
                    memory[unused] = None
            for result, place in zip(results, self.roots, strict=True):
                result.append(np.broadcast_to(memory[place], (count,)))
        return [np.concatenate(result) if result else np.empty(0) for result in results]


def _constant(node: Term) -> Any:
    dtype = storage(node.width)
    if dtype == object:
        # a one-element array: bare Python integers would overflow NumPy's scalar conversion
        return np.array([node.data], dtype=object)
    return dtype.type(node.data)


def _mask(width: int) -> Any:
    """What trims a result to its width, or None where the dtype does."""
    dtype = storage(width)
    if dtype == bool or width in (32, 64):
        return None
    ones = (1 << width) - 1
    return ones if dtype == object else dtype.type(ones)


Operation = Callable[..., Any]


def _trimmed(operation: Operation) -> Callable[[Term], Operation]:
    def build(node: Term) -> Operation:
        mask = _mask(node.width)
        if mask is None:
            return operation
        return lambda *args: operation(*args) & mask

    return build


def _plain(operation: Operation) -> Callable[[Term], Operation]:
    return lambda node: operation


def _nary(ufunc: Operation) -> Operation:
    return lambda *args: reduce(ufunc, args)


def _each(function: Operation, arguments: int) -> Operation:
    """A function of Python integers on the elements of object arrays."""
    made: Operation = np.frompyfunc(function, arguments, 1)
    return made


def _invert(node: Term) -> Operation:
    ones = (1 << node.width) - 1
    return np.logical_not if node.width == 1 else lambda x: x ^ _scalar(ones, storage(node.width))


def _shift_left(node: Term) -> Operation:
    mask, width = _mask(node.width), node.width
    if storage(width) == object:
        return _each(lambda x, n: (x << n) & mask if n < width else 0, 2)
    return _trimmed(np.left_shift)(node)


def _shift_right(node: Term) -> Operation:
    if storage(node.width) == object:
        return _each(lambda x, n: x >> n, 2)
    return np.right_shift


def _to_signed(width: int) -> Operation:
    dtype = storage(width)
    if dtype == object:
        top, modulus = 1 << (width - 1), 1 << width
        return _each(lambda x: x - modulus if x & top else x, 1)
    size = dtype.itemsize * 8
    kind = np.int32 if size == 32 else np.int64
    spare = dtype.type(size - width)
    if not spare:
        return lambda x: np.asarray(x).view(kind)
    return lambda x: np.right_shift(np.asarray(x << spare).view(kind), kind(spare))


def _arithmetic_shift(node: Term) -> Operation:
    signed, mask, dtype = _to_signed(node.width), _mask(node.width), storage(node.width)
    if dtype == object:
        return lambda x, n: _each(lambda y, m: (y >> m) & mask, 2)(signed(x), n)
    top = dtype.type(dtype.itemsize * 8 - 1)

    def run(x: Any, n: Any) -> Any:
        value = signed(x)
        result = (value >> np.minimum(n, top).astype(value.dtype)).astype(dtype)
        return result if mask is None else result & mask

    return run


def _cast(source: np.dtype[Any], target: np.dtype[Any]) -> Operation:
    if source == target:
        return lambda x: x
    if target == object:
        return lambda x: np.asarray(x).astype(object) + 0  # bool becomes int
    return lambda x: np.asarray(x).astype(target)


def _zext(node: Term) -> Operation:
    return _cast(storage(node.args[0].width), storage(node.width))


def _sext(node: Term) -> Operation:
    inner = node.args[0].width
    source, target, mask = storage(inner), storage(node.width), _mask(node.width)
    if source == bool:
        ones = (1 << node.width) - 1
        return lambda x: np.where(x, _scalar(ones, target), _scalar(0, target))
    signed = _to_signed(inner)
    if target == object:
        return lambda x: np.asarray(signed(x)).astype(object) & ((1 << node.width) - 1)
    wide = np.int32 if target == np.uint32 else np.int64

    def run(x: Any) -> Any:
        result = np.asarray(signed(x)).astype(wide).view(target)
        return result if mask is None else result & mask

    return run


def _scalar(value: int, dtype: np.dtype[Any]) -> Any:
    return np.array(value, dtype=object) if dtype == object else dtype.type(value)


def _concat(node: Term) -> Operation:
    upper, lower = node.args
    target = storage(node.width)
    widen_upper = _cast(storage(upper.width), target)
    widen_lower = _cast(storage(lower.width), target)
    places = lower.width if target == object else target.type(lower.width)
    return lambda x, y: (widen_upper(x) << places) | widen_lower(y)


def _extract(node: Term) -> Operation:
    high, low = node.data  # type: ignore[misc,str-unpack]
    inner = node.args[0].width
    source, target = storage(inner), storage(node.width)
    places = low if source == object else source.type(low)
    whole = high == inner - 1
    ones = (1 << node.width) - 1
    mask = ones if source == object else source.type(ones)

    def run(x: Any) -> Any:
        result = x >> places if low else x
        if not whole:
            result = result & mask
        if source == target:
            return result
        return np.asarray(result).astype(target)

    return run


def _compare(ufunc: Operation) -> Callable[[Term], Operation]:
    def build(node: Term) -> Operation:
        if storage(node.args[0].width) == object:
            return lambda x, y: np.asarray(ufunc(x, y)).astype(bool)
        return ufunc

    return build


def _signed_less(node: Term) -> Operation:
    width = node.args[0].width
    if width == 1:
        return lambda x, y: x & ~y
    signed = _to_signed(width)
    return lambda x, y: np.asarray(np.less(signed(x), signed(y))).astype(bool)


def _fma32(a: Any, b: Any, c: Any) -> Array:
    with np.errstate(all="ignore"):
        x, y, z = (np.asarray(word).view(np.float32).astype(np.float64) for word in (a, b, c))
        product = x * y  # exact
        rounded = product + z
        added = rounded - product
        error = (product - (rounded - added)) + (z - added)  # exact (Knuth's two-sum)
        bits = np.asarray(rounded).view(np.int64)
        even = (error != 0) & (bits & 1 == 0) & np.isfinite(rounded)
        odd = np.where(even, np.where((error > 0) == (rounded > 0), bits + 1, bits - 1), bits)
        result = odd.view(np.float64).astype(np.float32)
    return np.where(np.isnan(result), np.uint32(0x7FC00000), result.view(np.uint32))


_MACROS: dict[str, Operation] = {"fma.f32": _fma32}

_OPERATIONS: dict[str, Callable[[Term], Operation]] = {
    "not": _invert,
    "and": _plain(_nary(np.bitwise_and)),
    "or": _plain(_nary(np.bitwise_or)),
    "xor": _plain(np.bitwise_xor),
    "neg": _trimmed(lambda x: 0 - x),
    "add": _trimmed(_nary(np.add)),
    "sub": _trimmed(np.subtract),
    "mul": _trimmed(np.multiply),
    "shl": _shift_left,
    "lshr": _shift_right,
    "ashr": _arithmetic_shift,
    "concat": _concat,
    "extract": _extract,
    "zext": _zext,
    "sext": _sext,
    "ite": _plain(np.where),
    "eq": _compare(np.equal),
    "ult": _compare(np.less),
    "slt": _signed_less,
    "umax": _plain(_nary(np.maximum)),
    "macro": lambda node: _MACROS[str(node.data)],
}  # fmt: skip
