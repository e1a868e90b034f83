"""Algorithms and emulations on arrays: rows or matrices of any length, through the unit's compiled simulator.

They are the programs that solvers are asked about (:meth:`Algorithm.program`), read on arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.conversion import QUIET
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.words import from_words, to_words
from tcsmt.programs.recipes.algorithm import Algorithm
from tcsmt.programs.recipes.emulation.schemes import Emulation
from tcsmt.programs.steps.on_arrays import ArrayRules, Chain, matrix_words, of_matrices, of_rows
from tcsmt.programs.steps.program import read
from tcsmt.support.errors import TcsmtError

Array = np.ndarray[Any, np.dtype[Any]]


def simulate(algorithm: Algorithm | Emulation, a: Any, b: Any, c: Any = 0.0) -> Array:
    """c + Σ a·b by the algorithm for every row: an array (rows,) of float32, or float64 of an emulation.

    a, b: (rows, length), numbers or words of the wide format, any length of 1 or more; c: (rows,) or one
    number. Where the wide format is no dtype's: unsigned words of it, the results as well.
    Raises :class:`.TcsmtError` for shapes and values that do not fit.
    """
    number = np.float64 if algorithm.wide.name == "f64" else np.float32
    left, right, start = row_words(algorithm.wide, a, b, c, number)
    return _run(algorithm, left, right, start, of_rows)


def multiply(algorithm: Algorithm | Emulation, a: Any, b: Any, c: Any = None) -> Array:
    """A·B + C by the algorithm: an array (M, N) of float32, or float64 of an emulation.

    a: (M, K), b: (K, N), c: (M, N) or None for zeros: numbers or words of the wide format.
    Raises :class:`.TcsmtError` for shapes and values that do not fit.
    """
    left, right, start = matrix_words((algorithm.wide,) * 3, a, b, c)
    return _run(algorithm, left, right, start, of_matrices)


def row_words(wide: Format, a: Any, b: Any, c: Any, number: type[Any]) -> tuple[Array, Array, Array]:
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


def _run(algorithm: Algorithm | Emulation, a: Array, b: Array, c: Array, chain: Chain) -> Array:
    program = algorithm.program(a.shape[1])
    total = read(program, ArrayRules(c.shape, chain, QUIET), {"A": a, "B": b, "c": c})
    return from_words(algorithm.wide, total)
