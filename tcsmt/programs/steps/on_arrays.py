"""The reading of programs on arrays of words: rows, or matrices, of any length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from tcsmt.language.run.arrays import Program
from tcsmt.language.terms import var
from tcsmt.matrix_units.arithmetic.any_format import AnyFormat
from tcsmt.matrix_units.arithmetic.formats import Format, float_format
from tcsmt.matrix_units.arithmetic.integer_format import IntegerFormat
from tcsmt.matrix_units.arithmetic.nan_words import NanWords
from tcsmt.matrix_units.arithmetic.rounding import Rounding
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.models import Model, Operands
from tcsmt.programs.steps import outside
from tcsmt.programs.steps.program import Indices, ProductRun
from tcsmt.programs.steps.split import Split
from tcsmt.simulate.matmul import Progress, chain_words
from tcsmt.simulate.rows import run_words
from tcsmt.support.errors import InternalError

Array = np.ndarray[Any, np.dtype[Any]]
#: The words of a chain: of a unit, its operands, what it multiplies, and the words of its c (None: +0).
Chain = Callable[[Model, Sequence[Any], Sequence[ProductRun], Array | None], Array]


@dataclass(frozen=True)
class ArrayRules:
    """The rules of each step on arrays of words. Values without axes have one shape.

    of_chain: runs the unit's chains. nans: which words NaN results of the other steps have.
    """

    shape: tuple[int, ...]
    of_chain: Chain
    nans: NanWords

    def split(self, x: Array, *, split: Split, side: str) -> list[Array]:
        """Return the words, each an array of x's shape."""
        return split_words(split, x)

    def chain(self, c: Array | None, *operands: Any, unit: Model, runs: Sequence[ProductRun]) -> Array:
        """As ``of_chain`` has it: words of ``shape``."""
        return self.of_chain(unit, operands, runs, c)

    def constant(self, *, fmt: AnyFormat, word: int) -> Array:
        """An array of ``shape`` and of ``unsigned(fmt)``, of the same word."""
        return np.full(self.shape, word, unsigned(fmt))

    def add(self, x: Array, y: Array, *, fmt: AnyFormat, shift: int, rounding: Rounding) -> Array:
        """x·2^-shift + y: words of ``unsigned(fmt)``; x has ``shape``, to which y broadcasts."""
        y = np.ascontiguousarray(np.broadcast_to(y, self.shape))
        if isinstance(fmt, IntegerFormat):
            return np.asarray(x + y)
        return outside.scaled_and_added(float_format(fmt), x, shift, y, rounding, self.nans)

    def multiply_add(self, x: Array, y: Array, z: Array, *, fmt: Format) -> Array:
        """x·y + z: words of ``shape`` and of ``unsigned(fmt)``."""
        return outside.multiplied_and_added(fmt, x, y, z, self.nans)

    def negate(self, x: Array, *, fmt: Format) -> Array:
        """Each word with the other sign."""
        return np.asarray(x ^ x.dtype.type(1 << fmt.sign_bit))

    def convert(
        self, x: Array, *, source: Format, target: Format, rounding: Rounding, saturate: bool
    ) -> Array:
        """Each word in another format, of the same shape."""
        return outside.converted(x, source, target, rounding, saturate=saturate, nans=self.nans)

    def convert_randomly(
        self, x: Array, random: Array, *, source: Format, target: Format, bits: int, saturate: bool
    ) -> Array:
        """Each word in another format, by its own random bits: integers below 2^bits, of the same shape."""
        return outside.stochastic(x, source, target, random, bits, saturate=saturate, nans=self.nans)


def no_chain(unit: Model, operands: Sequence[Any], runs: Sequence[ProductRun], c: Array | None) -> Array:
    """Raise :class:`.InternalError`: what is read has no products."""
    raise InternalError("a chain of instructions where there are no products")


def split_words(split: Split, numbers: Array) -> list[Array]:
    """Return the words of an array of words of the wide format, the largest first: arrays of its shape."""
    flat = _splitter(split).run({"x": numbers.reshape(-1)})
    dtype = unsigned(split.format)
    return [word.astype(dtype).reshape(numbers.shape) for word in flat]


@lru_cache(maxsize=64)
def _splitter(split: Split) -> Program:
    return Program(split.apply(var("x", split.wide.width)))


def along(operand: Any, runs: Sequence[ProductRun], side: int, axis: int, k: int) -> Array:
    """Return the words that runs take of an operand, one after the other, each run but a single one filled
    up with zeros to whole instructions.

    operand: words, or the words of a split. side: 0 for the left operand, 1 for the right one. axis: of the
    words, along which K runs. k: the instruction's. A single run of indices in a row is not copied.
    """
    parts = []
    for run in runs:
        words = operand if run.words is None else operand[run.words[side]]
        place = _place(run.indices)
        part = words[:, place] if axis else words[place]
        if len(runs) > 1 and (spare := -part.shape[axis] % k):
            width = [(0, 0), (0, 0)]
            width[axis] = (0, spare)
            part = np.pad(part, width)
        parts.append(part)
    return parts[0] if len(parts) == 1 else np.ascontiguousarray(np.concatenate(parts, axis=axis))


def _place(indices: Indices) -> slice | Indices:
    """As a slice where the indices follow each other, so that nothing is copied."""
    first, last = int(indices[0]), int(indices[-1])
    return slice(first, last + 1) if last - first + 1 == len(indices) else indices


def of_matrices(unit: Model, operands: Sequence[Any], runs: Sequence[ProductRun], c: Array | None) -> Array:
    """Return a chain on matrices of words: (M, K), (K, N) and (M, N)."""
    x, y = along(operands[0], runs, 0, 1, unit.k), along(operands[1], runs, 1, 0, unit.k)
    start = np.zeros((len(x), y.shape[1]), unsigned(unit.c_format)) if c is None else c
    return chain_words(unit, Operands(x, y, start), Progress(0, None))


def of_rows(unit: Model, operands: Sequence[Any], runs: Sequence[ProductRun], c: Array | None) -> Array:
    """Return a chain on rows of words: (rows, K) both, and (rows,)."""
    x, y = (along(operand, runs, side, 1, unit.k) for side, operand in enumerate(operands))
    if spare := -x.shape[1] % unit.k:
        x, y = (np.pad(words, ((0, 0), (0, spare))) for words in (x, y))
    words = np.zeros(len(x), unsigned(unit.c_format)) if c is None else c
    for first in range(0, x.shape[1], unit.k):
        lanes = slice(first, first + unit.k)
        words = run_words(unit, Operands(x[:, lanes], y[:, lanes], words))
    return words
