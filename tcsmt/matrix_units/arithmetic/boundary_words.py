"""Words near the boundaries of a format, from sign, exponent and a kind of significand.

Random words almost never reach a boundary of the arithmetic: significands that are all ones, one bit or
short do. What draws inputs composes them of these words; nothing is drawn here.
"""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import Format

Array = np.ndarray[Any, np.dtype[Any]]


class FractionKind(Enum):
    """A kind of significand: what it looks like below its implicit bit."""

    ZERO = "no bit"
    ONES = "all ones"
    ONE_BIT = "one bit, at the place"
    ALL_BUT_ONE = "all ones but at the place"
    LOW_ONES = "ones below the place"
    HIGH_ONES = "ones from the place up"
    RANDOM = "the given bits"
    SHORT = "the given bits from the place up"


def fractions(fmt: Format, kind: FractionKind, place: Array, bits: Array) -> Array:
    """Return fraction fields of one kind.

    place: from 0, the last bit of the fraction, to ``fraction_bits``, its implicit bit. bits: fraction
    fields, for the kinds that have given bits. Both have the shape of the result, which is uint64.
    """
    ones = _ones(fmt)
    place, bits = place.astype(np.uint64), bits.astype(np.uint64)
    bit = np.uint64(1) << place
    match kind:
        case FractionKind.ZERO:
            words = np.zeros_like(bits)
        case FractionKind.ONES:
            words = np.full_like(bits, ones)
        case FractionKind.ONE_BIT:
            words = bit & ones
        case FractionKind.ALL_BUT_ONE:
            words = (bit & ones) ^ ones
        case FractionKind.LOW_ONES:
            words = bit - np.uint64(1)
        case FractionKind.HIGH_ONES:
            words = ones >> place << place
        case FractionKind.RANDOM:
            words = bits
        case FractionKind.SHORT:
            words = bits >> place << place
    result: Array = words
    return result


@cache
def _tables(fmt: Format, kinds: tuple[FractionKind, ...]) -> tuple[Array, Array]:
    """Return for each kind and place which given bits are in the fraction, and which others are set."""
    places = np.arange(max(1, fmt.fraction_bits)).astype(np.uint64)
    none, every = np.zeros_like(places), np.full_like(places, _ones(fmt))
    fixed = np.concatenate([fractions(fmt, kind, places, none) for kind in kinds])
    return np.concatenate([fractions(fmt, kind, places, every) for kind in kinds]) ^ fixed, fixed


def mixed_fractions(
    fmt: Format, kinds: tuple[FractionKind, ...], kind: Array, place: Array, bits: Array
) -> Array:
    """Return fraction fields, each of one of some kinds, by number; place: 0 to ``fraction_bits`` - 1.

    kind, place, bits: integers of one shape, which is that of the result, uint64.
    """
    varied, fixed = _tables(fmt, kinds)
    number = kind * max(1, fmt.fraction_bits) + place
    result: Array = bits.astype(np.uint64) & varied[number] ^ fixed[number]
    return result


def from_fields(fmt: Format, sign: Array, field: Array, fraction: Array) -> Array:
    """Return the words of these fields. Bits that the unit ignores are 0; an unsigned format has no sign.

    sign, field, fraction: integers of one shape, which is that of the words, uint64.
    """
    stored = field.astype(np.uint64) << np.uint64(fmt.fraction_bits) | fraction.astype(np.uint64)
    return _signed(fmt, sign, stored)


def from_exponents(fmt: Format, sign: Array, exponent: Array, fraction: Array) -> Array:
    """Return the words of (-1)^sign * 1.fraction * 2^exponent where the format has that number.

    Below the smallest exponent it is truncated to a subnormal number or 0; above the largest one the
    exponent is the largest. No word is above the largest finite number; 0 is +0 where there is no -0.

    sign, exponent, fraction: integers of one shape, which is that of the words, uint64.
    """
    exponent = np.minimum(exponent, fmt.e_max)
    down = np.minimum(np.maximum(fmt.e_min - exponent, 0), fmt.fraction_bits + 1)
    significand = (1 << fmt.fraction_bits | fraction.astype(np.int64)) >> down
    # the implicit bit, where it is still there, adds one to the exponent field
    stored = significand + ((np.maximum(exponent, fmt.e_min) + fmt.bias - 1) << fmt.fraction_bits)
    largest = fmt.largest_finite_word >> fmt.ignored_low_bits
    stored = np.minimum(np.maximum(stored, 0), largest).astype(np.uint64)
    return _signed(fmt, sign if fmt.has_negative_zero else sign * (stored > 0), stored)


def from_exponent(fmt: Format, sign: int, exponent: int, fraction: int) -> int:
    """Return one such word."""
    exponent = min(exponent, fmt.e_max)
    down = min(max(fmt.e_min - exponent, 0), fmt.fraction_bits + 1)
    significand = (1 << fmt.fraction_bits | fraction) >> down
    stored = significand + ((max(exponent, fmt.e_min) + fmt.bias - 1) << fmt.fraction_bits)
    stored = min(max(stored, 0), fmt.largest_finite_word >> fmt.ignored_low_bits)
    minus = sign if fmt.signed and (stored or fmt.has_negative_zero) else 0
    return stored << fmt.ignored_low_bits | minus << fmt.sign_bit


def _signed(fmt: Format, sign: Array, stored: Array) -> Array:
    """Return words of what lies between the sign and the ignored bits."""
    word: Array = stored << np.uint64(fmt.ignored_low_bits)
    return word | sign.astype(np.uint64) << np.uint64(fmt.sign_bit) if fmt.signed else word


def _ones(fmt: Format) -> np.uint64:
    return np.uint64((1 << fmt.fraction_bits) - 1)
