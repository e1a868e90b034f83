"""What the rows of one structure answer to an ordinary question, whatever it does not show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tcsmt.arithmetic.formats import Format
from tcsmt.arithmetic.rounding import ROUNDINGS
from tcsmt.identification.evaluate import chain, ends
from tcsmt.identification.family import Family, Structure, Table
from tcsmt.identification.questions import (
    Questions,
    exponent_field,
    last_place,
    least_exponent,
    neither_zero_nor_normal,
    product_exponents,
    zero_words,
)

__all__ = ["Outcomes", "blocks_used", "outcomes", "signature"]

Array = np.ndarray[Any, np.dtype[Any]]


def _coarse(family: Family, question: Questions) -> bool:
    """Whether every number is a multiple of one that no zero's exponent exceeds, so that every sum is."""
    a, b, c, _ = family.formats
    least = max(zero for zero in family.zero_exponents if zero is not None)
    places = last_place(a, question.a[0]) + last_place(b, question.b[0])
    used = question.a[0] != 0
    own = question.c[0] == 0 or last_place(c, question.c)[0] >= least
    return bool(own and (places[used] >= least).all())


def _unclear(
    family: Family, one: Structure, question: Questions, lanes: Sequence[int], fmt: Format, words: Array
) -> Array:
    """For which words as c, of this format, a zero's exponent can matter in a block."""
    if one.order == "every" and not _coarse(family, question):
        return np.ones(len(words), bool)
    used = [lane for lane in lanes if question.a[0, lane]]
    exponents = [int(e) for e in product_exponents(family, question)[0, used]]
    least = least_exponent(family)
    if exponents:
        return np.full(len(words), max(exponents) < least)
    small: Array = (exponent_field(fmt, words) < least + fmt.bias) & ~zero_words(fmt, words)
    return small


def blocks_used(one: Structure, question: Questions) -> list[tuple[int, ...]]:
    """The blocks without lanes and blocks that change nothing in the answer to an ordinary question.

    A zero product's exponent is no maximum there, so that it only counts as one of the additions
    with normalisation after every addition, which lose bits of what came before, but once only.
    So does a block of zeros.
    """
    used = question.a[0] != 0
    found: list[tuple[int, ...]] = []
    for lanes in one.blocks:
        kept = tuple(lane for lane in lanes if used[lane])
        if one.order == "every":
            kept = tuple(n for i, n in enumerate(lanes) if used[n] or i == 0 or used[lanes[i - 1]])
        idle = not used[list(lanes)].any()
        before = found and not used[list(found[-1])].any()
        nothing = not found and (one.order == "last" or not question.c[0])
        if not idle or not (before or nothing):
            found.append(kept or lanes[:1])
    return found or [one.blocks[0][:1]]


def signature(one: Structure, question: Questions) -> tuple[object, ...]:
    """Structures with the same one answer alike to an ordinary question, carry bits by number."""
    used = question.a[0] != 0
    blocks = tuple(tuple(n if used[n] else -1 for n in lanes) for lanes in blocks_used(one, question))
    return blocks, one.products, one.order


@dataclass(frozen=True)
class Outcomes:
    """What the rows of one structure answer to an ordinary question, up to what it does not show.

    ends: of every distinct word of the chain, what the last addition makes of it, by rounding and
    flush (one row without such an addition). word: each row's column. doubtful: rows that fit every
    answer. rounding: each row's ``c_rounding``, where it is known.
    """

    family: Family
    ends: Array
    word: Array
    doubtful: Array
    rounding: Array | None

    def fitting(self, answer: int) -> Array:
        """Which rows can give the answer; the sign of a zero is not looked at."""
        equal = self.ends == _without_sign_of_zero(self.family, np.array([answer], np.uint64))
        unsure = neither_zero_nor_normal(self.family.d_format, self.ends)
        found: Array = self._any(equal | unsure) | self.doubtful
        return found

    def certain(self, answer: int) -> Array:
        """Which rows give the answer whatever their columns from 6 on are, ``c_rounding`` apart."""
        if zero_words(self.family.d_format, np.array([answer], np.uint64))[0]:
            return np.zeros(len(self.word), bool)
        return ~self.doubtful & ~self._any(neither_zero_nor_normal(self.family.d_format, self.ends))

    def _any(self, ends: Array) -> Array:
        if self.rounding is None:
            one: Array = np.asarray(ends.any(axis=0))
            found: Array = one[self.word]
            return found
        each: Array = np.asarray(ends.reshape(2, len(ROUNDINGS), -1).any(axis=0))
        chosen: Array = each[self.rounding, self.word]
        return chosen


def _without_sign_of_zero(family: Family, words: Array) -> Array:
    return np.where(zero_words(family.d_format, words), np.uint64(0), words)


def outcomes(family: Family, table: Table, question: Questions, *, rounded: bool = False) -> Outcomes:
    """What the rows of one structure can answer, whatever the columns from 6 on are.

    rounded: column 11 (``c_rounding``) is known. The question must be ordinary: every word is zero
    or normal (see :func:`ordinary_rows`). The other columns matter to it only where a zero's exponent
    can be a block's largest, or a result on the way is subnormal or special (such rows are doubtful),
    and in the sign of a zero result.
    """
    one = family.structures[int(table[0, 0])]
    unclear = partial(_unclear, family, one, question)
    left = chain(family, one, table, question, blocks_used(one, question), unclear)
    last = one.order == "last"
    words = left.words[None]
    if last:
        words = ends(family, left.words, question.c, np.zeros(1, bool)).reshape(-1, len(left.words))
    numbers = left.word.astype(np.uint16 if len(left.words) < 1 << 16 else np.int64)
    rounding = table[:, 11] if last and rounded else None
    return Outcomes(family, _without_sign_of_zero(family, words), numbers, left.doubtful, rounding)
