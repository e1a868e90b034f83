"""The answers of rows to ordinary questions, whatever it is that these do not show; and such rows as numbers.

Millions of rows over the parameters that an ordinary sum shows take little room as numbers: the digits are a
row's columns 1 to 5, and 11, in that order; all other columns are 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from tcsmt.identification.units.block_routes import used_routes
from tcsmt.identification.units.evaluate import SplitRows, chain, distinct, ends
from tcsmt.identification.units.family import COLUMNS, Family, Table
from tcsmt.identification.units.questions import Questions, neither_zero_nor_normal, zero_words

# --- Rows as numbers -----------------------------------------------------------------------------


Array = np.ndarray[Any, np.dtype[Any]]

#: The columns that are digits.
_DIGITS = (1, 2, 3, 4, 5, 11)


class Grid:
    """The numbers of a family's rows, whichever structure they are of."""

    def __init__(self, family: Family) -> None:
        self.family = family
        carries = max(len(family.carries(structure)) for structure in family.structures)
        self.sizes = (
            len(family.bits),
            len(family.alignments),
            carries,
            len(family.roundings),
            len(family.round_bits),
            len(family.roundings),
        )
        self._after = [prod(self.sizes[place + 1 :]) for place in range(len(self.sizes))]

    def every(self, number: int) -> Array:
        """All rows of a structure, in order, int32 (rows,); the last column is 0."""
        structure = self.family.structures[number]
        sizes = list(self.sizes)
        sizes[1] -= structure.order == "every"
        sizes[2], sizes[5] = len(self.family.carries(structure)), 1
        whole = np.zeros(1, np.int32)
        for size, after in zip(sizes, self._after, strict=True):
            whole = (whole[:, None] + np.arange(size, dtype=np.int32) * np.int32(after)).reshape(-1)
        return whole

    def with_last_rounding(self, numbers: Array) -> Array:
        """Every row with every value of the last column. numbers: int32 (rows,)."""
        return (numbers[:, None] + np.arange(self.sizes[5], dtype=np.int32)).reshape(-1)

    def digit(self, numbers: Array, column: int) -> Array:
        """A column of rows. numbers: int32 of any shape, as the column."""
        place = _DIGITS.index(column)
        digits: Array = numbers // np.int32(self._after[place]) % np.int32(self.sizes[place])
        return digits

    def table(self, numbers: Array, structure: int) -> Table:
        """Return the rows as those of a structure: int16 (rows, columns). numbers: int32 (rows,)."""
        table = np.zeros((len(numbers), len(COLUMNS)), np.int16)
        table[:, 0] = structure
        for column in _DIGITS:
            table[:, column] = self.digit(numbers, column)
        return table

    def rows(self, numbers: Array) -> SplitRows:
        """Return the rows for the evaluator. numbers: int32 (rows,)."""
        front, rest = np.divmod(numbers, np.int32(self._after[2]))
        back, last = np.divmod(rest, np.int32(self.sizes[5]))
        return SplitRows(self._fronts, front, self._backs, back, last)

    @cached_property
    def _fronts(self) -> Array:
        digits = np.indices(self.sizes[:3]).reshape(3, -1).T
        return np.concatenate([digits, np.zeros((len(digits), 2), digits.dtype)], axis=1)

    @cached_property
    def _backs(self) -> Array:
        digits = np.indices(self.sizes[3:5]).reshape(2, -1).T
        return np.concatenate([digits, np.zeros((len(digits), 3), digits.dtype)], axis=1)


# --- Answers to ordinary questions ---------------------------------------------------------------


@dataclass(frozen=True)
class Outcomes:
    """The results of pairs of a row and an ordinary question, up to what the question does not show.

    words: what the blocks leave. word: each pair's number of one. last: the pairs whose c is added last, by
    their numbers. ends: what the last addition makes, by flush and rounding. end: the column of each pair in
    ``last``. doubtful: pairs that fit every answer. rounding: ``c_rounding`` of the pairs in ``last``, where
    it is known.
    """

    family: Family
    words: Array
    word: Array
    last: Array
    ends: Array
    end: Array
    doubtful: Array
    rounding: Array | None

    def fitting(self, answer: int) -> Array:
        """Return which pairs can give the answer, booleans (pairs,); the sign of a zero is not looked at."""
        own = _without_sign_of_zero(self.family, np.array([answer], np.uint64))

        def can(words: Array) -> Array:
            equal: Array = _without_sign_of_zero(self.family, words) == own
            return equal | neither_zero_nor_normal(self.family.d_format, words)

        return self._any(can) | self.doubtful

    def certain(self) -> Array:
        """Return which pairs give an answer whatever the columns from 6 on are, ``c_rounding`` apart.

        Booleans (pairs,). Where the answer is a zero, its sign depends on them.
        """
        fmt = self.family.d_format
        return ~self.doubtful & ~self._any(lambda words: neither_zero_nor_normal(fmt, words))

    def _any(self, test: Callable[[Array], Array]) -> Array:
        """Return for which pairs the test is true of some result that they can have."""
        result: Array = test(self.words)[self.word]
        if len(self.last):
            each = np.logical_or.reduce(test(self.ends))
            if self.rounding is None:
                result[self.last] = np.logical_or.reduce(each)[self.end]
            else:
                result[self.last] = each[self.rounding, self.end]
        return result


def _without_sign_of_zero(family: Family, words: Array) -> Array:
    return np.where(zero_words(family.d_format, words), np.uint64(0), words)


def outcomes(
    family: Family,
    rows: SplitRows,
    row: Array | slice,
    questions: Questions,
    routes: Sequence[tuple[int, int]],
    route: Array,
    *,
    rounded: bool = False,
) -> Outcomes:
    """Return what rows can answer to questions, whatever the columns from 6 on are.

    routes: numbers of structures, and of questions. row, route: of the pairs (pairs,), by their numbers.
    rounded: column 11 (``c_rounding``) is known. The questions must be ordinary: every word is zero
    or normal (see :func:`ordinary_rows`). The other columns matter to them only where a zero's exponent
    can be a block's largest, or a result on the way is subnormal or special (such pairs are doubtful),
    and in the sign of a zero result.
    """
    structures = [family.structures[number] for number, _ in routes]
    asked = [number for _, number in routes]
    sums = chain(family, used_routes(family, structures, asked, questions), rows, row, route)
    last = np.flatnonzero(np.array([structure.order == "last" for structure in structures])[route])
    (w, v), end = distinct(sums.word[last], np.array(asked)[route[last]])
    after = ends(family, sums.words[w], questions.c[v], np.zeros(len(w), bool))
    rounding = rows.last[row][last] if rounded else None
    return Outcomes(family, sums.words, sums.word, last, after, end, sums.doubtful, rounding)
