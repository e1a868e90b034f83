"""The answers of rows to ordinary questions, whatever it is that these do not show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcsmt.identification.units.block_routes import used_routes
from tcsmt.identification.units.evaluate import SplitRows, chain, distinct, ends
from tcsmt.identification.units.family import Family
from tcsmt.identification.units.questions import Questions, neither_zero_nor_normal, zero_words

__all__ = ["Outcomes", "outcomes"]

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Outcomes:
    """What pairs of a row and an ordinary question lead to, up to what the question does not show.

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
        """For which pairs the test is true of some result that they can have."""
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
