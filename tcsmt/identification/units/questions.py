"""Questions as arrays of words, and what can be read from the words: exponents, zeros, normal numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcsmt.identification.units.family import Family
from tcsmt.matrix_units.arithmetic.any_format import AnyFormat
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.models import Operands
from tcsmt.simulate.rows import Batch, Words

__all__ = [
    "Questions",
    "exponent_field",
    "last_place",
    "least_exponent",
    "neither_zero_nor_normal",
    "ordinary_rows",
    "product_exponents",
    "zero_words",
]

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Questions(Batch):
    """Input words: a and b of shape (questions, k), c of shape (questions,); dtype uint64."""

    def operands(self, formats: Sequence[AnyFormat]) -> Words:
        """Return the words in the sizes of these formats, A's first."""
        sides = zip((self.a, self.b, self.c), formats, strict=False)
        return Operands(*(side.astype(unsigned(fmt)) for side, fmt in sides))


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
    """Of each lane's product of normal numbers, of shape (questions, k)."""
    a, b = family.a_format, family.b_format
    exponents: Array = exponent_field(a, questions.a) - a.bias + exponent_field(b, questions.b) - b.bias
    return exponents


def last_place(fmt: Format, words: Array) -> Array:
    """Exponent of the lowest bit that is set, of normal numbers.

    words: uint64 of any shape. Returns int64 of that shape.
    """
    fraction = (words >> np.uint64(fmt.ignored_low_bits)) & np.uint64((1 << fmt.fraction_bits) - 1)
    whole = fraction.astype(np.int64) | 1 << fmt.fraction_bits
    lowest = np.log2(whole & -whole).astype(np.int64)
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
    own = _normal(c, questions.c) | zero_words(c, questions.c)
    result: Array = (normal | empty).all(axis=1) & own & large
    return result
