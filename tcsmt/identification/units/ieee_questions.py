"""Questions that tell chains and trees of IEEE operations apart.

A plain sum (:func:`plain`) shows the order of lanes and the roundings, whatever the other parameters are. The
others show near the ends of the range (:func:`mixed`): subnormal numbers, overflows, zeros, infinities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tcsmt.identification.units.questions import (
    Questions,
    drawn_fractions,
    exponent_field,
    neither_zero_nor_normal,
    put_zeros,
    zero_words,
)
from tcsmt.matrix_units.arithmetic.boundary_words import from_exponents
from tcsmt.matrix_units.arithmetic.formats import Format

Array = np.ndarray[Any, np.dtype[Any]]
Random = np.random.Generator
#: Shares of terms that are zero.
_SPARSE = (0.0, 0.0, 0.5, 0.9)


class Units(Protocol):
    """Units of some formats; c and the results have one."""

    @property
    def a_format(self) -> Format:
        """Return the format of A."""

    @property
    def b_format(self) -> Format:
        """Return the format of B."""

    @property
    def c_format(self) -> Format:
        """Return the format of c, sums and D."""

    @property
    def k(self) -> int:
        """Return the number of products."""

    @property
    def product_exponent(self) -> int:
        """Return the exponent by which every product is scaled."""


def _room(units: Units) -> tuple[int, int]:
    """Exponents of terms whose sums are all zero or normal, and below the largest."""
    a, b, c = units.a_format, units.b_format, units.c_format
    last = max(a.fraction_bits + b.fraction_bits, c.fraction_bits)
    low = max(c.e_min + last, a.e_min + b.e_min + units.product_exponent)
    high = min(c.e_max - 2 - (units.k + 1).bit_length(), a.e_max + b.e_max + units.product_exponent)
    return low, high


def is_plain(units: Units, questions: Questions) -> Array:
    """Return which questions have operands and sums that are all zero or normal, in every order and rounding.

    Booleans of shape (questions,). Every term is a multiple of the smallest normal number, so that every sum
    is; and there is room above.
    """
    a, b, c = units.a_format, units.b_format, units.c_format
    low, high = _room(units)
    usual = ~neither_zero_nor_normal(c, questions.c)
    for fmt, words in ((a, questions.a), (b, questions.b)):
        usual &= ~(neither_zero_nor_normal(fmt, words) | _special(fmt, words)).any(axis=1)
    exponents = exponent_field(a, questions.a) + exponent_field(b, questions.b)
    exponents += units.product_exponent - a.bias - b.bias
    empty = zero_words(a, questions.a) | zero_words(b, questions.b)
    usual &= (empty | (exponents >= low) & (exponents <= high)).all(axis=1)
    of_c = exponent_field(c, questions.c) - c.bias
    plain: Array = usual & (zero_words(c, questions.c) | (of_c >= low) & (of_c <= high))
    return plain


def _special(fmt: Format, words: Array) -> Array:
    """Infinities and NaNs, also of formats that have them among the largest exponent's words."""
    magnitude = words & np.uint64((1 << fmt.sign_bit) - 1)
    special: Array = magnitude > np.uint64(fmt.largest_finite_word)
    if not fmt.has_negative_zero:
        special |= words == np.uint64(1 << fmt.sign_bit)
    return special


def plain(units: Units, random: Random, count: int) -> Questions:
    """Sums of terms that lie within reach of each other, none of them near an end of the range."""
    low, high = _room(units)
    high = max(low, high)
    shape = count, units.k + 1
    spread = random.integers(0, max(1, min(high - low, units.c_format.fraction_bits + 8)) + 1, (count, 1))
    top = random.integers(low + spread, high + 1)
    exponents = top - np.floor(random.random(shape) * (spread + 1)).astype(np.int64)
    questions = _terms(units, random, exponents, random.choice(_SPARSE, (count, 1)))
    return questions[is_plain(units, questions)]


def mixed(units: Units, random: Random, count: int) -> Questions:
    """Everything: results near both ends, subnormal words, zeros of both signs, infinities and NaNs."""
    d = units.c_format
    smallest = d.e_min - d.fraction_bits
    shape = count, units.k + 1
    kind = random.integers(0, 7, (count, 1))
    low, high = _room(units)
    base = np.select(
        [kind == 0, kind == 1, kind == 2, kind == 3],
        [
            random.integers(low, max(low, high) + 1, (count, 1)),
            d.e_min + random.integers(-2, 4, (count, 1)),
            d.e_max + random.integers(-3, 2, (count, 1)),
            smallest + random.integers(-4, 3, (count, 1)),
        ],
        d.e_min,
    )
    spread = random.choice([1, 3, d.fraction_bits + 4], (count, 1))
    exponents = base - np.floor(random.random(shape) * spread).astype(np.int64)
    empty = np.broadcast_to(random.choice(_SPARSE, (count, 1)), shape)
    edges = _Edges.drawn(units, random, kind[:, 0] == 4)
    questions = _terms(
        units,
        random,
        np.where(edges.rows, edges.exponents, exponents),
        np.where(edges.rows, edges.empty, empty),
    )
    edges.place(units, random, questions)
    questions = Questions(questions.a, questions.b, np.ascontiguousarray(questions.c))
    sides = (units.a_format, questions.a), (units.b_format, questions.b), (d, questions.c.reshape(-1, 1))
    for row in np.flatnonzero(kind == 5):
        for fmt, words in sides:
            _replaced(fmt, random, words[row])
    _zeros(sides, random, np.flatnonzero(kind == 6))
    return questions


def _zeros(sides: Sequence[tuple[Format, Array]], random: Random, rows: Array) -> None:
    """Products and c that are zeros of one sign, or subnormal numbers that are read as such."""
    signs = random.integers(0, 2, (len(rows), 2))
    signs = np.stack([signs[:, 0], signs[:, 1], signs[:, 0] ^ signs[:, 1]])
    for (fmt, words), sign in zip(sides, signs, strict=True):
        tiny = random.integers(0, 1 << fmt.fraction_bits, (len(rows), 1)) * random.integers(
            0, 2, (len(rows), 1)
        )
        minus = sign[:, None].astype(np.uint64) << np.uint64(fmt.sign_bit)
        word = tiny.astype(np.uint64) << np.uint64(fmt.ignored_low_bits)
        words[rows] = word | minus if fmt.has_negative_zero else word


@dataclass(frozen=True)
class _Edges:
    """Two terms: the smallest normal number or the largest one, and about half a unit of its last place.

    rows: which questions these are. exponents, empty: of their terms. first: the larger term. largest:
    whether it is the largest number.
    """

    rows: Array
    exponents: Array
    empty: Array
    first: Array
    largest: Array

    @classmethod
    def drawn(cls, units: Units, random: Random, rows: Array) -> _Edges:
        """Terms for some of many questions."""
        d, count = units.c_format, len(rows)
        first, second = random.permuted(np.tile(np.arange(units.k + 1), (count, 1)), axis=1)[:, :2].T
        largest = random.random(count) < 0.5
        top = np.where(largest, d.e_max, d.e_min)
        exponents = np.full((count, units.k + 1), d.e_min)
        empty = np.ones(exponents.shape)
        every = np.arange(count)
        empty[every, first] = empty[every, second] = 0.0
        exponents[every, first] = top
        exponents[every, second] = top - d.fraction_bits + random.integers(-4, 1, count)
        return cls(rows[:, None], exponents, empty, first, largest)

    def place(self, units: Units, random: Random, questions: Questions) -> None:
        """Make the larger term a power of two, or the largest number where it is c."""
        d, has_c = units.c_format, self.rows[:, 0]
        of_c = np.flatnonzero(has_c & (self.first == units.k))
        signs, tops = random.integers(0, 2, len(of_c)), np.where(self.largest, d.e_max, d.e_min)[of_c]
        fraction = np.where(self.largest, (1 << d.fraction_bits) - 1, 0)[of_c]
        questions.c[of_c] = from_exponents(d, signs, tops, fraction)
        rows = np.flatnonzero(has_c & (self.first < units.k) & ~self.largest)
        for fmt, side in ((units.a_format, questions.a), (units.b_format, questions.b)):
            words = side[rows, self.first[rows]]
            plain = words >> np.uint64(fmt.fraction_bits) << np.uint64(fmt.fraction_bits)
            side[rows, self.first[rows]] = np.where(exponent_field(fmt, words) > 0, plain, words)


def _terms(units: Units, random: Random, exponents: Array, empty: Array) -> Questions:
    """Terms of these exponents, the last one c; a share of them is zero, of either sign."""
    a, b, c = units.a_format, units.b_format, units.c_format
    shape = exponents.shape
    signs = np.asarray(random.integers(0, 2, shape))
    kinds = np.broadcast_to(random.choice(4, (len(exponents), 1), p=[0.6, 0.15, 0.1, 0.15]), shape)
    products = exponents[:, :-1] - units.product_exponent
    least, most = np.maximum(a.e_min, products - b.e_max), np.minimum(a.e_max, products - b.e_min)
    part = least + np.floor(random.random(products.shape) * (most - least + 1)).astype(np.int64)
    part = np.clip(np.where(most < least, products // 2, part), a.e_min - a.fraction_bits, a.e_max)
    other = np.clip(products - part, b.e_min - b.fraction_bits, b.e_max)
    of_c = np.clip(exponents[:, -1], c.e_min - c.fraction_bits, c.e_max)
    words = [
        from_exponents(fmt, sign, power, drawn_fractions(fmt, random, kind))
        for fmt, sign, power, kind in (
            (a, signs[:, :-1], part, kinds[:, :-1]),
            (b, 0 * signs[:, :-1], other, kinds[:, :-1]),
            (c, signs[:, -1], of_c, kinds[:, -1]),
        )
    ]
    zero = random.random(shape) < empty
    for fmt, side, gone in (
        (a, words[0], zero[:, :-1]),
        (b, words[1], zero[:, :-1]),
        (c, words[2], zero[:, -1]),
    ):
        put_zeros(fmt, random, side, gone)
    return Questions(*words)


def _replaced(fmt: Format, random: Random, words: Array) -> None:
    """Some words become zeros, subnormal numbers, the ends of the format, infinities or a NaN."""
    ends = [0, 1, (1 << fmt.fraction_bits) - 1, 1 << fmt.fraction_bits, fmt.largest_finite_word]
    ends += [fmt.infinity_word] if fmt.has_infinity else []
    ends += [fmt.nan_word] if fmt.nan_word is not None and random.random() < 0.3 else []
    for place in range(len(words)):
        if random.random() < 0.5:
            minus = int(random.integers(2)) << fmt.sign_bit if fmt.has_negative_zero else 0
            words[place] = np.uint64(ends[int(random.integers(len(ends)))] | minus)
