"""Arithmetic outside the unit, on arrays of words: additions, multiply-adds, conversions.

The functions are those of :mod:`tcsmt.programs.steps.operations` on terms. ``nans`` says which words NaN
results have; the default is the format's own NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from tcsmt.language.run.arrays import Program
from tcsmt.language.terms import Term, var
from tcsmt.matrix_units.arithmetic.conversion import QUIET, NanWords, integers_of_words
from tcsmt.matrix_units.arithmetic.formats import FORMATS, AnyFormat, Format, IntegerFormat, float_format
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.matrix_units.arithmetic.words import dtype_of, from_words, unsigned
from tcsmt.matrix_units.models import IeeeDotAdd, Operands
from tcsmt.programs.steps import operations
from tcsmt.programs.steps.operations import multiply_add, randomly_rounded, rounded, scaled_sum
from tcsmt.simulate.rows import run_words
from tcsmt.support.floats import usual_floats

Array = np.ndarray[Any, np.dtype[Any]]
_NEAREST = ROUNDINGS["RNE"]
#: Formats whose additions NumPy rounds once to nearest even (binary16 by way of binary32).
_NUMPY = ("f16", "f32", "f64")
#: Formats of whose products NumPy takes no detour.
_NATIVE = ("f32", "f64")
#: Conversions that NumPy and ml_dtypes round once to nearest even, fast on few words too.
_BY_DTYPE = {("f32", "f16"), ("f32", "bf16"), ("f16", "f32"), ("bf16", "f32"), ("f64", "f32"), ("f32", "f64")}
_LARGEST_E4M3 = np.uint32(FORMATS["f32"].word(FORMATS["e4m3"].largest_finite))


def add(fmt: AnyFormat, x: Array, y: Array, nans: NanWords = QUIET) -> Array:
    """x + y, to nearest even; integers wrap.

    x, y: words of one shape and of ``unsigned(fmt)``, as those returned.
    """
    if isinstance(fmt, IntegerFormat):
        return integers(fmt, x + y)
    if fmt == FORMATS["bf16"]:  # binary32 has more than twice its bits: rounding twice is rounding once
        wide = FORMATS["f32"]
        total = add(wide, converted(x, fmt, wide), converted(y, fmt, wide))
        return converted(total, wide, fmt, nans=nans)
    if fmt.name not in _NUMPY:
        fmt = float_format(fmt)
        ones = np.full(x.shape, fmt.word(Fraction(1)), unsigned(fmt))
        return multiplied_and_added(fmt, x, ones, y, nans)
    with np.errstate(all="ignore"):
        total = from_words(fmt, x) + from_words(fmt, y)
    return with_nan_words(float_format(fmt), total, nans)


def scaled_and_added(
    fmt: Format, x: Array, shift: int, y: Array, rounding: Rounding, nans: NanWords = QUIET
) -> Array:
    """x·2^-shift + y, rounded once: words of one shape and of ``unsigned(fmt)``."""
    if rounding.ties_to_even and not shift:
        return add(fmt, x, y, nans)
    columns = {"x": x.reshape(-1), "y": y.reshape(-1)}
    (result,) = _scaled_sum(fmt, shift, rounding, nans).run(columns)
    return result.astype(x.dtype, copy=False).reshape(x.shape)


@lru_cache(maxsize=64)
def _scaled_sum(fmt: Format, shift: int, rounding: Rounding, nans: NanWords) -> Program:
    x, y = (var(name, fmt.width) for name in "xy")
    return Program([scaled_sum(fmt, x, shift, y, rounding, nans.computed(fmt)).word()])


def multiplied_and_added(fmt: Format, x: Array, y: Array, z: Array, nans: NanWords = QUIET) -> Array:
    """x·y + z, rounded once to nearest even: words of one shape and of ``unsigned(fmt)``."""
    zero = np.asarray(1 << fmt.sign_bit, unsigned(fmt))
    if fmt.name in _NATIVE and not (z & ~zero).any() and usual_floats():
        first, second, none = (from_words(fmt, words) for words in (x, y, z))
        with np.errstate(all="ignore"):
            product = first * second
            if (z == zero).all():  # -0 is added to nothing's sign
                return with_nan_words(fmt, product, nans)
            total = product + none
        zeros = np.flatnonzero(product == 0)
        if zeros.size:  # what only rounding made zero keeps its sign
            own = np.array([side.flat[zeros] for side in (first, second)]).all(axis=0)
            total.flat[zeros[own]] = product.flat[zeros[own]]
        return with_nan_words(fmt, total, nans)
    return _run(multiply_add(fmt, nans.computed(fmt)), x, y, z)


def integers(fmt: IntegerFormat, words: Array) -> Array:
    """Return what wrapped in a dtype as words of the format, which may be narrower; any shape."""
    if fmt.width == 8 * words.dtype.itemsize:
        return words
    return np.asarray(words & words.dtype.type((1 << fmt.width) - 1))


def multiplied(fmt: AnyFormat, x: Array, y: Array, rounding: Rounding, nans: NanWords = QUIET) -> Array:
    """x·y, rounded once; integers wrap. Words of one shape and of ``unsigned(fmt)``."""
    if isinstance(fmt, IntegerFormat):
        return integers(fmt, x * y)
    fmt = float_format(fmt)
    return _by_terms(fmt, operations.product, (rounding, nans.computed(fmt)), x, y)


def divided(fmt: Format, x: Array, y: Array, rounding: Rounding, nans: NanWords = QUIET) -> Array:
    """x / y, rounded once. Words of one shape and of ``unsigned(fmt)``."""
    if fmt.name in _NATIVE and rounding.ties_to_even and usual_floats():
        with np.errstate(all="ignore"):
            return with_nan_words(fmt, from_words(fmt, x) / from_words(fmt, y), nans)
    return _by_terms(fmt, operations.quotient, (rounding, nans.computed(fmt)), x, y)


def maximum(fmt: AnyFormat, x: Array, y: Array, nan: str, nans: NanWords = QUIET) -> Array:
    """Return the larger words; +0 is above -0. nan: NaNs are ``propagated`` or ``ignored``."""
    word = nans.computed(fmt) if isinstance(fmt, Format) else 0
    if fmt.name in _NATIVE and usual_floats():
        first, second = from_words(fmt, x), from_words(fmt, y)
        larger = np.where(first < second, y, np.where(first == second, x & y, x))  # -0 and +0: +0
        nan_x, nan_y = np.isnan(first), np.isnan(second)
        if nan == "ignored":
            larger, nan_x = np.where(nan_x, y, larger), nan_x & nan_y
            nan_y = nan_x
        return np.where(nan_x | nan_y, np.asarray(word, x.dtype), larger)
    return _by_terms(fmt, operations.maximum, (nan, word), x, y)


def powers_of_two(x: Array, shift: int, *, up: bool) -> Array:
    """Return words of UE8M0, of powers of two next to |x| of binary32, times 2^shift: uint8, of x's shape."""
    field = (x >> np.uint32(23) & np.uint32(255)).astype(np.int32)
    fraction = x & np.uint32((1 << 23) - 1)
    nan = (field == 255) & (fraction != 0)
    if up:
        field += np.where(field > 0, fraction != 0, fraction > 1 << 22)
    return np.where(nan, 255, np.clip(field + shift, 0, 254)).astype(np.uint8)


def compared(fmt: AnyFormat, x: Array, y: Array, relation: str) -> Array:
    """Return 1 where x is ``equal``, ``less`` or ``less_equal`` to y, else 0: uint8, of their shape."""
    if fmt.name in _NATIVE and usual_floats():
        relate = {"equal": np.equal, "less": np.less, "less_equal": np.less_equal}[relation]
        return np.asarray(relate(from_words(fmt, x), from_words(fmt, y)), np.uint8)
    return _by_terms(fmt, operations.compared, (relation,), x, y).astype(np.uint8)


def _by_terms(fmt: AnyFormat, operation: Callable[..., Any], how: tuple[Any, ...], *words: Array) -> Array:
    """Return an operation of two words, by its terms: of their shape and dtype."""
    first = words[0]
    columns = {name: column.reshape(-1) for name, column in zip("xy", words, strict=True)}
    (result,) = _compiled(fmt, operation, how).run(columns)
    return np.asarray(result.astype(first.dtype, copy=False)).reshape(first.shape)


@lru_cache(maxsize=128)
def _compiled(fmt: AnyFormat, operation: Callable[..., Any], how: tuple[Any, ...]) -> Program:
    result = operation(fmt, *(var(name, fmt.width) for name in "xy"), *how)
    return Program([result if isinstance(result, Term) else result.word()])


def with_nan_words(fmt: Format, values: Array, nans: NanWords) -> Array:
    """Return the words of numbers, of any shape, that a processor computed, whose NaNs differ between
    processors.
    """
    words: Array = values.view(unsigned(fmt))
    nan = np.isnan(values)
    if nan.any():
        words[nan] = nans.computed(fmt)
    return words


def converted(
    words: Array,
    source: AnyFormat,
    target: AnyFormat,
    rounding: Rounding = _NEAREST,
    *,
    saturate: bool = False,
    nans: NanWords = QUIET,
) -> Array:
    """Return the words of one format as those of another, rounded once.

    words: unsigned integers of any shape, which is that of the result.
    """
    if source == target and not saturate:
        return words
    if isinstance(source, IntegerFormat) and isinstance(target, IntegerFormat):
        counts = integers_of_words(source, words).astype(unsigned(target))
        return integers(target, counts << (target.fraction_bits - source.fraction_bits))
    target = float_format(target)
    if rounding.ties_to_even and not saturate and (source.name, target.name) in _BY_DTYPE:
        with np.errstate(all="ignore"):
            return with_nan_words(target, from_words(source, words).astype(dtype_of(target)), nans)
    # ml_dtypes makes NaNs of what is beyond
    finite = rounding.ties_to_even and (source.name, target.name) == ("f32", "e4m3")
    if finite and not ((words & np.uint32(0x7FFF_FFFF)) > _LARGEST_E4M3).any():
        return np.asarray(from_words(source, words).astype(dtype_of(target)).view(np.uint8))
    (output,) = _conversion(source, target, rounding, saturate, nans).run({"x": words.reshape(-1)})
    return output.astype(unsigned(target), copy=False).reshape(words.shape)


@lru_cache(maxsize=64)
def _conversion(
    source: AnyFormat, target: Format, rounding: Rounding, saturate: bool, nans: NanWords
) -> Program:
    x = var("x", source.width)
    return Program([rounded(source, target, x, rounding, saturate=saturate, nans=nans).word()])


def _run(model: IeeeDotAdd, x: Array, y: Array, z: Array) -> Array:
    a, b = (np.ascontiguousarray(words).reshape(-1, 1) for words in (x, y))
    return run_words(model, Operands(a, b, np.ascontiguousarray(z).reshape(-1))).reshape(x.shape)


def stochastic(
    words: Array,
    source: Format,
    target: Format,
    random: Array,
    bits: int,
    *,
    saturate: bool,
    nans: NanWords = QUIET,
) -> Array:
    """Converted by adding so many random bits below the last kept bit, and truncating.

    words: of ``unsigned(source)``. random: integers below 2^bits, of the same shape. Returns words of this
    shape and of ``unsigned(target)``.
    """
    program = _random_program(source, target, bits, saturate, nans)
    (result,) = program.run({"x": words.reshape(-1), "r": random.reshape(-1)})
    return result.astype(unsigned(target), copy=False).reshape(words.shape)


@lru_cache(maxsize=16)
def _random_program(source: Format, target: Format, bits: int, saturate: bool, nans: NanWords) -> Program:
    x, r = var("x", source.width), var("r", bits)
    word = randomly_rounded(source, target, x, r, saturate=saturate, nans=nans)
    return Program([word])
