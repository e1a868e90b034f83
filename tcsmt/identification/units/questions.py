"""Questions as arrays of words, and what these are: exponents, zeros, normal numbers, NaNs, their rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np

from tcsmt.identification.units.family import Family
from tcsmt.matrix_units.arithmetic.boundary_words import FractionKind, mixed_fractions
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, Specials
from tcsmt.matrix_units.arithmetic.nans import NanCase, NanRule
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.models import Operands
from tcsmt.simulate.rows import Batch, Words

# --- Words ---------------------------------------------------------------------------------------


Array = np.ndarray[Any, np.dtype[Any]]
Random = np.random.Generator


@dataclass(frozen=True)
class Questions(Batch):
    """Input words: a and b of shape (questions, k), c of shape (questions,); dtype uint64."""

    def operands(self, formats: Sequence[AnyFormat]) -> Words:
        """Return the words in the sizes of these formats, A's first."""
        sides = zip((self.a, self.b, self.c), formats, strict=False)
        return Operands(*(side.astype(unsigned(fmt)) for side, fmt in sides))


#: The kinds of significands that are drawn, by their numbers.
SIGNIFICANDS = (FractionKind.RANDOM, FractionKind.ZERO, FractionKind.ONES, FractionKind.ONE_BIT)


def drawn_fractions(fmt: Format, random: Random, kind: Array) -> Array:
    """Return fractions of kinds by their numbers, integers of any shape: uint64 of that shape."""
    place = np.asarray(random.integers(0, max(1, fmt.fraction_bits), kind.shape))
    bits = np.asarray(random.integers(0, 1 << fmt.fraction_bits, kind.shape))
    return mixed_fractions(fmt, SIGNIFICANDS, kind, place, bits)


def put_zeros(fmt: Format, random: Random, words: Array, places: Array) -> None:
    """Put zeros, of either sign where the format has both, into uint64 words. places: booleans."""
    minus = np.asarray(random.integers(0, 2, words.shape)).astype(np.uint64) << np.uint64(fmt.sign_bit)
    words[places] = minus[places] if fmt.has_negative_zero else 0


def exponent_field(fmt: Format, words: Array) -> Array:
    """Return the stored exponents of words, uint64 of any shape: int64 of that shape."""
    field = words >> np.uint64(fmt.fraction_bits + fmt.ignored_low_bits)
    return (field & np.uint64((1 << fmt.exponent_bits) - 1)).astype(np.int64)


def _normal(fmt: Format, words: Array) -> Array:
    magnitude = words & np.uint64((1 << fmt.sign_bit) - 1)
    result: Array = (exponent_field(fmt, words) > 0) & (magnitude <= fmt.largest_finite_word)
    return result


def zero_words(fmt: Format, words: Array) -> Array:
    """Return which words, uint64 of any shape, are zeros of either sign: booleans of that shape."""
    result: Array = words & np.uint64((1 << fmt.sign_bit) - 1) == 0
    return result


def least_exponent(family: Family) -> int:
    """Return the largest exponent with which any zero can enter a maximum."""
    numbers = [z for z in family.zero_exponents if z is not None]
    return max(*numbers, family.a_format.e_min + family.b_format.e_min, family.c_format.e_min)


def neither_zero_nor_normal(fmt: Format, words: Array) -> Array:
    """Subnormal numbers, infinities and NaNs: the columns from 6 on can matter to them.

    words: uint64 of any shape. Returns booleans of that shape.
    """
    field = exponent_field(fmt, words)
    result: Array = (field == (1 << fmt.exponent_bits) - 1) | (field == 0) & ~zero_words(fmt, words)
    return result


def product_exponents(family: Family, questions: Questions) -> Array:
    """Return the exponent of each lane's product of normal numbers, of shape (questions, k)."""
    a, b = family.a_format, family.b_format
    exponents: Array = exponent_field(a, questions.a) - a.bias + exponent_field(b, questions.b) - b.bias
    return exponents


def last_place(fmt: Format, words: Array) -> Array:
    """Return the exponent of the lowest bit that is set, of normal numbers.

    words: uint64 of any shape. Returns int64 of that shape.
    """
    fraction = (words >> np.uint64(fmt.ignored_low_bits)) & np.uint64((1 << fmt.fraction_bits) - 1)
    significand = fraction.astype(np.int64) | 1 << fmt.fraction_bits
    lowest = np.log2(significand & -significand).astype(np.int64)
    exponents: Array = exponent_field(fmt, words) - fmt.bias - fmt.fraction_bits + lowest
    return exponents


def ordinary_rows(family: Family, questions: Questions) -> Array:
    """Return which questions are ordinary (see :func:`.outcomes`): booleans (questions,)."""
    a, b, c, _ = family.formats
    least = least_exponent(family)
    normal = _normal(a, questions.a) & _normal(b, questions.b)
    exponents = product_exponents(family, questions)
    empty = zero_words(a, questions.a) & zero_words(b, questions.b)
    large = (normal & (exponents >= least)).any(axis=1)
    usual_c = _normal(c, questions.c) | zero_words(c, questions.c)
    result: Array = (normal | empty).all(axis=1) & usual_c & large
    return result


# --- Rules for the word of a NaN result, as hypotheses, and questions that tell them apart -------


def rules_of_words(of_product: int, of_sum: int) -> list[NanRule]:
    """Rules that hand on the NaN of an operand, in every order of a, b and c, or of some of them.

    Signalling NaNs may come before quiet ones, and an invalid product before the operands' NaNs or between
    signalling and quiet ones. of_product, of_sum: the words of an invalid product and of an invalid sum.
    """
    product = NanCase("products", of_product)
    rules = []
    for order in (order for count in (3, 2, 1) for order in permutations("abc", count)):
        quiet = tuple(NanCase(operand, None) for operand in order)
        signalling = tuple(NanCase(operand, None, signalling=True) for operand in order)
        for cases in (quiet, (*signalling, *quiet), (product, *quiet), (*signalling, product, *quiet)):
            rules.append(NanRule(cases, of_sum))
    return rules


def nan_of_c(formats: Sequence[AnyFormat], k: int) -> Questions:
    """One question: every product is zero, and c a NaN."""
    zeros = np.zeros((1, k), np.uint64)
    return Questions(zeros, zeros, np.array([formats[2].nan_word or 0], np.uint64))


def invalid_questions(formats: Sequence[AnyFormat], k: int) -> list[Questions]:
    """Infinity times zero, and infinity minus infinity; none where a or c has no infinity."""
    a, b, c, _ = formats
    if not (a.has_infinity and c.has_infinity):
        return []
    questions = []
    for factor, addend in ((0, 0), (b.word(Fraction(1)), c.infinity_word | 1 << c.sign_bit)):
        left, right = np.zeros((1, k), np.uint64), np.zeros((1, k), np.uint64)
        left[0, 0], right[0, 0] = a.infinity_word, factor
        questions.append(Questions(left, right, np.array([addend], np.uint64)))
    return questions


def _nan(fmt: AnyFormat, random: Random) -> int:
    """A NaN, with a payload where the format has some."""
    if not isinstance(fmt, Format) or fmt.specials is not Specials.IEEE:
        return fmt.nan_word or 0
    field = ((1 << fmt.exponent_bits) - 1) << fmt.fraction_bits
    payload = int(random.integers(1, 1 << fmt.fraction_bits))  # its first bit is that of quiet NaNs
    sign = int(random.integers(2)) << fmt.sign_bit
    return sign | (field | payload) << fmt.ignored_low_bits


def nan_questions(formats: Sequence[AnyFormat], k: int, random: Random, count: int) -> Questions:
    """Zeros, ones, infinities and NaNs of both signs: one NaN, several, and invalid operations."""
    sides = [np.zeros((count, width), np.uint64) for width in (k, k, 1)]
    for row in range(count):
        share = random.choice([0.0, 0.1, 0.3, 0.6])
        for fmt, words in zip(formats, sides, strict=False):
            usual = [0, fmt.word(Fraction(1)), *([fmt.infinity_word] if fmt.has_infinity else [])]
            for place in range(words.shape[1]):
                word = usual[int(random.integers(len(usual)))]
                minus = int(random.integers(2)) << fmt.sign_bit if fmt.has_negative_zero else 0
                words[row, place] = _nan(fmt, random) if random.random() < share else minus | word
    return Questions(sides[0], sides[1], sides[2][:, 0])
