"""The reading of programs on arrays of words: rows, or matrices, of any length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from tcsmt.language.run.arrays import Program
from tcsmt.language.terms import var
from tcsmt.matrix_units.arithmetic.conversion import NanWords, integers_of_words
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, IntegerFormat, float_format
from tcsmt.matrix_units.arithmetic.rounding import Rounding
from tcsmt.matrix_units.arithmetic.words import to_words, unsigned
from tcsmt.matrix_units.models import Model, Operands
from tcsmt.programs.steps import digits, outside
from tcsmt.programs.steps.functions import FUNCTIONS
from tcsmt.programs.steps.program import Indices, NoRule, ProductRun, scaled_blocks
from tcsmt.programs.steps.slicing import Slicing
from tcsmt.programs.steps.split import Split
from tcsmt.programs.steps.trees import SumOrder, summed
from tcsmt.simulate.matmul import Progress, chain_words, check_shapes
from tcsmt.simulate.rows import run_words
from tcsmt.support.errors import InternalError, TcsmtError

Array = np.ndarray[Any, np.dtype[Any]]
#: The words of a chain: of a unit, its operands, what it multiplies, and the words of its c (None: +0).
Chain = Callable[[Model, Sequence[Any], Sequence[ProductRun], Array | None], Array]


@dataclass(frozen=True)
class ArrayRules:
    """The rules of each step on arrays of words. Values without axes have one shape.

    shape: (rows,), or (M, N) of matrices: what has axes A is (rows, K) or (M, K) then, of a row (rows,) or
    (M, 1); B is (rows, K) or (K, N), and of a column (rows,) or (1, N). Of stacks of matrices (..., M, N),
    and alike.
    of_chain: runs the unit's chains. nans: which words NaN results of the other steps have.
    """

    shape: tuple[int, ...]
    of_chain: Chain
    nans: NanWords

    def split(self, x: Array, *, split: Split, side: str) -> list[Array]:
        """Return the words, each an array of x's shape."""
        return split_words(split, x)

    def chain(self, c: Array | None, *operands: Any, unit: Model, runs: Sequence[ProductRun]) -> Array:
        """Return what ``of_chain`` gives: words of ``shape``."""
        return self.of_chain(unit, operands, runs, None if c is None else self._full(c))

    def chain_each(self, c: None, *operands: Any, unit: Model, runs: Sequence[ProductRun]) -> Array:
        """Return a chain for each member of a tile: words (M, members)."""
        if len(self.shape) == 1:
            raise NoRule("step chain_each: a tile is computed for matrices alone")
        return self.of_chain(unit, operands, runs, c)

    def padding(self, c: Array, *, unit: Model) -> Array:
        """Return an instruction of zeros alone: words of ``shape``."""
        start = self._full(c).reshape(-1)
        lanes = np.zeros((len(start), unit.k), unsigned(unit.a_format))
        scales = (
            [np.zeros((len(start), unit.scales), unsigned(unit.scale_format))] * 2
            if unit.scale_format
            else []
        )
        zeros = Operands(lanes, lanes.astype(unsigned(unit.b_format)), start, *scales)
        return run_words(unit, zeros).reshape(self.shape)

    def constant(self, *, fmt: AnyFormat, word: int) -> Array:
        """An array of ``shape`` and of ``unsigned(fmt)``, of the same word, which is there once."""
        return np.broadcast_to(np.array(word, unsigned(fmt)), self.shape)

    def add(self, x: Array, y: Array, *, fmt: AnyFormat, shift: int, rounding: Rounding) -> Array:
        """x·2^-shift + y: words of ``unsigned(fmt)``."""
        x, y = self._together(x, y)
        if isinstance(fmt, IntegerFormat):
            return outside.add(fmt, x, y)
        return outside.scaled_and_added(float_format(fmt), x, shift, y, rounding, self.nans)

    def multiply(self, x: Array, y: Array, *, fmt: AnyFormat, rounding: Rounding) -> Array:
        """x·y: words of ``unsigned(fmt)``."""
        x, y = self._together(x, y)
        return outside.multiplied(fmt, x, y, rounding, self.nans)

    def divide(self, x: Array, y: Array, *, fmt: Format, rounding: Rounding) -> Array:
        """x / y: words of ``unsigned(fmt)``."""
        x, y = self._together(x, y)
        return outside.divided(fmt, x, y, rounding, self.nans)

    def multiply_add(self, x: Array, y: Array, z: Array, *, fmt: Format) -> Array:
        """x·y + z: words of ``unsigned(fmt)``."""
        x, y, z = self._together(x, y, z)
        return outside.multiplied_and_added(fmt, x, y, z, self.nans)

    def negate(self, x: Array, *, fmt: AnyFormat) -> Array:
        """-x."""
        if isinstance(fmt, IntegerFormat):
            return outside.integers(fmt, -x)
        return np.asarray(x ^ x.dtype.type(1 << float_format(fmt).sign_bit))

    def absolute(self, x: Array, *, fmt: Format) -> Array:
        """|x|."""
        return np.asarray(x & x.dtype.type((1 << fmt.sign_bit) - 1))

    def power_of_two(self, x: Array, *, shift: int, up: bool) -> Array:
        """Return words of UE8M0."""
        return outside.powers_of_two(x, shift, up=up)

    def maximum(
        self, x: Array, y: Array | None = None, *, fmt: AnyFormat, nan: str, side: str = "a"
    ) -> Array:
        """Return the larger words of two, or the largest along an axis."""
        if y is not None:
            x, y = self._together(x, y)
            return outside.maximum(fmt, x, y, nan, self.nans)
        if isinstance(fmt, IntegerFormat) and not fmt.fraction_bits:
            rows = len(self.shape) == 1
            most = integers_of_words(fmt, x).max(1 if rows or side == "a" else 0, keepdims=not rows)
            return outside.integers(fmt, most.astype(unsigned(fmt)))
        return self._largest(self._words(x, side), fmt, nan)

    def block_maximum(self, x: Array, *, fmt: AnyFormat, nan: str, side: str, every: int) -> Array:
        """Return the largest words of blocks along K."""
        last = np.moveaxis(x, self._axis(side), -1)
        spare = -last.shape[-1] % every
        filled = np.pad(last, [*[(0, 0)] * (last.ndim - 1), (0, spare)], mode="edge")
        blocks = filled.reshape(*last.shape[:-1], -1, every)
        largest = self._largest([blocks[..., at] for at in range(every)], fmt, nan)
        return np.moveaxis(largest, -1, self._axis(side))

    def _largest(self, words: Sequence[Array], fmt: AnyFormat, nan: str) -> Array:
        return summed("pairs", words, lambda x, y: outside.maximum(fmt, x, y, nan, self.nans))

    def spread(self, x: Array, *, side: str, every: int, length: int) -> Array:
        """Return the word of each number's block."""
        axis = self._axis(side)
        return np.take(x, np.arange(length) // every, axis)

    def _axis(self, side: str) -> int:
        """Return along which axis the words of a row or a column lie."""
        return -2 if side == "b" and len(self.shape) > 1 else -1

    def compare(self, x: Array, y: Array, *, fmt: AnyFormat, relation: str) -> Array:
        """Return 1 where it holds, else 0."""
        x, y = self._together(x, y)
        return outside.compared(fmt, x, y, relation)

    def select(self, condition: Array, x: Array, y: Array, *, fmt: AnyFormat) -> Array:
        """Return x where the condition is 1, else y."""
        condition, x, y = self._together(condition, x, y)
        return np.where(condition != 0, x, y)

    def function(self, x: Array, *, name: str, fmt: Format) -> Array:
        """Return the nearest words of a function."""
        return FUNCTIONS[name](fmt, x, self.nans)

    def sum(self, x: Array, *, fmt: AnyFormat, tree: SumOrder, rounding: Rounding, side: str) -> Array:
        """Return the sum along an axis."""
        words = self._words(x, side)
        return tree.sum(words, lambda x, y: self.add(x, y, fmt=fmt, shift=0, rounding=rounding))

    def pick(self, x: Array, *, at: int, side: str) -> Array:
        """Return one of the words along an axis."""
        return self._words(x, side)[at]

    def convert(
        self, x: Array, *, source: AnyFormat, target: AnyFormat, rounding: Rounding, saturate: bool
    ) -> Array:
        """Each word in another format, of the same shape."""
        return outside.converted(x, source, target, rounding, saturate=saturate, nans=self.nans)

    def convert_randomly(
        self, x: Array, random: Array, *, source: Format, target: Format, bits: int, saturate: bool
    ) -> Array:
        """Each word in another format, by its own random bits: integers below 2^bits, of the same shape."""
        return outside.stochastic(x, source, target, random, bits, saturate=saturate, nans=self.nans)

    def exponent(self, x: Array, *, fmt: Format) -> Array:
        """Return exponents: words of :func:`.digits.exponent_format`."""
        (words,) = digits.on_words(digits.exponent, (fmt,), (fmt,), x)
        return words.astype(unsigned(digits.exponent_format(fmt)), copy=False)

    def digits(self, x: Array, top: Array, *, slicing: Slicing, fmt: AnyFormat) -> list[Array]:
        """Return the digits, the largest first: each an array of x's shape."""
        formats = slicing.wide, digits.exponent_format(slicing.wide)
        found = digits.on_words(digits.digits, (slicing, fmt), formats, *self._together(x, top))
        return [words.astype(unsigned(fmt), copy=False) for words in found]

    def residue(
        self, x: list[Array], *, source: IntegerFormat, fmt: AnyFormat, modulus: int, base: int, place: int
    ) -> Array:
        """Return the remainders of the first digits."""
        return digits.residues(source, fmt, modulus, base, place, x[0])

    def accumulate(self, x: Array, y: Array, *, source: AnyFormat, fmt: Format, shift: int) -> Array:
        """x·2^-shift + y: words of ``unsigned(fmt)``."""
        how = source, fmt, shift, self.nans.computed(fmt)
        (words,) = digits.on_words(digits.accumulated, how, (source, fmt), *self._together(x, y))
        return words.astype(unsigned(fmt), copy=False)

    def scale(
        self, x: Array, *exponents: Array, source: AnyFormat, powers: tuple[IntegerFormat, ...], fmt: Format,
        shift: int,
    ) -> Array:  # fmt: skip
        """x·2^(Σ exponents - shift): words of ``unsigned(fmt)``."""
        how = source, fmt, powers, shift, self.nans.computed(fmt)
        (words,) = digits.on_words(digits.scaled, how, (source, *powers), *self._together(x, *exponents))
        return words.astype(unsigned(fmt), copy=False)

    def exact_sum(
        self, *values: Array, sources: Sequence[AnyFormat], weights: Sequence[int], modulus: int
    ) -> Array:
        """Return remainders: words of :func:`.digits.remainder_format`."""
        return digits.exact_sums(sources, weights, modulus, values)

    def _full(self, x: Array) -> Array:
        return np.ascontiguousarray(np.broadcast_to(x, self.shape))

    def _words(self, x: Array, side: str) -> list[Array]:
        """Return the words along an axis: arrays of what belongs to a row, or to a column."""
        if len(self.shape) == 1:
            return list(x.T)
        if side == "b":
            return [x[..., at : at + 1, :] for at in range(x.shape[-2])]
        return [x[..., at : at + 1] for at in range(x.shape[-1])]

    def _together(self, *values: Array) -> tuple[Array, ...]:
        """Return values of one shape. What is along K or a tile has a word for each of a row's there."""
        if len({value.shape for value in values}) == 1:
            return values
        most = max(value.ndim for value in values)
        apart = (value if any(value.strides) else value[(0,) * value.ndim] for value in values)
        filled = (x[:, None] if 0 < x.ndim < most and len(self.shape) == 1 else x for x in apart)
        return tuple(map(np.ascontiguousarray, np.broadcast_arrays(*filled)))


def matrix_words(
    formats: tuple[AnyFormat, AnyFormat, AnyFormat], a: Any, b: Any, c: Any
) -> tuple[Array, Array, Array]:
    """Return the words of matrices: (M, K), (K, N) and (M, N). c: None for zeros.

    formats: of A, B and C. Raises :class:`.TcsmtError` for shapes and values that do not fit.
    """
    left, right = to_words(formats[0], a, "A"), to_words(formats[1], b, "B")
    check_shapes(left, right)
    shape = len(left), right.shape[1]
    start = np.zeros(shape, unsigned(formats[2])) if c is None else to_words(formats[2], c, "C")
    if start.shape != shape:
        raise TcsmtError(f"C has shape {start.shape}: must be {shape}, the shape of A·B")
    return left, right, start


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
    """Return a slice where the indices follow each other, so that nothing is copied."""
    first, last = int(indices[0]), int(indices[-1]) + 1
    return slice(first, last) if np.array_equal(indices, np.arange(first, last)) else indices


def of_matrices(
    unit: Model,
    operands: Sequence[Any],
    runs: Sequence[ProductRun],
    c: Array | None,
    seen: Progress | None = None,
) -> Array:
    """Return a chain on matrices of words: (M, K), (K, N), scales of their blocks, and (M, N)."""
    x, y = along(operands[0], runs, 0, 1, unit.k), along(operands[1], runs, 1, 0, unit.k)
    start = np.zeros((len(x), y.shape[1]), unsigned(unit.c_format)) if c is None else c
    scales = [_scales_along(unit, words, runs, 1 - side) for side, words in enumerate(operands[2:])]
    return chain_words(unit, Operands(x, y, start, *scales), seen or Progress(0, None))


def _scales_along(unit: Model, scales: Array, runs: Sequence[ProductRun], axis: int) -> Array:
    """Return the scales of the blocks of runs, each run's but a single one's filled up to whole
    instructions.
    """
    parts = []
    for run in runs:
        taken = scaled_blocks(unit, run.indices)
        part = np.take(scales, taken, axis)
        spare = -len(taken) % unit.scales if len(runs) > 1 else 0
        parts.append(np.pad(part, [(0, spare if number == axis else 0) for number in range(part.ndim)]))
    return np.concatenate(parts, axis=axis)


def of_rows(unit: Model, operands: Sequence[Any], runs: Sequence[ProductRun], c: Array | None) -> Array:
    """Return a chain on rows of words: (rows, K) both, scales of their blocks, and (rows,)."""
    long = [along(operand, runs, side, 1, unit.k) for side, operand in enumerate(operands[:2])]
    long += [_scales_along(unit, scales, runs, 1) for scales in operands[2:]]
    steps = -(-long[0].shape[1] // unit.k)
    each = [unit.k, unit.k, unit.scales, unit.scales][: len(long)]
    x, y, *scales = (
        np.pad(words, ((0, 0), (0, steps * width - words.shape[1])))
        for words, width in zip(long, each, strict=True)
    )
    words = np.zeros(len(x), unsigned(unit.c_format)) if c is None else c
    for step in range(steps):
        lanes, blocks = (slice(step * width, step * width + width) for width in (unit.k, unit.scales))
        words = run_words(
            unit, Operands(x[:, lanes], y[:, lanes], words, *(part[:, blocks] for part in scales))
        )
    return words
