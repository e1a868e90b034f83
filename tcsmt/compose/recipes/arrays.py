"""Algorithms on arrays: rows or matrices of any length, through the unit's compiled simulator.

The same chains as in :meth:`Algorithm.apply`: a chain of several products is one long dot product
on the unit, its operands written one after the other and padded with zeros to whole instructions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from tcsmt.compose.recipes.algorithm import Algorithm, Step
from tcsmt.compose.recipes.split import Split
from tcsmt.language.run.arrays import Program
from tcsmt.language.terms import var
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.words import from_words, to_words, unsigned
from tcsmt.matrix_units.models import Kind, Model, Operands
from tcsmt.simulate.matmul import chained
from tcsmt.simulate.rows import run_words
from tcsmt.support.errors import TcsmtError

__all__ = [
    "chain_of_products", "chain_of_rows", "matrix_words", "multiply", "row_words", "simulate", "words",
]  # fmt: skip

Array = np.ndarray[Any, np.dtype[Any]]


def simulate(algorithm: Algorithm, a: Any, b: Any, c: Any = 0.0) -> Array:
    """c + Σ a·b by the algorithm for every row: an array (rows,) of float32.

    a, b: (rows, length), float32 or uint32 words, any length of 1 or more; c: (rows,) or one number.
    Where the wide format is not binary32: unsigned words of it, the results as well.
    Raises :class:`.TcsmtError` for shapes and values that do not fit.
    """
    left, right, start = row_words(algorithm.wide, a, b, c)
    return _run(algorithm, left, right, start, partial(chain_of_rows, algorithm.unit), axis=1)


def multiply(algorithm: Algorithm, a: Any, b: Any, c: Any = None) -> Array:
    """A·B + C by the algorithm: an array (M, N) of float32.

    a: (M, K), b: (K, N), c: (M, N) or None for zeros, float32 or uint32 words.
    Raises :class:`.TcsmtError` for shapes and values that do not fit.
    """
    left, right, start = matrix_words(algorithm.wide, a, b, c)
    return _run(algorithm, left, right, start, partial(chain_of_products, algorithm.unit), axis=0)


def row_words(
    wide: Format, a: Any, b: Any, c: Any, number: type[Any] = np.float32
) -> tuple[Array, Array, Array]:
    """Return the words of rows: a and b (rows, length), c (rows,). c: one for each row, or one, as this
    number.

    Raises :class:`.TcsmtError` for shapes and values that do not fit.
    """
    left, right = to_words(wide, a, "a"), to_words(wide, b, "b")
    if left.ndim != 2 or left.shape != right.shape or 0 in left.shape:
        raise TcsmtError(
            f"a has shape {left.shape}, b {right.shape}: both must have the same shape, (rows, length)"
        )
    addend = to_words(wide, c if isinstance(c, np.ndarray) else number(c), "c")
    if addend.shape not in ((), (len(left),)):
        raise TcsmtError(f"c has shape {addend.shape}: must be ({len(left)},) or one number")
    return left, right, np.ascontiguousarray(np.broadcast_to(addend, (len(left),)))


def matrix_words(wide: Format, a: Any, b: Any, c: Any) -> tuple[Array, Array, Array]:
    """Return the words of matrices: (M, K), (K, N) and (M, N). c: None for zeros.

    Raises :class:`.TcsmtError` for shapes and values that do not fit.
    """
    left, right = to_words(wide, a, "A"), to_words(wide, b, "B")
    if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[0] or 0 in left.shape + right.shape:
        raise TcsmtError(f"A has shape {left.shape}, B {right.shape}: must be (M, K) and (K, N)")
    shape = (left.shape[0], right.shape[1])
    start = np.zeros(shape, unsigned(wide)) if c is None else to_words(wide, c, "C")
    if start.shape != shape:
        raise TcsmtError(f"C has shape {start.shape}: must be {shape}, the shape of A·B")
    return left, right, start


def chain_of_rows(unit: Model, x: Array, y: Array, inside: Array) -> Array:
    """Return the unit's instructions one after the other on rows of words; the last one is padded with zeros.

    x, y: (rows, lanes). inside: (rows,), the words that the chains begin from. Returns words (rows,).
    """
    if spare := -x.shape[1] % unit.k:
        x, y = (np.pad(words, ((0, 0), (0, spare))) for words in (x, y))
    for first in range(0, x.shape[1], unit.k):
        lanes = slice(first, first + unit.k)
        inside = run_words(unit, Operands(x[:, lanes], y[:, lanes], inside))
    return inside


def chain_of_products(unit: Model, x: Array, y: Array, inside: Array) -> Array:
    """Return the same on matrices: (M, K), (K, N) and (M, N)."""
    return chained(x, y, inside, model=unit).view(inside.dtype)


Chain = Callable[[Array, Array, Array], Array]


def _run(algorithm: Algorithm, a: Array, b: Array, c: Array, chain: Chain, axis: int) -> Array:
    """``axis``: of b, along which the dot product runs (of a it is 1)."""
    left, right = words(algorithm.split, a), words(algorithm.split, b)

    def of_steps(steps: list[Step], inside: Array) -> Array:
        x = _operands(algorithm, left, [(i, part) for i, _, part in steps], 1)
        y = _operands(algorithm, right, [(j, part) for _, j, part in steps], axis)
        return chain(x, y, inside)

    total = algorithm.scheduled(a.shape[1], c, np.zeros_like(c), of_steps, _OutsideArrays(algorithm))
    return from_words(algorithm.wide, total)


def _operands(
    algorithm: Algorithm, split: Sequence[Array], order: Sequence[tuple[int, range]], axis: int
) -> Array:
    """Return the words that the steps take, one after the other, each step as long as an instruction."""
    parts = []
    for number, part in order:
        taken = split[number][:, part.start : part.stop] if axis else split[number][part.start : part.stop]
        width = [(0, 0), (0, 0)]
        width[axis] = (0, algorithm.unit.k - len(part))
        parts.append(np.pad(taken, width) if width[axis][1] else taken)
    return np.ascontiguousarray(np.concatenate(parts, axis=axis))


def words(split: Split, numbers: Array) -> list[Array]:
    """Return the words of an array of words of the wide format, the largest first: arrays of its shape."""
    flat = _splitter(split).run({"x": numbers.reshape(-1)})
    dtype = unsigned(split.format)
    return [word.astype(dtype).reshape(numbers.shape) for word in flat]


@lru_cache(maxsize=64)
def _splitter(split: Split) -> Program:
    return Program(split.apply(var("x", split.wide.width)))


@lru_cache(maxsize=64)
def _adder(algorithm: Algorithm, shift: int) -> Program:
    x, y = (var(name, algorithm.wide.width) for name in "xy")
    return Program([algorithm.plus(x, shift, y)])


@dataclass(frozen=True)
class _OutsideArrays:
    """Additions outside on arrays of words."""

    algorithm: Algorithm

    def plus(self, x: Array, shift: int, y: Array) -> Array:
        columns = {"x": x.reshape(-1), "y": y.reshape(-1)}
        (result,) = _adder(self.algorithm, shift).run(columns)
        return result.astype(x.dtype, copy=False).reshape(x.shape)

    def negated(self, x: Array) -> Array:
        sign: Array = x ^ x.dtype.type(1 << self.algorithm.wide.sign_bit)
        return sign

    def seen(self, kind: Kind, number: int | None, word: Array) -> Array:
        return word
