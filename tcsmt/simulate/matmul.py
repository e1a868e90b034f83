"""Chains of a unit's instructions for every element of a matrix product, of any shape.

Every element of D is a chain of the unit's instructions along K, each result the next one's c. The
edges are padded with zeros, as kernels do; a zero product cannot change a bit, since the first
instruction's c (or its zero) already enters the maximum exponent at or above the zero products'.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any

import numpy as np

from tcsmt.language.run import jit
from tcsmt.matrix_units.arithmetic.words import from_words, to_words, unsigned
from tcsmt.matrix_units.models import Model, Operands
from tcsmt.simulate.compiled import AdaptiveDispatch, ColumnCode, compiled, in_threads, kernel
from tcsmt.simulate.forms.proved_forms import with_canonical_nan
from tcsmt.simulate.rows import WORTH_COMPILING, Words, are_nan, run_words
from tcsmt.support.errors import TcsmtError

Array = np.ndarray[Any, np.dtype[Any]]

#: Dot-adds between two looks at the keyboard and the progress bar.
_PORTION = 1 << 22


def chained(
    a: Any, b: Any, c: Any, *, model: Model, progress: Callable[[int, int], None] | None = None
) -> Array:
    """Return ``A·B + C`` by a chain of the unit's instructions along K: (M, N) of the output's dtype.

    a: (M, K). b: (K, N). c: (M, N). Dtypes as for :func:`tcsmt.simulate.rows.simulate`. For units without
    block scales. progress(done, all): called now and then, with numbers of dot-adds.
    Raises :class:`.TcsmtError` for shapes, dtypes and values that do not fit.
    """
    left, right = to_words(model.a_format, a, "A"), to_words(model.b_format, b, "B")
    check_shapes(left, right)
    start = to_words(model.c_format, c, "C")
    if start.shape != (len(left), right.shape[1]):
        shape = len(left), right.shape[1]
        raise TcsmtError(f"C has shape {start.shape}: must be {shape}, the shape of A·B")
    check_chain(model, left.shape[1])
    seen = Progress(-(-left.shape[1] // model.k) * start.size, progress)
    return from_words(model.d_format, chain_words(model, Operands(left, right, start), seen))


def check_shapes(a: Array, b: Array) -> None:
    """Raises :class:`.TcsmtError` where words are not matrices (M, K) and (K, N) that can be multiplied."""
    for words, name in ((a, "A"), (b, "B")):
        if words.ndim != 2 or 0 in words.shape:
            raise TcsmtError(
                f"{name} has shape {words.shape}: must be a matrix with at least one row and one column"
            )
    if a.shape[1] != b.shape[0]:
        raise TcsmtError(
            f"A {a.shape} and B {b.shape}: the number of columns of A must equal the number of rows of B"
        )


def check_chain(model: Model, length: int) -> None:
    """Raises :class:`.TcsmtError` where so many products need a chain that the unit cannot make."""
    if length > model.k and model.c_format != model.d_format:
        raise TcsmtError(
            f"K = {length}: the unit takes c in {model.c_format.name} and gives {model.d_format.name}, "
            f"so that its instructions cannot be chained; K is at most {model.k}"
        )


class Progress:
    """The number of dot-adds that are done; threads add to it."""

    def __init__(self, total: int, report: Callable[[int, int], None] | None) -> None:
        self.done, self.total, self.report, self.lock = 0, total, report, Lock()

    def add(self, dot_adds: int) -> None:
        """Count so many more as done."""
        with self.lock:
            self.done += dot_adds
            if self.report is not None:
                self.report(self.done, self.total)


#: Of which operands the rows run along K; of the others, but c, the columns do.
_ROWS_ALONG_K = ("a", "scale_a")


def _padded(x: Words, model: Model) -> Words:
    """Return matrices with zeros up to a multiple of the instruction's K, and rows contiguous."""
    steps = -(-x.a.shape[1] // model.k)
    each = {"a": model.k, "b": model.k, "scale_a": model.scales, "scale_b": model.scales}

    def fill(name: str, matrix: Array) -> Array:
        width = [(0, 0), (0, 0)]
        axis = 1 if name in _ROWS_ALONG_K else 0
        width[axis] = (0, steps * each[name] - matrix.shape[axis])
        return np.ascontiguousarray(np.pad(matrix, width))

    return Operands.of({name: m if name == "c" else fill(name, m) for name, m in x.named.items()})


def chain_words(model: Model, matrices: Words, seen: Progress) -> Array:
    """Run one chain of instructions along K for every element: words in, words out.

    matrices: words: a of shape (M, K), b of (K, N), c of (M, N). Returns words of shape (M, N) and of
    ``unsigned(model.d_format)``.
    """
    plain = with_canonical_nan(model)
    if plain is not None:
        return _with_nans(model, matrices, chain_words(plain, matrices, seen))
    matrices = _padded(matrices, model)
    c = matrices.c
    dot_adds = c.size * (matrices.a.shape[1] // model.k)
    result = np.empty(c.shape, dtype=unsigned(model.d_format))
    if (
        jit.available()
        and model.c_format == model.d_format
        and (dot_adds >= WORTH_COMPILING or compiled(model))
    ):
        made = kernel(model).columns()
        matrices = replace(matrices, a=made.ordered(matrices.a, 1), b=made.ordered(matrices.b, 0))
        columns = range(0, c.shape[1], made.width)
        of_a = made.prepare("a", matrices.a)
        in_threads(lambda column: _panel(made, model, matrices, of_a, result, column, seen), columns)
        return result
    rows = max(1, WORTH_COMPILING // c.shape[1])
    for first in range(0, c.shape[0], rows):
        part = slice(first, first + rows)
        result[part] = _rows(model, matrices, part)
        seen.add(dot_adds * len(c[part]) // c.shape[0])
    return result


def _with_nans(model: Model, matrices: Words, result: Array) -> Array:
    """Return the result of a chain whose NaNs are any words: with those of the model's rule."""
    i, j = np.nonzero(are_nan(model, result))
    if i.size:
        padded = _padded(matrices, model)
        words = matrices.c[i, j]
        for first in range(0, padded.a.shape[1], model.k):
            lanes = slice(first, first + model.k)
            words = run_words(model, Operands(padded.a[i, lanes], padded.b[lanes, j].T, words))
        result[i, j] = words
    return result


#: Bytes of what is prepared of a panel's columns that some rows take before what comes next of it, and how
#: many rows: both stay in caches, and the rows' pages in the table of pages. Measured with K up to 8192.
_NEAR, _ROWS = 1 << 18, 1024
#: Rows on which a form in floating-point operations is tried first, and which share of them may fail.
_FIRST, _FAILING = 16, 1 / 4


def _panel(
    made: ColumnCode, model: Model, matrices: Words, of_a: Sequence[Array], d: Array, column: int,
    seen: Progress,
) -> None:  # fmt: skip
    """Compute all rows of as many columns as a vector holds. of_a: what is prepared of A."""
    m, width = d.shape[0], made.width
    count = min(width, d.shape[1] - column)
    columns = slice(column, column + count)

    def panel(array: Array) -> Array:
        filled = np.zeros((len(array), width), dtype=array.dtype)
        filled[:, :count] = array[:, columns]
        return filled

    panels = {
        name: matrix if name in _ROWS_ALONG_K else panel(matrix) for name, matrix in matrices.named.items()
    }
    steps, blocks = matrices.a.shape[1] // made.k, model.k // made.k
    of_b = made.prepare("b", panels["b"])
    near = max(1, steps // blocks * _NEAR // (sum(words.nbytes for words in of_b) or _NEAR)) * blocks
    portion = max(1, _PORTION // (near * width))
    portion = min(portion, _ROWS if of_b else m)
    pair, trial = np.empty((2, portion, width), dtype=d.dtype), AdaptiveDispatch(_FIRST, _FAILING)
    c = panels.pop("c")
    for first in range(0, m, portion):
        rows, before = min(portion, m - first), c[first:]
        for number, step in enumerate(range(0, steps, near)):
            inputs = []
            for name, words in panels.items():
                if name in _ROWS_ALONG_K:
                    start = step * (words.shape[1] // steps)
                    inputs.append((words[first:, start:], 1, words.shape[1]))
                else:
                    inputs.append((words[step * (len(words) // steps) :], width, 0))
            inputs.insert(2, (before, 0, width))
            place, chained, after = step * made.k, min(near, steps - step), pair[number % 2]
            prepared = [*(words[first:, place:] for words in of_a), *(words[place:] for words in of_b)]
            made.run(rows, chained, after, inputs, prepared, trial)
            seen.add(rows * count * (chained // blocks))
            before = after
        d[first : first + rows, columns] = before[:rows, :count]


def _rows(model: Model, matrices: Words, part: slice) -> Array:
    """Compute without a compiler: every pair of a row and a column, one instruction after the other."""
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
        words = run_words(model, Operands.of(operands))
    return words.reshape(m, n)
