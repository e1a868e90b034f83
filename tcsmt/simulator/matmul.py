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

from tcsmt.arithmetic.formats import FORMATS
from tcsmt.arithmetic.integer_format import IntegerFormat
from tcsmt.arithmetic.words import dtype_of, from_words, to_words, unsigned
from tcsmt.interpret import jit
from tcsmt.models import IeeeDotAdd, Model, Operands
from tcsmt.simulator.compiled import Kernel, compiled, in_threads, kernel
from tcsmt.simulator.rows import WORTH_COMPILING, Words, are_nan, run_words, simulate, with_one_nan
from tcsmt.support.errors import TcsmtError

__all__ = ["SEQUENTIAL", "Reduction", "gemm", "promoted", "split_k"]

Array = np.ndarray[Any, np.dtype[Any]]

#: Dot-adds between two looks at the keyboard and the progress bar.
_PORTION = 1 << 22


@dataclass(frozen=True)
class Reduction:
    """The order in which products are added up beyond one instruction.

    parts: a function from K to slices of the K indices. A chain of instructions sums each slice. The first
    chain starts with C if there is one slice; if there are several, each chain starts with +0, and their sums
    are added to C in order (without C, to the first sum), by IEEE additions in the output format, as a kernel
    does that keeps partial sums in ordinary registers; integers by additions that wrap.
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
        raise TcsmtError(f"split_k({parts}): the number of parts must be 1 or more")
    return Reduction(f"split-k:{parts}", lambda length: _slices(-(-length // parts), length))


def promoted(every: int) -> Reduction:
    """A new chain after every so many products, its sum promoted to a second accumulator.

    DeepGEMM does so for FP8 on Hopper with every = 128 (DeepSeek-V3's N_C).
    """
    if every < 1:
        raise TcsmtError(f"promoted({every}): the number of products must be 1 or more")
    return Reduction(f"promote:{every}", partial(_slices, every))


def gemm(
    a: Any,
    b: Any,
    c: Any = None,
    *,
    model: Model,
    alpha: float = 1.0,
    beta: float = 1.0,
    scale_a: Any = None,
    scale_b: Any = None,
    reduction: Reduction = SEQUENTIAL,
    progress: Callable[[int, int], None] | None = None,
) -> Array:
    """``alpha·A·B + beta·C`` on the unit: an array (M, N) of the output format's dtype.

    a: (M, K). b: (K, N). c: (M, N), or None for zeros. Dtypes as for :func:`tcsmt.simulator.rows.simulate`.
    model: of the unit.
    alpha, beta: with both 1, C is the first instruction's c. Otherwise the accumulators begin with
    +0, and a kernel's epilogue follows, in FP32 (FP64 for FP64 output): fma(sum, alpha, beta·C),
    beta·C rounded on its own (left out where beta is 0), then a rounding to the output format. Units with
    integer results take no other alpha and beta than 1.
    scale_a, scale_b: for units with block scales, (M, K / block) and (K / block, N), where block is
    k / model.scales.
    reduction: see :class:`Reduction`.
    progress(done, all): called now and then, with numbers of dot-adds.
    Raises :class:`.TcsmtError` before any work for shapes, dtypes and values that do
    not fit, and for results that do not fit in memory.
    """
    left, right = to_words(model.a_format, a, "A"), to_words(model.b_format, b, "B")
    for words, name in ((left, "A"), (right, "B")):
        if words.ndim != 2 or 0 in words.shape:
            raise TcsmtError(
                f"{name} has shape {words.shape}: must be a matrix with at least one row and one column"
            )
    (m, length), (other, n) = left.shape, right.shape
    if length != other:
        raise TcsmtError(
            f"A {left.shape} and B {right.shape}: the number of columns of A must equal "
            "the number of rows of B"
        )
    parts = [part for part in reduction.parts(length) if range(*part.indices(length))]
    chained = len(parts) > 1 or length > model.k
    if chained and model.c_format != model.d_format:
        raise TcsmtError(
            f"K = {length}: the unit takes c in {model.c_format.name} and gives {model.d_format.name}, "
            f"so that its instructions cannot be chained; K is at most {model.k}"
        )
    scales = _scales(model, Operands(left, right, c, scale_a, scale_b), parts)
    _check_memory(m, n, model)
    c_words = None if c is None or beta == 0 else to_words(model.c_format, c, "C")
    if c is not None and np.shape(c) != (m, n):
        raise TcsmtError(f"C has shape {np.shape(c)}: must be {(m, n)}, the shape of A·B")
    plain = alpha == 1 and (beta == 1 or c_words is None)
    if isinstance(model.d_format, IntegerFormat):
        _check_integers(model.d_format, len(parts), plain)
    elif dtype_of(model.d_format).kind == "u" and not (plain and len(parts) == 1):
        raise TcsmtError(
            f"the unit's results are {model.d_format.name} words, for which a kernel has no addition but the "
            "unit's own: alpha and beta must be 1, the reduction sequential"
        )
    start = np.zeros((m, n), dtype=unsigned(model.c_format))
    if plain and len(parts) == 1 and c_words is not None:
        start = c_words
    instructions = sum(-(-len(range(*part.indices(length))) // model.k) for part in parts)
    seen = _Progress(instructions * m * n, progress)
    sums = [
        from_words(model.d_format, _chain(model, Operands(left[:, part], right[part], start, *scale), seen))
        for part, scale in zip(parts, scales, strict=True)
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


def _check_integers(fmt: IntegerFormat, parts: int, plain: bool) -> None:
    """Refuse what a kernel would do to integer results in other numbers than theirs."""
    if not plain:
        raise TcsmtError(f"alpha and beta must be 1: the unit's results are integers ({fmt.name})")
    if parts > 1 and fmt.width != unsigned(fmt).itemsize * 8:
        raise TcsmtError(f"{parts} partial sums: no register adds words of {fmt.width} bits ({fmt.name})")


class _Progress:
    def __init__(self, total: int, report: Callable[[int, int], None] | None) -> None:
        self.done, self.total, self.report, self.lock = 0, total, report, Lock()

    def add(self, dot_adds: int) -> None:
        with self.lock:
            self.done += dot_adds
            if self.report is not None:
                self.report(self.done, self.total)


#: Of which operands the rows run along K; of the others, but c, the columns do.
_ROWS_ALONG_K = ("a", "scale_a")


def _padded(x: Words, model: Model) -> Words:
    """Matrices with zeros up to a multiple of the instruction's K, and rows contiguous."""
    steps = -(-x.a.shape[1] // model.k)
    each = {"a": model.k, "b": model.k, "scale_a": model.scales, "scale_b": model.scales}

    def fill(name: str, matrix: Array) -> Array:
        width = [(0, 0), (0, 0)]
        axis = 1 if name in _ROWS_ALONG_K else 0
        width[axis] = (0, steps * each[name] - matrix.shape[axis])
        return np.ascontiguousarray(np.pad(matrix, width))

    return Operands(**{name: m if name == "c" else fill(name, m) for name, m in x.named.items()})


def _scales(
    model: Model, x: Operands[Array, Any], parts: Sequence[slice]
) -> list[tuple[Array, Array] | tuple[()]]:
    """The scales of each part of K, of whole matrices a and b."""
    (m, length), n = x.a.shape, x.b.shape[1]
    fmt, scale_a, scale_b = model.scale_format, x.scale_a, x.scale_b
    for name, scale in (("scale_a", scale_a), ("scale_b", scale_b)):
        if fmt is None and scale is not None:
            raise TcsmtError(f"{name} is given, but the unit has no block scales")
        if fmt is not None and scale is None:
            raise TcsmtError(f"{name} is missing: the unit takes one {fmt.name} scale for each block")
    if fmt is None or scale_a is None or scale_b is None:
        return [()] * len(parts)
    block = model.k // model.scales
    count = -(-length // block)
    left, right = to_words(fmt, scale_a, "scale_a"), to_words(fmt, scale_b, "scale_b")
    for name, words, wanted in (("scale_a", left, (m, count)), ("scale_b", right, (count, n))):
        if words.shape != wanted:
            raise TcsmtError(f"{name} has shape {words.shape}: with blocks of {block} along K it is {wanted}")
    found: list[tuple[Array, Array] | tuple[()]] = []
    for part in parts:
        first, last, step = part.indices(length)
        if step != 1 or first % block or (last % block and last != length):
            raise TcsmtError(f"K from {first} to {last}: a part must be made of whole blocks of {block}")
        place = slice(first // block, -(-last // block))
        found.append((left[:, place], right[place]))
    return found


def _chain(model: Model, matrices: Words, seen: _Progress) -> Array:
    """Words in, words out: one chain of instructions along K for every element."""
    plain = with_one_nan(model)
    if plain is not None:
        return _with_nans(model, matrices, _chain(plain, matrices, seen))
    matrices = _padded(matrices, model)
    c = matrices.c
    dot_adds = c.size * (matrices.a.shape[1] // model.k)
    result = np.empty(c.shape, dtype=unsigned(model.d_format))
    if jit.available() and model.c_format == model.d_format and (
        dot_adds >= WORTH_COMPILING or compiled(model)
    ):  # fmt: skip
        made = kernel(model)
        columns = range(0, c.shape[1], made.width)
        in_threads(lambda column: _panel(made, model, matrices, result, column, seen), columns)
        return result
    rows = max(1, WORTH_COMPILING // c.shape[1])
    for first in range(0, c.shape[0], rows):
        part = slice(first, first + rows)
        result[part] = _rows(model, matrices, part)
        seen.add(dot_adds * len(c[part]) // c.shape[0])
    return result


def _with_nans(model: Model, matrices: Words, result: Array) -> Array:
    """The result of a chain whose NaNs are any words: with those of the model's rule."""
    i, j = np.nonzero(are_nan(model, result))
    if i.size:
        padded = _padded(matrices, model)
        words = matrices.c[i, j]
        for first in range(0, padded.a.shape[1], model.k):
            lanes = slice(first, first + model.k)
            words = run_words(model, Operands(padded.a[i, lanes], padded.b[lanes, j].T, words))
        result[i, j] = words
    return result


def _panel(made: Kernel, model: Model, matrices: Words, d: Array, column: int, seen: _Progress) -> None:
    """All rows of as many columns as a vector holds."""
    m, width = d.shape[0], made.width
    count = min(width, d.shape[1] - column)
    columns = slice(column, column + count)

    def panel(array: Array) -> Array:
        filled = np.zeros((len(array), width), dtype=array.dtype)
        filled[:, :count] = array[:, columns]
        return filled

    sums = np.empty((m, width), dtype=d.dtype)
    panels = {
        name: matrix if name in _ROWS_ALONG_K else panel(matrix) for name, matrix in matrices.named.items()
    }
    steps = matrices.a.shape[1] // model.k
    portion = max(1, _PORTION // (steps * width))
    for first in range(0, m, portion):
        rows = min(portion, m - first)
        inputs = []
        for name, words in panels.items():
            if name == "c":
                inputs.append((words[first:], 0, width))
            elif name in _ROWS_ALONG_K:
                inputs.append((words[first:], 1, words.shape[1]))
            else:
                inputs.append((words, width, 0))
        made.outer(rows, steps, sums[first:], width, inputs)
        seen.add(rows * count * steps)
    d[:, columns] = sums[:, :count]


def _rows(model: Model, matrices: Words, part: slice) -> Array:
    """Without a compiler: every pair of a row and a column, one instruction after the other."""
    m, n = matrices.c[part].shape
    steps = matrices.a.shape[1] // model.k
    words = matrices.c[part].reshape(-1)

    def pairs(name: str, matrix: Array, step: int) -> Array:
        if name == "c":
            return words
        if name in _ROWS_ALONG_K:
            each = matrix.shape[1] // steps
            return np.repeat(matrix[part, step * each : (step + 1) * each], n, axis=0)
        each = matrix.shape[0] // steps
        return np.tile(matrix[step * each : (step + 1) * each].T, (m, 1))

    for step in range(steps):
        operands = {name: pairs(name, matrix, step) for name, matrix in matrices.named.items()}
        words = run_words(model, Operands(**operands))
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
