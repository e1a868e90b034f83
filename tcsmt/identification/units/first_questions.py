"""The first questions: ordinary sums, asked of every structure with the parameters that they show.

Structures that a question's few terms do not tell apart share one table, until a question does.

The answers of rows to ordinary questions, whatever it is that these do not show; and such rows as numbers.

Millions of rows over the parameters that an ordinary sum shows take little room as numbers: the digits are a
row's columns 1 to 5, and 11, in that order; all other columns are 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from tcsmt.identification.units.block_routes import lanes_used, signature, used_routes
from tcsmt.identification.units.evaluate import SplitRows, chain, distinct, ends, predictions, with_c
from tcsmt.identification.units.family import COLUMNS, Family, Table
from tcsmt.identification.units.hypotheses import TooMany
from tcsmt.identification.units.questions import Questions, neither_zero_nor_normal, ordinary_rows, zero_words
from tcsmt.identification.units.vectors import Random, ordinary
from tcsmt.support.elimination import entropies
from tcsmt.support.text import counted

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
        numbers = np.zeros(1, np.int32)
        for size, after in zip(sizes, self._after, strict=True):
            numbers = (numbers[:, None] + np.arange(size, dtype=np.int32) * np.int32(after)).reshape(-1)
        return numbers

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
        wanted = _without_sign_of_zero(self.family, np.array([answer], np.uint64))

        def can(words: Array) -> Array:
            equal: Array = _without_sign_of_zero(self.family, words) == wanted
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


#: Questions asked at most; of these, with c and the first lane alone; hypotheses that are few enough.
MOST, NARROW, FEW = 24, 2, 20
#: Hypotheses among which the last addition's rounding is told apart.
ROUNDED = 500_000
#: Rows that the other columns are given to, at most.
LARGEST = 6_000_000
#: Questions in a pool, hypotheses in a sample, and structures that they are of.
POOL, SAMPLE, STRUCTURES = 80, 240, 6
#: Questions of a pool that are looked at closely, and the share of hypotheses that one must not leave.
TRIED, ENOUGH = 6, 0.97
#: Pools without such a question after which no more are tried.
PATIENCE = 3
#: Rows that are computed at once.
AT_ONCE = 1 << 20


@dataclass
class _Group:
    """Structures with the same rows, by their numbers in the grid; the first has the most carry bits."""

    structures: list[int]
    rows: Array


class Opening:
    """Hypotheses over all structures, and questions that split them."""

    def __init__(self, family: Family, random: Random, progress: Callable[[str], None]) -> None:
        self.family, self.random, self.progress = family, random, progress
        self.asked: list[tuple[Questions, int]] = []
        self.others: list[tuple[Questions, int]] = []
        self.rounded = False
        self.grid = Grid(family)
        groups: dict[tuple[str, str], list[int]] = {}
        for number, structure in enumerate(family.structures):
            groups.setdefault((structure.products, structure.order), []).append(number)
        self.groups = [_Group(numbers, self.grid.every(numbers[0])) for numbers in groups.values()]

    @property
    def few(self) -> bool:
        """Return whether so few are left that other questions split them as well."""
        return self._left() <= FEW

    def question(self) -> Questions | None:
        """One that splits the rest well; None: there are few, or none is found."""
        if len(self.asked) >= MOST or self.few:
            return None
        for _ in range(PATIENCE):
            sample = self._sample()
            pool = ordinary(self.family, self.random, POOL, (0,) if len(self.asked) < NARROW else ())
            words, certain = self._foreseen(sample, pool)
            scores = entropies(words)
            tried = [int(i) for i in np.argsort(-scores)[:TRIED] if scores[i] > 0]
            remaining = [_expected(words[:, i], certain[:, i]) for i in tried]
            if remaining and min(remaining) < ENOUGH:
                return pool[[tried[int(np.argmin(remaining))]]]
        return None

    def _foreseen(self, sample: Sequence[tuple[int, Array]], pool: Questions) -> tuple[Array, Array]:
        """Return what each row of a sample answers to each question, and where no other column matters to
        that.
        """
        rows = self.grid.rows(np.concatenate([numbers for _, numbers in sample]))
        routes = [(number, asked) for number, _ in sample for asked in range(len(pool))]
        place = np.repeat(np.arange(len(sample)), [len(numbers) for _, numbers in sample])
        row, asked = (axis.reshape(-1) for axis in np.indices((len(place), len(pool))))
        route = place[row] * len(pool) + asked
        foreseen = outcomes(self.family, rows, row, pool, routes, route, rounded=self.rounded)
        words, last = foreseen.words[foreseen.word], foreseen.last
        parameters = np.zeros((len(self.family.roundings), 4), np.int64)
        parameters[:, 3] = np.arange(len(parameters))
        words[last] = with_c(
            self.family,
            foreseen.words,
            foreseen.word[last],
            parameters,
            rows.last[row[last]],
            pool.c[asked[last]],
        )
        return words.reshape(-1, len(pool)), foreseen.certain().reshape(-1, len(pool))

    def answer(self, question: Questions, word: int) -> None:
        """Keep what explains the answer; of a question that is no ordinary sum, when the table is made."""
        if not ordinary_rows(self.family, question)[0]:
            self.others.append((question, word))
            return
        self.asked.append((question, word))
        groups = []
        for several in _batches(self._alike(question)):
            rows = self.grid.rows(np.concatenate([group.rows for group in several]))
            sizes = [len(group.rows) for group in several]
            routes = [(group.structures[0], 0) for group in several]
            route = np.repeat(np.arange(len(several)), sizes)
            outcome = outcomes(self.family, rows, slice(None), question, routes, route, rounded=self.rounded)
            fits = np.split(outcome.fitting(word), np.cumsum(sizes)[:-1])
            groups += [
                _Group(group.structures, group.rows[chosen])
                for group, chosen in zip(several, fits, strict=True)
                if chosen.any()
            ]
        self.groups = groups
        if self._left() < ROUNDED:
            self._round()
        counts = counted(len(self.asked), "question"), counted(self._left(), "hypothesis")
        self.progress(f"{', '.join(counts)} left, some parameters apart")

    def _alike(self, question: Questions) -> Iterator[_Group]:
        """Yield the groups divided, so that all structures of one answer alike to a question."""
        used, c = lanes_used(question)[0], bool(question.c[0])
        for group in self.groups:
            alike: dict[tuple[object, ...], list[int]] = {}
            for number in group.structures:
                key = signature(self.family.structures[number], used, c=c)
                alike.setdefault(key, []).append(number)
            for numbers in alike.values():
                yield _Group(numbers, self._of(group, numbers[0]))

    def _of(self, group: _Group, number: int) -> Array:
        """Return the rows that a structure of a group has."""
        carries = self._carries(number)
        if carries == self._carries(group.structures[0]):
            return group.rows
        return group.rows[self.grid.digit(group.rows, 3) < carries]

    def _round(self) -> None:
        """Give the rows the last addition's rounding."""
        if not self.rounded:
            self.rounded = True
            for group in self.groups:
                if self.family.structures[group.structures[0]].order == "last":
                    group.rows = self.grid.with_last_rounding(group.rows)

    def _left(self) -> int:
        return sum(len(group.rows) * len(group.structures) for group in self.groups)

    def table(self) -> Table:
        """Return the rows of every structure that explain the answers, with all parameters.

        Returns int16 (rows, 12). Raises :class:`.TooMany`.
        """
        self._round()
        if self._left() * len(self.family.rest(0)) > LARGEST:
            raise TooMany(
                f"{self._left()} hypotheses of blocks and roundings explain "
                f"{counted(len(self.asked), 'ordinary sum')}: "
                f"with all other parameters that is more than the {LARGEST} which a table may hold"
            )
        parts = [np.zeros((0, len(COLUMNS)), np.int16)]
        for group in self.groups:
            for number in group.structures:
                numbers = self._of(group, number)
                if len(numbers):
                    parts.append(self._explaining(number, numbers))
        rows = np.concatenate(parts)
        for question, word in self.others:
            rows = rows[predictions(self.family, rows, question)[:, 0] == word] if len(rows) else rows
        return rows

    def _explaining(self, structure: int, rows: Array) -> Table:
        """Rows of one structure with all other parameters; what is certain is not looked at again."""
        asked = Questions.joined([question for question, _ in self.asked])
        row, number = (axis.reshape(-1) for axis in np.indices((len(rows), len(asked))))
        routes = [(structure, place) for place in range(len(asked))]
        sure = outcomes(self.family, self.grid.rows(rows), row, asked, routes, number, rounded=True).certain()
        zero = zero_words(self.family.d_format, np.array([word for _, word in self.asked], np.uint64))
        certain = (sure & ~zero[number]).reshape(len(rows), len(asked)).T
        part = self.grid.table(rows, structure)
        full, owner = self.family.grown(part)
        for (question, word), sure in zip(self.asked, certain, strict=True):
            fitting = sure[owner]
            open_rows = np.flatnonzero(~fitting)
            fitting[open_rows] = predictions(self.family, full[open_rows], question)[:, 0] == word
            full, owner = full[fitting], owner[fitting]
        return full

    def _carries(self, number: int) -> int:
        return len(self.family.carries(self.family.structures[number]))

    def _sample(self) -> list[tuple[int, Array]]:
        """Some rows of a few structures."""
        chosen = self.random.permutation(len(self.groups))[:STRUCTURES]
        sample = []
        for place in chosen:
            group = self.groups[place]
            number = int(self.random.choice(group.structures))
            rows = self._of(group, number)
            sample.append((number, rows[self.random.permutation(len(rows))[: SAMPLE // len(chosen)]]))
        return sample


def _expected(words: Array, certain: Array) -> float:
    """Return the share of a sample that an answer leaves, on average over what its rows predict."""
    _, place, counts = np.unique(words, return_inverse=True, return_counts=True)
    sizes = np.bincount(place, certain, len(counts)) + (~certain).sum()
    return float((sizes[place] / len(words)).mean())


def _batches(groups: Iterable[_Group]) -> Iterator[list[_Group]]:
    """Groups with rows, several at a time."""
    several: list[_Group] = []
    for group in groups:
        if several and sum(len(member.rows) for member in several) + len(group.rows) > AT_ONCE:
            yield several
            several = []
        several += [group] if len(group.rows) else []
    if several:
        yield several
