"""Matrices of wide numbers as a unit's operands, by a recipe."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.conversion import UNKNOWN
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.matrix_units.arithmetic.words import dtype_of, from_words, operand_words, unsigned
from tcsmt.programs.quantisation.narrow import narrowed, wide
from tcsmt.programs.quantisation.recipe import OperandRecipe, Role
from tcsmt.programs.quantisation.scales import Scales, ScaleSteps
from tcsmt.programs.steps.builder import Builder
from tcsmt.programs.steps.on_arrays import ArrayRules, no_chain
from tcsmt.programs.steps.program import UnitProgram, read_values
from tcsmt.support.errors import TcsmtError

Array = np.ndarray[Any, np.dtype[Any]]
_F32 = np.dtype(np.float32)
#: Bits of binary32 below those of TF32.
_BELOW_TF32 = 13
#: Numbers of a block that is halved, instead of reduced at once.
_SHORT = 64


@dataclass(frozen=True)
class Quantised:
    """A matrix as a unit takes it: a number is its value times its block's scale times the whole factor.

    values: (..., rows, K), of the elements' dtype. format: theirs. scales: one for each block, (...,
    blocks of rows, blocks along K), of the dtype of their format; of one block for all, (); None: none.
    block: its rows and columns; 0: all. whole: a binary32 factor of all numbers (None: none). saturated: how
    many numbers were beyond the format's end, and became its last number or an infinity. flushed: how many
    became zero, and were not.
    """

    values: Array
    format: Format
    scales: Array | None
    block: tuple[int, int]
    whole: np.float32 | None
    saturated: int
    flushed: int

    def numbers(self) -> Array:
        """Return the numbers that it stands for, in binary64: exact, as both factors are at most 24 bits
        wide.

        Three factors may be rounded once: an element, its scale and the whole factor have 1 + 4 + 24 bits.
        """
        result = wide(self.values)
        if self.scales is not None:
            result *= self.scales_of_numbers().astype(np.float64)
        return result if self.whole is None else result * np.float64(self.whole)

    def scales_of_numbers(self) -> Array:
        """Return the scale of each number, to the shape of the values."""
        if self.scales is None:
            return np.ones((), np.float32)
        if self.scales.ndim == 0:
            return self.scales
        rows, columns = self.values.shape[-2:]
        scales = self.scales
        for axis, (size, each) in ((-2, (rows, self.block[0])), (-1, (columns, self.block[1]))):
            if each > 1:
                scales = np.repeat(scales, each, axis)
                scales = scales[..., :size] if axis == -1 else scales[..., :size, :]
        return scales


def quantise(matrix: Array, recipe: OperandRecipe, role: Role = "activation", form: str = "") -> Quantised:
    """A matrix, or a stack of matrices, by a recipe; blocks lie along the last dimension.

    matrix: (..., rows, K), binary32 or narrower floating-point numbers. role: what the matrix is. form: one
    of the recipe's formats for the role (default: the first one).
    Raises :class:`.TcsmtError` for other dtypes, and for numbers that a recipe's rounding has no word for.
    """
    fmt = FORMATS[form or recipe.formats_of(role)[0]]
    if recipe.rounding is not None:
        return _by_rule(matrix, fmt, recipe.rounding)
    if matrix.dtype != _F32:
        if matrix.dtype.itemsize > _F32.itemsize or matrix.dtype.kind in "iuc":
            raise TcsmtError(f"a matrix to quantise has dtype {matrix.dtype}: must be float32 or narrower")
        matrix = matrix.astype(np.float32)
    scales = recipe.scales_of(role)
    if scales is None:
        return _plain(matrix, fmt)
    return _scaled(matrix, fmt, scales)


def _by_rule(matrix: Array, fmt: Format, rule: str) -> Quantised:
    """Numbers rounded by a named rule, as the operands of :func:`tcsmt.gemm` are."""
    values = from_words(fmt, operand_words(fmt, matrix, "an operand", rule))
    with np.errstate(invalid="ignore"):  # a signalling NaN
        numbers = matrix.astype(np.float64)
    beyond = np.isfinite(numbers) & (
        np.abs(numbers) > float(fmt.largest_finite) + np.float64(_half_unit(fmt))
    )
    return Quantised(
        values, fmt, None, (0, 0), None, int(np.count_nonzero(beyond)), _flushed(values, fmt, numbers)
    )


def _plain(matrix: Array, fmt: Format) -> Quantised:
    if fmt.name == "tf32":
        values = _tf32(matrix)
    else:
        with np.errstate(all="ignore"):
            values = matrix.astype(dtype_of(fmt))
    infinite = int(np.count_nonzero(_magnitudes(values, fmt) == fmt.infinity_word)) if fmt.has_infinity else 0
    saturated = infinite and infinite - int(np.isinf(matrix).sum())
    return Quantised(values, fmt, None, (0, 0), None, saturated, _flushed(values, fmt, matrix))


def _tf32(matrix: Array) -> Array:
    """To nearest even by an integer addition; NaNs stay."""
    words = np.ascontiguousarray(matrix).view(np.uint32)
    half = np.uint32((1 << (_BELOW_TF32 - 1)) - 1)
    even = words >> np.uint32(_BELOW_TF32) & np.uint32(1)
    rounded = words + half + even & ~np.uint32((1 << _BELOW_TF32) - 1)
    nan = np.isnan(matrix)
    return (
        np.where(nan, np.float32(np.nan), rounded.view(np.float32)) if nan.any() else rounded.view(np.float32)
    )


def _scaled(matrix: Array, fmt: Format, scales: Scales) -> Quantised:
    *stack, rows, columns = matrix.shape
    high, long = scales.rows or max(rows, 1), scales.columns or max(columns, 1)
    blocks = _cut(matrix, high, long)
    largest = _largest(blocks)
    top = np.asarray(largest.max(initial=0.0))
    whole = scales.rows == scales.columns == 0
    factor, kept, factor_of_all, divides = _of_largest(scales, top if whole else largest, top, fmt)
    with np.errstate(all="ignore"):
        scaled = blocks / factor if divides else blocks * factor
    values = narrowed(scaled, fmt)
    beyond, saturated = np.float32(fmt.largest_finite) + _half_unit(fmt), 0
    if not (scaled.max(initial=0.0) <= beyond and scaled.min(initial=0.0) >= -beyond):
        saturated = int(np.count_nonzero(np.abs(scaled) > beyond))
    flushed = _flushed(values, fmt, blocks)
    joined = values.reshape(*stack, values.shape[-4] * high, values.shape[-2] * long)[..., :rows, :columns]
    kept = kept if whole else kept[..., :, 0, :, 0]
    return Quantised(joined, fmt, kept, (scales.rows, scales.columns), factor_of_all, saturated, flushed)


def _of_largest(
    scales: Scales, largest: Array, top: Array, fmt: Format
) -> tuple[Array, Array, np.float32 | None, bool]:
    """Return the factors of blocks, their scales, the factor of all, and whether factors divide: what a
    rule's steps make of the largest magnitudes.
    """
    program, steps = _scale_steps(scales, fmt)
    every = np.append(largest.reshape(-1), top).view(np.uint32)  # of no blocks there is a factor of all, too
    wanted = [x.number for x in (steps.factor, steps.scales, steps.whole) if x is not None]
    given = {"largest": every, "top": np.full_like(every, every[-1])}
    factor, words, *whole = read_values(program, ArrayRules(every.shape, no_chain, UNKNOWN), given, wanted)
    return (
        factor[:-1].reshape(largest.shape).view(np.float32),
        words[:-1].reshape(largest.shape).view(dtype_of(FORMATS[scales.format])),
        whole[0].view(np.float32)[-1] if whole else None,
        steps.divides,
    )


@cache
def _scale_steps(scales: Scales, fmt: Format) -> tuple[UnitProgram, ScaleSteps]:
    build = Builder()
    largest, top = (build.input(name, FORMATS["f32"]) for name in ("largest", "top"))
    steps = scales.write(build, largest, top, fmt)
    return build.program(steps.scales), steps


def _largest(blocks: Array) -> Array:
    """Return the largest magnitude of each block, NaN where it has one: the order of words without their
    signs.
    """
    words = blocks.view(np.uint32) & np.uint32(0x7FFF_FFFF)
    while words.shape[-1] % 2 == 0 and words.shape[-1] <= _SHORT:  # NumPy reduces short rows one by one
        words = np.maximum(words[..., ::2], words[..., 1::2])
    largest: Array = words.max(axis=(-3, -1), initial=0, keepdims=True).view(np.float32)
    return largest


def _magnitudes(values: Array, fmt: Format) -> Array:
    """Return the words of numbers without their signs, where a sign is all that the first bit says."""
    words: Array = values.view(unsigned(fmt))
    return words & words.dtype.type((1 << fmt.sign_bit) - 1) if fmt.has_negative_zero else words


def _flushed(values: Array, fmt: Format, numbers: Array) -> int:
    """Return how many numbers became zero; no zero became another number."""
    return int(np.count_nonzero(numbers != 0)) - int(np.count_nonzero(_magnitudes(values, fmt)))


def _half_unit(fmt: Format) -> np.float32:
    """Half the distance between the largest numbers: up to it, the nearest is still the largest one."""
    return np.float32(2.0 ** (fmt.e_max - fmt.fraction_bits - 1))


def _cut(matrix: Array, high: int, long: int) -> Array:
    """(..., blocks of rows, rows of a block, blocks along K, columns of a block), filled up with zeros."""
    *stack, rows, columns = matrix.shape
    down, across = -(-rows // high), -(-columns // long)
    missing = down * high - rows, across * long - columns
    if any(missing):
        matrix = np.pad(matrix, [*[(0, 0)] * len(stack), (0, missing[0]), (0, missing[1])])
    return np.ascontiguousarray(matrix).reshape(*stack, down, high, across, long)
