"""Conversion on arrays: words of one format as words of another, and between integers and their words.

Floating-point words become others exactly, or rounded by a named rule. Who gives FP32 numbers to a unit of
TF32, FP16 or FP8 operands says how they become operands (:data:`OPERAND_RULES`); libraries and hardware
differ in this (cuBLAS rounds to nearest even, a tensor core reads the front of the word).

A unit's own rule for NaNs can look at the operands (:mod:`tcsmt.matrix_units.arithmetic.nans`). In arithmetic
outside of a unit, in additions, multiply-adds and conversions, either every
NaN result of a format is one word, which a document names, or no source says which word it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Protocol, runtime_checkable

import numpy as np

from tcsmt.language.terms import Term
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic.formats import (
    AnyFormat,
    Format,
    IntegerFormat,
    Specials,
    float_format,
    format_named,
)
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.support.errors import TcsmtError, choose

Array = np.ndarray[Any, np.dtype[Any]]

#: What a NaN's word can be, for messages and pages.
KINDS = {
    "quiet": "the format's quiet NaN: no sign, of the fraction the first bit alone (0x7fc00000)",
    "ones": "all bits set but the sign (0x7fffffff)",
    "unknown": "no source says which",
}


@dataclass(frozen=True)
class NanWords:
    """The word of NaN results in each format: ``quiet``, ``ones:f16:bf16:f32``, ``unknown``.

    kind: one of :data:`KINDS`. formats: of results for which this is known, by name; none: every format.
    """

    kind: str = "unknown"
    formats: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        choose("rule for NaN words", self.kind, KINDS)
        if self.kind == "unknown" and self.formats:
            raise TcsmtError(f"rule for NaN words {self}: unknown takes no formats")
        for name in self.formats:
            float_format(format_named(name))

    @classmethod
    def named(cls, text: str) -> NanWords:
        """Return the rule of a text. Raises :class:`.TcsmtError`, which says what is allowed."""
        kind, *formats = (part.strip() for part in text.split(":"))
        return cls(kind, tuple(format_named(name).name for name in formats))

    def __str__(self) -> str:
        return ":".join((self.kind, *self.formats))

    def word(self, fmt: AnyFormat) -> int | None:
        """Return the word of a NaN result; None where it is unknown, or where the format has no NaN."""
        if not isinstance(fmt, Format) or self.kind == "unknown":
            return None
        if self.formats and fmt.name not in self.formats:
            return None
        ones = ((1 << fmt.exponent_bits + fmt.fraction_bits) - 1) << fmt.ignored_low_bits
        return ones if self.kind == "ones" and fmt.is_nan(ones) else fmt.nan_word

    def computed(self, fmt: Format) -> int:
        """Return the word that results have: where it is unknown, the format's quiet NaN stands for every
        NaN.

        In a format without NaNs the largest number, as ``cvt.satfinite`` of the PTX ISA gives it.
        """
        if fmt.nan_word is None:
            return fmt.largest_finite_word
        word = self.word(fmt)
        return fmt.nan_word if word is None else word

    def is_known(self, fmt: AnyFormat) -> bool:
        """Return whether a source says which word a NaN result has, or there is none."""
        return not isinstance(fmt, Format) or fmt.nan_word is None or self.word(fmt) is not None


@runtime_checkable
class UnknownNans(Protocol):
    """A model whose NaN results may have words that no source says: one word stands for every NaN then."""

    @property
    def knows_nans(self) -> bool:
        """Return whether a source says which words its NaN results have."""


def knows_nans(model: object) -> bool:
    """Return whether the words of a model's NaN results are known: of an instruction, its row has them."""
    return not isinstance(model, UnknownNans) or model.knows_nans


def are_nan(fmt: AnyFormat, words: Array) -> Array:
    """Return where words are NaNs: booleans of their shape. words: unsigned integers of any shape."""
    if not isinstance(fmt, Format) or fmt.nan_word is None:
        return np.zeros(words.shape, bool)
    if fmt.specials is Specials.NEGATIVE_ZERO_NAN:
        return np.asarray(words == fmt.nan_word)
    stored = words >> words.dtype.type(fmt.ignored_low_bits)
    magnitude = stored & stored.dtype.type((1 << fmt.exponent_bits + fmt.fraction_bits) - 1)
    if fmt.has_infinity:
        return np.asarray(magnitude > fmt.infinity_word >> fmt.ignored_low_bits)
    return np.asarray(magnitude == fmt.nan_word)


#: IEEE 754's preferred NaN in every format.
QUIET = NanWords("quiet")
UNKNOWN = NanWords()


def with_nans_merged(fmt: AnyFormat, word: Term) -> Term:
    """Return the word, with one and the same NaN in place of every NaN."""
    if not isinstance(fmt, Format) or fmt.nan_word is None:
        return word
    if word.op == "ite":  # one NaN's word for all: what it stands for is enough
        nan, given, number = word.args
        if given.value is not None and fmt.is_nan(given.value) and nan is dp.decode(fmt, number).nan:
            word = number
    return dp.decode(fmt, word).nan.ite(fmt.nan_word, word)


def integer_dtype(fmt: IntegerFormat) -> np.dtype[Any]:
    """Return the smallest integer dtype that holds the format's numbers; of fixed-point formats: its
    words.
    """
    size = next(size for size in (8, 16, 32, 64) if fmt.width <= size)
    return np.dtype(f"{'int' if fmt.signed and not fmt.fraction_bits else 'uint'}{size}")


def integer_words(fmt: IntegerFormat, array: Array, name: str) -> Array:
    """Return the words (uint64) of an array of numbers: integers or floats, which the format must hold
    exactly.

    array: of any shape, which is that of the result. Raises :class:`.TcsmtError`, which calls it ``name``.
    """
    if array.dtype.kind == "f":
        wide = array.astype(np.float64)
        scaled = np.ldexp(wide, fmt.fraction_bits)
        # the limits are compared as powers of two, which binary64 has, where the format's ends may round
        inside = (scaled >= float(fmt.low)) & (scaled < float(fmt.high + 1))
        fits = inside & (np.floor(scaled) == scaled)
        counts = np.where(fits, scaled, 0)
        counts = counts.astype(np.int64 if fmt.signed else np.uint64)
    else:
        if fmt.fraction_bits:
            numbers = [int(number) << fmt.fraction_bits for number in array.flat]
            counts = np.array(numbers, dtype=object).reshape(array.shape)
        else:
            counts = array
        fits = np.asarray((counts >= fmt.low) & (counts <= fmt.high), dtype=bool)
        counts = np.where(fits, counts, 0).astype(np.int64 if fmt.signed else np.uint64)
    if not fits.all():
        element, value = first_element(name, array, ~fits)
        raise TcsmtError(f"{element} = {value!r} is not a valid {fmt.name} value: those are {fmt.limits}")
    words: Array = counts.view(np.uint64) & np.uint64((1 << fmt.width) - 1)
    return words


def integers_of_words(fmt: IntegerFormat, words: Array) -> Array:
    """Return the numbers of words, an array of the same shape and of :func:`integer_dtype`."""
    dtype = integer_dtype(fmt)
    if dtype.kind == "u":
        return words.astype(dtype)
    unused = dtype.itemsize * 8 - fmt.width
    shifted: Array = words.astype(f"uint{dtype.itemsize * 8}") << unused
    return shifted.view(dtype) >> unused


def first_element(name: str, array: Array, wrong: Array) -> tuple[str, Any]:
    """Return what errors call the first wrong element, such as ``a[0, 3]``, and its value.

    wrong: booleans of the array's shape, one of which is true.
    """
    where = tuple(np.argwhere(wrong)[0].tolist())
    element = array[where]
    return f"{name}{list(where) or ''}", element.item() if hasattr(element, "item") else element


#: How operands become words of a narrower format, by the names that users give.
OPERAND_RULES: dict[str, Rounding] = {
    "truncate": ROUNDINGS["RTZ"],
    "nearest-even": ROUNDINGS["RNE"],
    "nearest-away": ROUNDINGS["RNA"],
}
#: Significand bits of binary64.
_PRECISION = 53
#: Words that are converted together, so that what is in between stays in the processor's cache.
_PIECE = 1 << 15


def operand_rule(name: str | None) -> Rounding | None:
    """Return the rule of that name; None: there is none. Raises :class:`.UnknownName`."""
    return None if name is None else OPERAND_RULES[choose("rule for operands", name, OPERAND_RULES)]


@dataclass(frozen=True)
class Converted:
    """Words of a format.

    inexact: which of them are not the value that was given. absent: which of these stand for nothing, as the
    format has no word for that value: a number beyond its end, an infinity, a NaN, or a negative number.
    """

    words: Array
    inexact: Array
    absent: Array


def converted(words: Array, source: Format, target: Format, rounding: Rounding) -> Converted:
    """Return the words of one format as those of another, each rounded once.

    words: unsigned, of any shape, of a format whose numbers binary64 has. Beyond the largest number, rounding
    to nearest gives an infinity, if there is one, and truncation the largest number. Subnormal numbers are
    numbers like others. A NaN stays a NaN: quiet, with its sign and the front of its payload where the format
    has one. But between formats of the same exponents (FP32, TF32, BF16) truncation cuts the word and no
    more, as units do that read its front: a NaN whose payload is cut off is then an infinity. -0 is 0 in a
    format with one zero.
    """
    flat = np.ascontiguousarray(words).reshape(-1)
    pieces = [_piece(flat[at : at + _PIECE], source, target, rounding) for at in range(0, flat.size, _PIECE)]
    empty = np.zeros(0, np.uint64), np.zeros(0, bool), np.zeros(0, bool)
    columns = zip(*pieces, strict=True) if pieces else ((piece,) for piece in empty)
    result, inexact, absent = (np.concatenate(column).reshape(words.shape) for column in columns)
    return Converted(result, inexact, absent)


@cache
def _decisions(rounding: Rounding) -> Array:
    """Return whether a magnitude grows, by its sign, its last bit, the first dropped bit and whether more is
    set.
    """
    return np.array([away for *_, away in rounding.decisions], np.uint64)


def _piece(words: Array, source: Format, target: Format, rounding: Rounding) -> tuple[Array, Array, Array]:
    values = floats(source, words)
    negative, nan, infinite = np.signbit(values), np.isnan(values), np.isinf(values)
    size = np.where(nan | infinite, 0.0, np.abs(values))
    half, exponent = np.frexp(size)  # half in [0.5, 1)
    significand = np.ldexp(half, _PRECISION).astype(np.uint64)
    first = np.maximum(np.where(size == 0, target.e_min, exponent.astype(np.int64) - 1), target.e_min)
    # how many bits of the significand lie below the last one that is kept; beyond 55 all of them do
    drop = first - target.fraction_bits - (exponent - _PRECISION)
    longer = np.maximum(-drop, 0).astype(np.uint64)  # formats with more bits than binary64
    below = np.clip(drop, 0, _PRECISION + 2).astype(np.uint64)
    unit = np.uint64(1)
    odd = significand >> below & unit
    dropped = significand & ((unit << below) - unit)
    middle = unit << np.maximum(below, unit) - unit
    tie_bit = (dropped >= middle) & (below > 0)
    rest = (dropped & (middle - unit)) != 0
    inexact = dropped != 0
    case = negative.astype(np.int64) << 3 | odd.astype(np.int64) << 2 | tie_bit.astype(np.int64) << 1 | rest
    kept = (significand << longer >> below) + _decisions(rounding)[case]
    # the implicit bit of a normal number adds one to the exponent field
    largest = target.largest_finite_word >> target.ignored_low_bits
    field = np.minimum(first, target.e_max + 1) - target.e_min
    stored = kept + (field.astype(np.uint64) << np.uint64(target.fraction_bits))
    absent = np.zeros(words.shape, bool)
    if not target.has_subnormals:
        absent |= kept == 0
        stored -= np.minimum(stored, unit)
    over = (stored > largest) | (first > target.e_max)
    infinity = np.uint64(target.infinity_word >> target.ignored_low_bits)
    to_infinity = np.where(negative, rounding.overflows(negative=True), rounding.overflows(negative=False))
    stored[over] = np.where(to_infinity[over], infinity, np.uint64(largest))
    absent |= over & to_infinity & (not target.has_infinity)
    inexact |= over
    stored[infinite], absent[infinite] = infinity, not target.has_infinity
    absent |= negative & ((size > 0) | infinite) & (not target.signed)
    result = stored << np.uint64(target.ignored_low_bits)
    if target.signed:
        signs = negative if target.has_negative_zero else negative & (stored > 0)
        result |= signs.astype(np.uint64) << np.uint64(target.sign_bit)
    if nan.any():
        result[nan], lost = _nans(words[nan], negative[nan], source, target, rounding)
        inexact[nan], absent[nan] = lost, target.nan_word is None
    return result, inexact | absent, absent


def _nans(
    words: Array, negative: Array, source: Format, target: Format, rounding: Rounding
) -> tuple[Array, Array]:
    """Return the words of NaNs, and which of them are none any more."""
    none = np.zeros(words.shape, bool)
    if target.nan_word is None:
        return np.zeros(words.shape, np.uint64), none
    signs = np.zeros(words.shape, np.uint64)
    if target.has_negative_zero:
        signs = negative.astype(np.uint64) << np.uint64(target.sign_bit)
    quiet = np.uint64(target.nan_word)
    if not (source.has_infinity and target.has_infinity):
        return signs | quiet, none
    payload = words.astype(np.uint64) >> np.uint64(source.ignored_low_bits)
    payload &= np.uint64((1 << source.fraction_bits) - 1)
    cut = source.fraction_bits - target.fraction_bits
    front = payload >> np.uint64(max(cut, 0)) << np.uint64(max(-cut, 0))
    result = signs | front << np.uint64(target.ignored_low_bits)
    if rounding.truncates and source.exponent_bits == target.exponent_bits:
        return result | np.uint64(target.infinity_word), front == 0
    return result | quiet, none


def rounded_word(fmt: Format, value: Fraction, rounding: Rounding) -> int:
    """Return the word of one number, rounded once; a zero keeps its sign where the format has two.

    Raises ValueError where the format ends before the value: no number becomes an infinity.
    """
    near = fmt.nearest_word(value)
    sign, step = near & 1 << fmt.sign_bit if fmt.signed else 0, 1 << fmt.ignored_low_bits
    size, low = abs(value), near ^ sign
    if fmt.value(low) > size:
        low -= step
    last = low == fmt.largest_finite_word
    gap = fmt.value(low) - fmt.value(low - step) if last else fmt.value(low + step) - fmt.value(low)
    dropped = (size - fmt.value(low)) / gap
    odd, half, rest = low // step % 2, dropped >= Fraction(1, 2), dropped not in (0, Fraction(1, 2))
    if not _decisions(rounding)[8 * (value < 0) + 4 * odd + 2 * half + rest]:
        return low | sign
    if last:
        raise ValueError(f"{value} is beyond the largest {fmt.name} value")
    return (low + step) | sign


def floats(fmt: Format, words: Array) -> Array:
    """Return the values of words in binary64, which holds them exactly: infinities and NaNs as such.

    words: unsigned, of any shape. For binary64, and formats of 32 bits at most whose numbers binary64 has.
    """
    if fmt.name in ("f16", "f32", "f64"):
        own = words.astype(f"uint{fmt.width}", copy=False).view(f"float{fmt.width}")
        with np.errstate(invalid="ignore"):  # a signalling NaN
            return own.astype(np.float64)
    stored = words.astype(np.int64) >> fmt.ignored_low_bits
    fraction = stored & ((1 << fmt.fraction_bits) - 1)
    field = stored >> fmt.fraction_bits & ((1 << fmt.exponent_bits) - 1)
    normal = (field > 0) | (not fmt.has_subnormals)
    significand = (fraction | normal.astype(np.int64) << fmt.fraction_bits).astype(np.float64)
    least = 1 if fmt.has_subnormals else 0
    place = np.maximum(field, least) - fmt.bias - fmt.fraction_bits
    values: Array = np.asarray(np.ldexp(significand, place.astype(np.int32)))  # of shape () it is a scalar
    top = field == (1 << fmt.exponent_bits) - 1
    match fmt.specials:
        case Specials.IEEE:
            values[top] = np.where(fraction[top] == 0, np.inf, np.nan)
        case Specials.NAN_ONLY:
            values[top & (fraction == (1 << fmt.fraction_bits) - 1)] = np.nan
        case Specials.NEGATIVE_ZERO_NAN:
            values[words == fmt.nan_word] = np.nan
    if fmt.signed:
        negative = (words.astype(np.int64) >> fmt.sign_bit & 1).astype(bool)
        values[negative] *= -1
    return values
