"""Matrix products as a kernel on the unit would compute them, for any shape.

Every element of D is a chain of the unit's instructions along K, each result the next one's c. The
edges are padded with zeros, as kernels do; a zero product cannot change a bit, since the first
instruction's c (or its zero) already enters the maximum exponent at or above the zero products'.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from threading import Lock
from typing import Any

import numpy as np

from tcsmt import jit
from tcsmt.errors import TcsmtError
from tcsmt.formats import FORMATS
from tcsmt.kernels import Kernel, compiled, in_threads, kernel
from tcsmt.models import IeeeDotAdd, Model
from tcsmt.simulator import WORTH_COMPILING, run_words, simulate
from tcsmt.words import dtype_of, from_words, to_words, unsigned

__all__ = ["SEQUENTIAL", "Reduction", "gemm", "promoted", "split_k"]

Array = np.ndarray[Any, np.dtype[Any]]

#: Dot-adds between two looks at the keyboard and the progress bar.
_PORTION = 1 << 22


@dataclass(frozen=True)
class Reduction:
    """The order in which products are added up beyond one instruction.

    parts: from K to the slices of the K indices, each summed by a chain of instructions of its own.
    One part: C is its first c. Several: each begins with +0, and the parts are added to C (or to
    the first part) in order, by IEEE additions in the output format, as a kernel does that keeps
    partial sums in ordinary registers.
    """

    name: str
    parts: Callable[[int], Sequence[slice]]

    def __repr__(self) -> str:
        return self.name


def _slices(every: int, length: int) -> list[slice]:
    return [slice(start, min(start + every, length)) for start in range(0, length, every)]


#: One chain along the whole of K.
SEQUENTIAL = Reduction("sequential", lambda length: [slice(0, length)])


def split_k(parts: int) -> Reduction:
    """So many chains side by side, each over its contiguous share of K (split-K kernels)."""
    if parts < 1:
        raise TcsmtError(f"split_k({parts}): allowed is 1 or more")
    return Reduction(f"split-k:{parts}", lambda length: _slices(-(-length // parts), length))


def promoted(every: int) -> Reduction:
    """A new chain after every so many products, its sum promoted to a second accumulator.

    DeepGEMM does so for FP8 on Hopper with every = 128 (DeepSeek-V3's N_C).
    """
    if every < 1:
        raise TcsmtError(f"promoted({every}): allowed is 1 or more")
    return Reduction(f"promote:{every}", partial(_slices, every))


def gemm(
    a: Any,
    b: Any,
    c: Any = None,
    *,
    model: Model | str,
    alpha: float = 1.0,
    beta: float = 1.0,
    reduction: Reduction = SEQUENTIAL,
    progress: Callable[[int, int], None] | None = None,
) -> Array:
    """``alpha·A·B + beta·C`` on the unit: an array (M, N) of the output format's dtype.

    a: (M, K). b: (K, N). c: (M, N), or None for zeros. Dtypes as for :func:`tcsmt.simulate`.
    model: a model or a catalogue name such as ``h200`` or ``ada/mma.m16n8k32.f32.e4m3.e4m3.f32``.
    alpha, beta: with both 1, C is the first instruction's c. Otherwise the accumulators begin with
    +0, and a kernel's epilogue follows, in FP32 (FP64 for FP64 output): fma(sum, alpha, beta·C),
    beta·C rounded on its own (left out where beta is 0), then a rounding to the output format.
    reduction: see :class:`Reduction`.
    progress(done, all): called now and then, with numbers of dot-adds.
    Raises :class:`tcsmt.errors.TcsmtError` before any work for shapes, dtypes and values that do
    not fit, and for results that do not fit in memory.
    """
    if isinstance(model, str):
        from tcsmt.custom import row_given

        model = row_given(model).model
    left, right = to_words(model.a_format, a, "A"), to_words(model.b_format, b, "B")
    for words, name in ((left, "A"), (right, "B")):
        if words.ndim != 2 or 0 in words.shape:
            raise TcsmtError(f"{name} has shape {words.shape}: allowed is a matrix with no empty dimension")
    (m, length), (other, n) = left.shape, right.shape
    if length != other:
        raise TcsmtError(f"A {left.shape} and B {right.shape}: A's columns and B's rows must be as many")
    parts = [part for part in reduction.parts(length) if range(*part.indices(length))]
    chained = len(parts) > 1 or length > model.k
    if chained and model.c_format != model.d_format:
        raise TcsmtError(
            f"K = {length}: the unit takes c in {model.c_format.name} and gives {model.d_format.name}, "
            f"so that its instructions cannot be chained; K is at most {model.k}"
        )
    _check_memory(m, n, model)
    c_words = None if c is None or beta == 0 else to_words(model.c_format, c, "C")
    if c is not None and np.shape(c) != (m, n):
        raise TcsmtError(f"C has shape {np.shape(c)}: A·B is {(m, n)}")
    plain = alpha == 1 and (beta == 1 or c_words is None)
    start = np.zeros((m, n), dtype=unsigned(model.c_format))
    if plain and len(parts) == 1 and c_words is not None:
        start = c_words
    instructions = sum(-(-len(range(*part.indices(length))) // model.k) for part in parts)
    seen = _Progress(instructions * m * n, progress)
    sums = [
        from_words(model.d_format, _chain(model, left[:, part], right[part], start, seen)) for part in parts
    ]
    if plain and len(parts) > 1 and c_words is not None:
        sums.insert(0, from_words(model.c_format, c_words).astype(sums[0].dtype))
    with np.errstate(all="ignore"):
        total = reduce(np.add, sums)
        return total if plain else _epilogue(model, total, alpha, beta, c_words)


def _epilogue(model: Model, total: Array, alpha: float, beta: float, c: Array | None) -> Array:
    fmt = FORMATS["f64" if model.d_format.name == "f64" else "f32"]
    unit = IeeeDotAdd(
        a_format=fmt, b_format=fmt, c_format=fmt, d_format=fmt, sum_format=fmt, k=1, method="fma"
    )
    dtype = dtype_of(fmt).type
    added = np.zeros_like(total, dtype=dtype)
    if c is not None:
        added = dtype(beta) * from_words(model.c_format, c).astype(dtype)
    return simulate(unit, total.astype(dtype)[..., None], dtype([alpha]), added).astype(total.dtype)


class _Progress:
    def __init__(self, total: int, report: Callable[[int, int], None] | None) -> None:
        self.done, self.total, self.report, self.lock = 0, total, report, Lock()

    def add(self, dot_adds: int) -> None:
        with self.lock:
            self.done += dot_adds
            if self.report is not None:
                self.report(self.done, self.total)


def _chain(model: Model, a: Array, b: Array, c: Array, seen: _Progress) -> Array:
    """Words in, words out: one chain of instructions along K for every element."""
    padding = -a.shape[1] % model.k
    a = np.ascontiguousarray(np.pad(a, ((0, 0), (0, padding))))
    b = np.pad(b, ((0, padding), (0, 0)))
    dot_adds = c.size * (a.shape[1] // model.k)
    result = np.empty(c.shape, dtype=unsigned(model.d_format))
    if jit.available() and model.c_format == model.d_format and (
        dot_adds >= WORTH_COMPILING or compiled(model)
    ):  # fmt: skip
        made = kernel(model)
        columns = range(0, c.shape[1], made.width)
        in_threads(lambda column: _panel(made, model.k, a, b, c, result, column, seen), columns)
        return result
    rows = max(1, WORTH_COMPILING // c.shape[1])
    for first in range(0, c.shape[0], rows):
        result[first : first + rows] = _rows(model, a[first : first + rows], b, c[first : first + rows])
        seen.add(dot_adds * min(rows, c.shape[0] - first) // c.shape[0])
    return result


def _panel(
    made: Kernel, k: int, a: Array, b: Array, c: Array, d: Array, column: int, seen: _Progress
) -> None:
    """All rows of as many columns as a vector holds."""
    (m, length), width = a.shape, made.width
    count = min(width, c.shape[1] - column)
    columns = slice(column, column + count)
    factors = np.zeros((length, width), dtype=b.dtype)
    factors[:, :count] = b[:, columns]
    addends = np.zeros((m, width), dtype=c.dtype)
    addends[:, :count] = c[:, columns]
    sums = np.empty((m, width), dtype=d.dtype)
    steps = length // k
    portion = max(1, _PORTION // (steps * width))
    for first in range(0, m, portion):
        rows = min(portion, m - first)
        inputs = [(a[first:], 1, length), (factors, width, 0), (addends[first:], 0, width)]
        made.outer(rows, steps, sums[first:], width, inputs)
        seen.add(rows * count * steps)
    d[:, columns] = sums[:, :count]


def _rows(model: Model, a: Array, b: Array, c: Array) -> Array:
    """Without a compiler: every pair of a row and a column, one instruction after the other."""
    m, n = c.shape
    words = c.reshape(-1)
    for first in range(0, a.shape[1], model.k):
        left = np.repeat(a[:, first : first + model.k], n, axis=0)
        right = np.tile(b[first : first + model.k].T, (m, 1))
        words = run_words(model, left, right, words)
    return words.reshape(m, n)


def _check_memory(m: int, n: int, model: Model) -> None:
    """Refuse results that do not fit, before any work."""
    needed = m * n * (2 * dtype_of(model.d_format).itemsize + dtype_of(model.c_format).itemsize)
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return
    if needed > free:
        raise TcsmtError(
            f"a result of {m} x {n} needs {needed / 2**30:.1f} GiB, and {free / 2**30:.1f} GiB are free: "
            "take blocks of rows or columns"
        )
