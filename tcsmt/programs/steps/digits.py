"""Arithmetic of steps on digits of numbers, as terms and on arrays: exponents, digits, residues, exact sums.

On terms there are no remainders, so residues and exact sums are on arrays and on Python's integers alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from tcsmt.language.run.arrays import Program
from tcsmt.language.terms import Term, var
from tcsmt.matrix_units.arithmetic.conversion import floats, integers_of_words
from tcsmt.matrix_units.arithmetic.datapath import Exponent, decode
from tcsmt.matrix_units.arithmetic.formats import (
    INTEGERS,
    AnyFormat,
    Format,
    IntegerFormat,
    float_format,
    integers_from,
)
from tcsmt.matrix_units.arithmetic.ieee import RoundedSum
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.programs.steps.operations import number_of
from tcsmt.programs.steps.slicing import Slicing, digit_word

Array = np.ndarray[Any, np.dtype[Any]]

_NEAREST = ROUNDINGS["RNE"]
_EXPONENTS = tuple(INTEGERS[name] for name in ("s8", "s16", "s32", "s64"))
#: Products of remainders of such a modulus have 32 bits: a program's steps have sums of 64.
_SMALL_MODULUS = 1 << 16


def exponent_format(fmt: Format) -> IntegerFormat:
    """Return the format of the exponents of numbers, and of one more: that of what is not finite."""
    return next(own for own in _EXPONENTS if own.low <= fmt.e_min and fmt.e_max < own.high)


def remainder_format(modulus: int) -> IntegerFormat:
    """Return the format of the remainders of least magnitude."""
    return integers_from(-((modulus - 1) // 2), modulus // 2)


def exponent(fmt: Format, x: Term) -> Term:
    """Return a number's exponent; of subnormal ones the smallest; of what is not finite, one above all."""
    number, gives = decode(fmt, x), exponent_format(fmt)
    size = max(gives.width, number.exponent.term.width)
    counted = (number.exponent.term.zext(size) + number.exponent.low)[gives.width - 1 : 0]
    return (number.infinite | number.nan).ite(gives.word_of_count(fmt.e_max + 1), counted)


def digits(slicing: Slicing, fmt: AnyFormat, x: Term, top: Term) -> tuple[Term, ...]:
    """Return the digits of a number, the largest first: words of a format that has them.

    top: the largest exponent of its row, no smaller than its own.
    """
    size = max(top.width, slicing.exponent_bits)
    counted = (top.sext(size) - slicing.wide.e_min)[slicing.exponent_bits - 1 : 0]
    return tuple(digit_word(fmt, digit) for digit in slicing.digits(x, counted))


def accumulated(source: AnyFormat, fmt: Format, shift: int, nan_word: int, x: Term, y: Term) -> RoundedSum:
    """x·2^-shift + y in y's format, rounded once to nearest even. source: x's format."""
    number = number_of(source, x)
    above = number.integer_bits - 1  # a sum takes numbers of one bit before the point
    exponent = number.exponent.plus(above - shift)
    number = replace(number, exponent=exponent, fraction_bits=number.fraction_bits + above)
    return RoundedSum(terms=(number, decode(fmt, y)), format=fmt, rounding=_NEAREST, nan_word=nan_word)


def scaled(
    source: AnyFormat, fmt: Format, powers: Sequence[IntegerFormat], shift: int, nan_word: int, x: Term,
    *exponents: Term,
) -> RoundedSum:  # fmt: skip
    """x·2^(Σ exponents - shift), rounded once to nearest even. powers: formats of the exponents."""
    number = number_of(source, x)
    moved = number.exponent.plus(-shift)
    for power, word in zip(powers, exponents, strict=True):
        bias = 1 << (power.bits - 1) if power.signed else 0
        moved += Exponent(word ^ bias, -bias, (1 << power.bits) - 1 - bias)
    return RoundedSum(
        terms=(replace(number, exponent=moved),), format=fmt, rounding=_NEAREST, nan_word=nan_word
    )


def on_words(
    operation: Callable[..., Any], how: tuple[Any, ...], formats: Sequence[AnyFormat], *words: Array
) -> list[Array]:
    """Return what an operation on terms makes of words of such formats, all of one shape: arrays of it."""
    columns = {f"x{number}": column.reshape(-1) for number, column in enumerate(words)}
    found = _compiled(operation, how, tuple(formats)).run(columns)
    return [word.reshape(words[0].shape) for word in found]


@lru_cache(maxsize=256)
def _compiled(operation: Callable[..., Any], how: tuple[Any, ...], formats: tuple[AnyFormat, ...]) -> Program:
    made = operation(*how, *(var(f"x{number}", fmt.width) for number, fmt in enumerate(formats)))
    if isinstance(made, RoundedSum):
        made = made.word()
    return Program(made if isinstance(made, tuple) else [made])


def residue_digit(number: Any, modulus: int, base: int, place: int) -> Any:
    """Return the remainder of least magnitude, the lower one of two; of a base, a digit of it.

    number: an integer, or an array of them.
    """
    low = modulus // 2
    residue = (number + low) % modulus - low
    if not base:
        return residue
    half = base // 2
    last = (residue + half) % base - half
    return (residue - last) // base if place else last


def residue_range(modulus: int, base: int) -> tuple[int, int]:
    """Return the smallest and the largest residue nearest to zero, or, with a base, digit of one."""
    low, high = -(modulus // 2), (modulus - 1) // 2
    if not base:
        return low, high
    half = base // 2
    return min(-half, (low + half) // base), max(half - 1, (high + half) // base)


def residues(
    source: IntegerFormat, fmt: AnyFormat, modulus: int, base: int, place: int, words: Array
) -> Array:
    """Return the words of residues, or of digits of them, of integers."""
    found = residue_digit(integers_of_words(source, words).astype(np.int64), modulus, base, place)
    low, high = residue_range(modulus, base)
    return np.asarray(_words_from(fmt, low, high)[found - low])


@lru_cache(maxsize=64)
def _words_from(fmt: AnyFormat, low: int, high: int) -> Array:
    return np.array([fmt.word(Fraction(number)) for number in range(low, high + 1)], unsigned(fmt))


def exact_sums(
    sources: Sequence[AnyFormat], weights: Sequence[int], modulus: int, values: Sequence[Array]
) -> Array:
    """Return Σ weight·value, its remainder of least magnitude: words of :func:`remainder_format`, which are
    Python's integers where they have more than 64 bits.
    """
    small = modulus <= _SMALL_MODULUS
    numbers = (_integers(fmt, words) for fmt, words in zip(sources, values, strict=True))
    total: Any = sum(
        number % modulus * (weight % modulus) if small else number.astype(object) * weight
        for number, weight in zip(numbers, weights, strict=True)
    )
    low, gives = (modulus - 1) // 2, remainder_format(modulus)
    found = (total + low) % modulus - low
    dtype = unsigned(gives) if gives.bits <= 64 else object
    return np.asarray((found & ((1 << gives.bits) - 1)).astype(dtype))


def _integers(fmt: AnyFormat, words: Array) -> Array:
    """Return the integers of words, int64: others are cut toward zero, and are 0 from 2^63 on and of NaNs."""
    if isinstance(fmt, IntegerFormat):
        return integers_of_words(fmt, words).astype(np.int64)
    values = floats(float_format(fmt), words)
    return np.where(np.abs(values) < 2.0**63, values, 0.0).astype(np.int64)
