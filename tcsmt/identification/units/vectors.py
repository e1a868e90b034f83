"""Questions worth asking: random sums whose terms lie close enough to act on each other.

A question has a largest exponent, a spread of exponents below it, a kind of significand, and lanes that
are zero; most have a pair of lanes that cancels, so that what alignment left of the others shows.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcsmt.identification.units.family import Family, Table
from tcsmt.identification.units.questions import (
    SIGNIFICANDS,
    Questions,
    drawn_fractions,
    least_exponent,
    ordinary_rows,
    put_zeros,
)
from tcsmt.matrix_units.arithmetic.boundary_words import (
    from_exponent,
    from_exponents,
)

Array = np.ndarray[Any, np.dtype[Any]]
Random = np.random.Generator


#: Shares of the kinds of significands but the last, added up.
_SHARES = (0.5, 0.7, 0.8)


def _one_of(random: Random, values: Sequence[int]) -> int:
    return values[int(random.integers(len(values)))]


def ordinary(family: Family, random: Random, count: int, lanes: Sequence[int] = ()) -> Questions:
    """Few terms, normal words, the others zero (see :func:`.outcomes`).

    Half of them have a pair that cancels, so that what alignment left of the others shows.
    lanes: only these, and c.
    """
    usable = [*(lanes or range(family.k)), family.k]
    a, b, c, d = family.formats
    least = least_exponent(family)
    floor = max(a.e_min + b.e_min, least - 44)
    ceiling = min(a.e_max + b.e_max, max(least, floor) + 44)
    top = min(ceiling, d.e_max - 2)
    questions = Questions(
        np.zeros((count, family.k), np.uint64),
        np.zeros((count, family.k), np.uint64),
        np.zeros(count, np.uint64),
    )

    kinds = np.arange(len(SIGNIFICANDS))

    def put(row: int, lane: int, exponent: int, sign: int, kind: int) -> None:
        if lane == family.k:
            words = [(questions.c, row, c, min(max(exponent, c.e_min), c.e_max), sign)]
        else:
            exponent = min(max(exponent, floor), ceiling)
            low, high = max(a.e_min, exponent - b.e_max), min(a.e_max, exponent - b.e_min)
            part = int(random.integers(low, high + 1))
            words = [(questions.a[row], lane, a, part, sign), (questions.b[row], lane, b, exponent - part, 0)]
        for side, place, fmt, power, minus in words:
            side[place] = from_exponent(fmt, minus, power, int(drawn_fractions(fmt, random, kinds[kind])))

    for row in range(count):
        free = [int(lane) for lane in random.permutation(usable)]
        order = random.random()
        if order < 0.4:
            free.sort(key=lambda lane: lane != family.k)  # c first
        elif order < 0.8:  # the first lane in a pair or first, so that no zero is larger than c
            free.sort(key=lambda lane: (lane == 0, lane != family.k))
        high = int(random.integers(min(least + 8, top), top + 1))
        sign = int(random.integers(2))
        kind = bisect_right(_SHARES, random.random())
        if len(free) > 2 and random.random() < 0.5:
            put(row, free.pop(), high, sign, 1)
            put(row, free.pop(), high, 1 - sign, 1)
        else:
            put(row, free.pop(), high, sign, kind)
        for lane in free[: int(random.integers(1, 5))]:
            depth = int(random.integers(0, _one_of(random, (2, 6, 16, 44))))
            put(row, lane, high - depth, int(random.integers(2)), kind)
    return questions[ordinary_rows(family, questions)]


def mixed(family: Family, random: Random, count: int, table: Table | None = None) -> Questions:
    """Everything: zeros of both signs, subnormal words, results near both ends, infinities and NaNs.

    table: hypotheses to tell apart: small terms then often lie at the last place of one of their grids. It is
    int16 (rows, 12); None: no hypotheses to tell apart.
    """
    bits, zeros = list(family.bits), family.zero_exponents
    if table is not None:
        bits = [bits[place] for place in np.unique(table[:, 1])]
        zeros = [zeros[place] for place in np.unique(table[:, 6])]
    grids = bits, [z for z in zeros if z is not None]
    a, b, c, d = family.formats
    k, shape = family.k, (count, family.k)
    low, high = a.e_min + b.e_min, a.e_max + b.e_max
    tiny = d.e_min - d.fraction_bits
    tops = np.stack(
        [
            random.integers(0, max(1, min(high, d.e_max)), count),
            random.integers(min(d.e_max - 4, high - 3), d.e_max + 2, count),
            random.integers(tiny - 4, d.e_min + 10, count),
            np.maximum(low - 8, d.e_min - random.integers(-6, 14, count)),
        ]
    )
    which = random.choice(4, count, p=[0.35, 0.2, 0.25, 0.2])
    top = tops[which, np.arange(count)]
    spread = random.choice([1, 3, 10, 26, 44], count)
    exponents = top[:, None] - random.integers(0, 1 << 30, shape) % spread[:, None]
    exponents = np.clip(exponents, low - a.fraction_bits - b.fraction_bits, high)
    middle = exponents // 2
    uneven = random.integers(-3, 4, shape) * random.integers(0, 4, shape)
    split = np.clip(middle + uneven, exponents - b.e_max, a.e_max)
    mode = random.choice(3, count, p=[0.6, 0.2, 0.2])
    signs = np.where(mode[:, None] == 0, random.integers(0, 2, shape), mode[:, None] - 1)
    kind = np.broadcast_to(random.choice(4, count, p=[0.5, 0.2, 0.15, 0.15])[:, None], shape)
    x = from_exponents(a, signs, split, drawn_fractions(a, random, kind))
    y = from_exponents(b, 0 * signs, exponents - split, drawn_fractions(b, random, kind))
    for row in np.flatnonzero(random.random(count) < 0.5):
        lanes = random.permutation(k)
        for first, second in zip(lanes[0 : k // 2 : 2], lanes[1 : k // 2 + 1 : 2], strict=False):
            x[row, second] = x[row, first] ^ np.uint64(1 << a.sign_bit)
            y[row, second] = y[row, first]
    share = random.choice([0.0, 0.3, 0.8, 0.95], count)[:, None]
    for words, fmt in ((x, a), (y, b)):
        zero = random.random(shape) < share
        put_zeros(fmt, random, words, zero)
    same = top - random.integers(0, 1 << 30, count) % spread
    near = np.clip(np.where(random.random(count) < 0.5, same, top), c.e_min - c.fraction_bits, c.e_max)
    sign_c = np.where(mode == 0, random.integers(0, 2, count), mode - 1)
    z = from_exponents(c, sign_c, near, drawn_fractions(c, random, kind[:, 0]))
    empty = random.random(count) < 0.35
    z[empty] = (random.integers(0, 2, count).astype(np.uint64) << np.uint64(c.sign_bit))[empty]
    for row in np.flatnonzero(random.random(count) < 0.05):
        _special(family, random, x[row], y[row])
    for row in np.flatnonzero(random.random(count) < 0.5):
        x[row], y[row], z[row] = 0, 0, 0
        _directed(family, random, x[row], y[row], z[row : row + 1], grids)
    structures = (
        family.structures if table is None else [family.structures[n] for n in np.unique(table[:, 0])]
    )
    for row in np.flatnonzero(random.random(count) < 0.06):
        x[row], y[row] = 0, 0
        blocks = structures[int(random.integers(len(structures)))].blocks
        _full(family, random, x[row], y[row], z[row : row + 1], blocks)
    for row in np.flatnonzero(random.random(count) < 0.06):
        _vanishing(family, random, x[row], y[row], z[row : row + 1])
    minus_zeros = [1 << fmt.sign_bit if fmt.has_negative_zero else 0 for fmt in (a, b, c)]
    for row in np.flatnonzero(random.random(count) < 0.02):
        x[row], y[row], z[row] = minus_zeros[0], 0, minus_zeros[2]
    return Questions(x, y, z)


@dataclass
class _Terms:
    """The words of one question, zero at first, and the lanes that are free; c is lane k."""

    family: Family
    random: Random
    x: Array
    y: Array
    z: Array
    lanes: list[int]

    @property
    def low(self) -> int:
        """Return the least exponent of a product."""
        a, b, _, _ = self.family.formats
        return a.e_min + b.e_min - a.fraction_bits - b.fraction_bits

    @property
    def high(self) -> int:
        """Return the largest exponent of two powers of two."""
        a, b, _, _ = self.family.formats
        return a.e_max + b.e_max

    def put(self, exponent: int, sign: int, plain: bool) -> None:
        """A term of about that exponent in the last free lane; plain: a power of two."""
        a, b, c, _ = self.family.formats
        lane = self.lanes.pop()
        if lane == self.family.k:
            exponent = min(max(exponent, c.e_min - c.fraction_bits), c.e_max)
            fraction = 0 if plain else int(self.random.integers(1 << c.fraction_bits))
            self.z[0] = from_exponent(c, sign, exponent, fraction)
            return
        exponent = min(max(exponent, self.low), self.high)
        least = max(a.e_min - a.fraction_bits, exponent - b.e_max)
        most = min(a.e_max, exponent - b.e_min + b.fraction_bits)
        part = int(self.random.integers(least, most + 1))
        for words, fmt, power, minus in ((self.x, a, part, sign), (self.y, b, exponent - part, 0)):
            fraction = 0 if plain else int(self.random.integers(1 << fmt.fraction_bits))
            words[lane] = from_exponent(fmt, minus, power, fraction)

    def put_cancelling_products(self, exponent: int, sign: int) -> None:
        """Two products that are each other's negative."""
        lane = self.lanes[-1]
        self.put(exponent, sign, False)
        if self.lanes:
            other = self.lanes.pop()
            self.x[other] = self.x[lane] ^ np.uint64(1 << self.family.formats[0].sign_bit)
            self.y[other] = self.y[lane]


def _directed(
    family: Family, random: Random, x: Array, y: Array, z: Array, grids: tuple[list[int], list[int]]
) -> None:
    """A few terms, the others zero: a pair that cancels, or a tie of the result, and terms far below."""
    a, b, _, d = family.formats
    terms = _Terms(family, random, x, y, z, [int(lane) for lane in random.permutation(family.k + 1)])
    if random.random() < 0.5:
        terms.lanes.sort(key=lambda lane: lane != family.k)  # c first
    tiny = d.e_min - d.fraction_bits
    near_bottom = random.random() < 0.5
    floor, ceiling = max(terms.low, tiny - 2), min(terms.high, d.e_max)
    ceiling = max(floor, min(ceiling, d.e_min + 14) if near_bottom else ceiling)
    top = int(random.integers(floor, ceiling + 1))
    sign = int(random.integers(2))
    signs = [int(s) for s in random.integers(0, 2, 4)]
    if random.random() < 0.4:
        signs = [sign] * 4
    plain = bool(random.random() < 0.7)
    kind = int(random.integers(4))
    depth = int(random.integers(1, 46))
    top = _leading(terms, kind, top, depth, (sign, signs[0]))
    bits, zeros = grids
    if random.random() < 0.7:  # the last place of a grid, or near it
        zero = _one_of(random, zeros) if zeros and random.random() < 0.5 else top
        depth = top - max(top, zero) + _one_of(random, bits) + int(random.integers(-1, 3))
    for place in range(int(random.integers(1, 4))):
        if terms.lanes:
            below = int(random.integers(0, 3)) * int(random.integers(2)) * (place > 0)
            terms.put(top - depth - below, signs[place + 1], plain)
    if terms.lanes and terms.lanes[-1] != family.k and random.random() < 0.2:
        words, fmt = ((x, a), (y, b))[int(random.integers(2))]  # a zero product with a large operand
        words[terms.lanes[-1]] = fmt.largest_finite_word


def _leading(terms: _Terms, kind: int, top: int, depth: int, signs: tuple[int, int]) -> int:
    """Return the terms above the others, by their kind; their exponent, or that of what is above the
    others.
    """
    (sign, other), random, d = signs, terms.random, terms.family.formats[3]
    tiny = d.e_min - d.fraction_bits
    if kind == 0 and terms.family.k not in terms.lanes[-2:] and random.random() < 0.5:
        terms.put_cancelling_products(top, sign)
    elif kind == 0:  # a pair that cancels
        terms.put(top, sign, True)
        if terms.lanes:
            terms.put(top, 1 - sign, True)
    elif kind == 1:  # a tie of the result
        terms.put(top, sign, True)
        if terms.lanes:
            bits = int(random.integers(d.fraction_bits, d.fraction_bits + 2))
            terms.put(max(top - bits - 1, tiny - 1), other, True)
    elif kind == 2:  # half of the smallest number
        top = tiny - 1 + int(random.integers(0, 2))
        terms.put(top, sign, True)
    elif random.random() < 0.3:  # nothing above the terms but zeros
        top += depth
    return top


def _full(
    family: Family, random: Random, x: Array, y: Array, z: Array, blocks: Sequence[Sequence[int]]
) -> None:
    """The largest sum of one block: terms of one sign and one exponent, each as large as it can be.

    The block's c is as large too, or one such product of the block before it.
    """
    a, b, c, d = family.formats
    high = min(a.e_max + b.e_max - 1, c.e_max, d.e_max - family.k.bit_length() - 3)
    low = max(a.e_min + b.e_min, c.e_min, d.e_min)
    exponent = int(random.integers(min(low, high), high + 1))
    part = int(np.clip(exponent // 2, exponent - b.e_max, a.e_max - 1))
    sign = int(random.integers(2))
    place = int(random.integers(len(blocks)))
    lanes = [*blocks[place], *blocks[place - 1][:1]] if place else [*blocks[place]]
    ones = [(1 << fmt.fraction_bits) - 1 for fmt in (a, b, c)]
    if random.random() < 0.5:  # just below 2, for products that are normalised
        ones[0], ones[1] = ones[0] - 1, 1
    parts = ((x, lanes, a, part, sign), (y, lanes, b, exponent - part, 0), (z, [0], c, exponent, sign))
    for (words, places, fmt, power, minus), fraction in zip(parts, ones, strict=True):
        words[places] = from_exponent(fmt, minus, power, max(0, fraction))


def _vanishing(family: Family, random: Random, x: Array, y: Array, z: Array) -> None:
    """Two products that nearly cancel, so far below the smallest number that the result is a zero.

    Its sign says whether anything was left of them: on a grid that a zero's exponent made too coarse, both
    are the same. Nothing else shows that where every result of this size vanishes. c is a zero.
    """
    a, b, c, d = family.formats
    low, high = a.e_min + b.e_min, d.e_min - d.fraction_bits - 3
    if family.k < 2 or low >= high or not (a.has_negative_zero and c.has_negative_zero):
        return
    x[:], y[:], z[0] = 0, 0, int(random.integers(2)) << c.sign_bit
    exponent = int(random.integers(low, high))
    part = int(random.integers(max(a.e_min, exponent - b.e_max), min(a.e_max, exponent - b.e_min) + 1))
    sign, same = int(random.integers(2)), random.random() < 0.5
    fractions_of_a = random.integers(0, 1 << a.fraction_bits, 2)
    if same:
        fractions_of_a[1] = fractions_of_a[0]
    for number, lane in enumerate(random.permutation(family.k)[:2]):
        fraction = int(random.integers(1 << b.fraction_bits))
        x[lane] = from_exponents(
            a, np.array([sign ^ number]), np.array([part]), fractions_of_a[number : number + 1]
        )[0]
        y[lane] = from_exponents(b, np.array([0]), np.array([exponent - part]), np.array([fraction]))[0]


def _special(family: Family, random: Random, x: Array, y: Array) -> None:
    """An infinity or a NaN in one lane."""
    lane, side = int(random.integers(family.k)), int(random.integers(2))
    fmt, words = ((family.a_format, x), (family.b_format, y))[side]
    choices = [word for word in (fmt.infinity_word if fmt.has_infinity else None, fmt.nan_word) if word]
    if choices:
        words[lane] = choices[int(random.integers(len(choices)))]
