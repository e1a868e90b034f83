"""Terms on NumPy arrays: many assignments at once.

A word of width 1 is held as bool, up to 32 bits as uint32, up to 64 as uint64; wider words are several
(:mod:`tcsmt.language.graphs.limbs`), and Python integers in object arrays where they come in and go out. A
binary32 fused multiply-add is computed in binary64, rounded to odd and then to binary32; leading zeros are
read from an exponent of binary64; other macros are computed by their definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from tcsmt.language.graphs.limbs import LIMB, fitted, pieces
from tcsmt.language.terms import Term, operands_first, variables
from tcsmt.support.floats import check_floats

Array = np.ndarray[Any, np.dtype[Any]]
Operation = Callable[..., Any]


def storage(width: int) -> np.dtype[Any]:
    """Return the dtype that holds words of this width."""
    return np.dtype(object) if width > LIMB else _dtype(width)


def _dtype(width: int) -> np.dtype[Any]:
    """Return the dtype of a word which is computed on."""
    if width > LIMB:
        raise ValueError(f"a word of {width} bits: must be split into limbs of {LIMB} bits first")
    return np.dtype(bool if width == 1 else np.uint32 if width <= 32 else np.uint64)


class InputWords(NamedTuple):
    """A limb of an input: its place in the graph, the input's name and width, which limb, and how wide."""

    place: int
    name: str
    whole: int
    number: int
    width: int

    def column(self, words: Array) -> Array:
        """Return the limb's words of the input's, as what they are held in.

        words: (rows,). Returns booleans, uint32 or uint64, (rows,).
        """
        if self.whole > LIMB:
            words = words.astype(object) >> (self.number * LIMB) & ((1 << self.width) - 1)
        return np.ascontiguousarray(words).astype(_dtype(self.width), copy=False)


class Program:
    """A term graph made ready to run on arrays, block by block."""

    def __init__(self, roots: Sequence[Term]) -> None:
        results = fitted(roots, _native)
        outputs = dict.fromkeys(limb for limbs in results for limb in limbs)
        nodes = operands_first(outputs)
        slot = {node: number for number, node in enumerate(nodes)}
        self.roots = [
            ([slot[limb] for limb in limbs], root.width) for root, limbs in zip(roots, results, strict=True)
        ]
        self.inputs = [
            InputWords(slot[piece], str(variable.data), variable.width, number, piece.width)
            for variable in variables(roots)
            for number, piece in enumerate(pieces(variable))
            if piece in slot
        ]
        self.constants = [(slot[n], _dtype(n.width).type(n.data)) for n in nodes if n.op == "const"]
        self.floats = any(node.op == "macro" and node.data in _FLOATS for node in nodes)
        self.steps = list(_steps(nodes, slot, outputs))
        self.size = len(nodes)

    def run(self, values: Mapping[str, Array], block: int = 1 << 14) -> list[Array]:
        """Return the roots' values, of shape (rows,), for unsigned words by input name, each of shape
        (rows,).

        block: rows that are computed at a time; fewer cost calls of NumPy, more cost its arrays' places in
        the cache.
        """
        if self.floats:
            check_floats()
        columns = [
            (input_words.place, input_words.column(np.asarray(values[input_words.name])))
            for input_words in self.inputs
        ]
        rows = len(next(iter(values.values()))) if values else 1
        results = [np.empty(rows, storage(width)) for _, width in self.roots]
        for start in range(0, rows, block):
            count = min(block, rows - start)
            memory: list[Any] = [None] * self.size
            for place, value in self.constants:
                memory[place] = value
            for place, column in columns:
                memory[place] = column[start : start + count]
            for place, operation, arguments, free in self.steps:
                memory[place] = operation(*[memory[a] for a in arguments])
                for unused in free:
                    memory[unused] = None
            for result, (places, _) in zip(results, self.roots, strict=True):
                words = _joined([memory[place] for place in places])
                np.copyto(result[start : start + count], words, casting="equiv")
        return results


def _steps(
    nodes: Sequence[Term], slot: Mapping[Term, int], outputs: Container[Term]
) -> Iterator[tuple[int, Operation, list[int], list[int]]]:
    """Yield each operation: where its result goes, what it is, where arguments are, and which of these are
    needed for the last time. kept: nodes that are needed at the end.
    """
    last_use = {slot[arg]: number for number, node in enumerate(nodes) for arg in node.args}
    held = [node in outputs or not node.args for node in nodes]
    for number, node in enumerate(nodes):
        if node.args:
            arguments = [slot[arg] for arg in node.args]
            free = [place for place in arguments if last_use[place] == number and not held[place]]
            yield number, _OPERATIONS[node.op](node), arguments, free


def _joined(limbs: Sequence[Any]) -> Any:
    """Return a result of its limbs, the lowest first."""
    if len(limbs) == 1:
        return limbs[0]
    integers = [np.asarray(limb).astype(np.uint64).astype(object) for limb in limbs]
    return np.asarray(sum(words << place * LIMB for place, words in enumerate(integers)), dtype=object)


def _mask(width: int) -> Any:
    """Return what trims a result to its width, or None where the dtype does."""
    dtype = _dtype(width)
    return None if width in (1, 32, 64) else dtype.type((1 << width) - 1)


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


def _invert(node: Term) -> Operation:
    ones = _ones(node.width)
    return np.logical_not if node.width == 1 else lambda x: x ^ ones


def _ones(width: int) -> Any:
    return _dtype(width).type((1 << width) - 1)


def _to_signed(width: int) -> Operation:
    """Return words as integers of their dtype's size in two's complement."""
    dtype = _dtype(width)
    size = dtype.itemsize * 8
    kind = np.int32 if size == 32 else np.int64
    spare = dtype.type(size - width)
    if not spare:
        return lambda x: np.asarray(x).view(kind)
    return lambda x: np.right_shift(np.asarray(x << spare).view(kind), kind(spare))


def _arithmetic_shift(node: Term) -> Operation:
    signed, mask, dtype = _to_signed(node.width), _mask(node.width), _dtype(node.width)
    top = dtype.type(dtype.itemsize * 8 - 1)

    def run(x: Any, n: Any) -> Any:
        value = signed(x)
        result = (value >> np.minimum(n, top).astype(value.dtype)).astype(dtype)
        return result if mask is None else result & mask

    return run


def _cast(source: np.dtype[Any], target: np.dtype[Any]) -> Operation:
    if source == target:
        return lambda x: x
    return lambda x: np.asarray(x).astype(target)


def _zext(node: Term) -> Operation:
    return _cast(_dtype(node.args[0].width), _dtype(node.width))


def _sext(node: Term) -> Operation:
    inner = node.args[0].width
    target, mask = _dtype(node.width), _mask(node.width)
    if inner == 1:
        ones, zero = _ones(node.width), target.type(0)
        return lambda x: np.where(x, ones, zero)
    signed, result_type = _to_signed(inner), np.int32 if target == np.uint32 else np.int64

    def run(x: Any) -> Any:
        result = np.asarray(signed(x)).astype(result_type).view(target)
        return result if mask is None else result & mask

    return run


def _concat(node: Term) -> Operation:
    upper, lower = node.args
    target = _dtype(node.width)
    widen_upper, widen_lower = _cast(_dtype(upper.width), target), _cast(_dtype(lower.width), target)
    places = target.type(lower.width)
    return lambda x, y: (widen_upper(x) << places) | widen_lower(y)


def _extract(node: Term) -> Operation:
    high, low = node.data  # type: ignore[misc,str-unpack]
    inner = node.args[0].width
    source, target = _dtype(inner), _dtype(node.width)
    places, ones = source.type(low), source.type((1 << node.width) - 1)
    to_the_top, cast = high == inner - 1, _cast(source, target)

    def run(x: Any) -> Any:
        result = x >> places if low else x
        return cast(result if to_the_top else result & ones)

    return run


def _signed_less(node: Term) -> Operation:
    width = node.args[0].width
    if width == 1:
        return lambda x, y: x & ~y
    signed = _to_signed(width)
    return lambda x, y: np.less(signed(x), signed(y))


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


def _leading_zeros(word: Any, width: int) -> Any:
    """Return how many zeros are above the top bit of words, as uint64; 1023 more than their width for 0."""
    word = np.asarray(word).astype(np.uint64)
    if width > 53:  # no conversion of what is below the top bit to binary64 rounds up to the next power
        word = word & ~(word >> np.uint64(1))
    return np.uint64(width + 1022) - (word.astype(np.float64).view(np.uint64) >> np.uint64(52))


def _leading_zeros_as(node: Term) -> Operation:
    """Count leading zeros as the definition does, which gives all ones for 0."""
    ones, target, width = np.uint64((1 << node.width) - 1), _dtype(node.width), node.args[0].width
    return lambda x: np.minimum(_leading_zeros(x, width), ones).astype(target)


def _normalised(node: Term) -> Operation:
    width, target = node.width, _dtype(node.width)
    last, mask = np.uint64(width - 1), _mask(width)
    if width == 1:
        return lambda x: x

    def run(x: Any) -> Any:
        shifted = x << np.minimum(_leading_zeros(x, width), last).astype(target)
        return shifted if mask is None else shifted & mask

    return run


#: Macros that floating-point operations compute.
_FLOATS: dict[str, Operation] = {"fma.f32": _fma32}
#: Macros by how their names begin.
_LEADING = {"leading_zeros.": _leading_zeros_as, "normalised.": _normalised}


def _native(name: str) -> bool:
    return name in _FLOATS or name.startswith(tuple(_LEADING))


def _macro(node: Term) -> Operation:
    name = str(node.data)
    if name in _FLOATS:
        return _FLOATS[name]
    return next(build for start, build in _LEADING.items() if name.startswith(start))(node)


_OPERATIONS: dict[str, Callable[[Term], Operation]] = {
    "not": _invert,
    "and": _plain(_nary(np.bitwise_and)),
    "or": _plain(_nary(np.bitwise_or)),
    "xor": _plain(np.bitwise_xor),
    "neg": _trimmed(lambda x: 0 - x),
    "add": _trimmed(_nary(np.add)),
    "sub": _trimmed(np.subtract),
    "mul": _trimmed(np.multiply),
    "shl": _trimmed(np.left_shift),
    "lshr": _plain(np.right_shift),
    "ashr": _arithmetic_shift,
    "concat": _concat,
    "extract": _extract,
    "zext": _zext,
    "sext": _sext,
    "ite": _plain(np.where),
    "eq": _plain(np.equal),
    "ult": _plain(np.less),
    "slt": _signed_less,
    "umax": _plain(_nary(np.maximum)),
    "macro": _macro,
}
