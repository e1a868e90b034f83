"""Rules for the word of a NaN result, as hypotheses, and questions that tell them apart."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np

from tcsmt.identification.units.questions import Questions
from tcsmt.matrix_units.arithmetic.any_format import AnyFormat
from tcsmt.matrix_units.arithmetic.formats import Format, Specials
from tcsmt.matrix_units.arithmetic.nans import NanCase, NanRule

__all__ = ["invalid_questions", "nan_of_c", "nan_questions", "rules_of_words"]

Array = np.ndarray[Any, np.dtype[Any]]
Random = np.random.Generator


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
