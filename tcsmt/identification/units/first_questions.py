"""The first questions: ordinary sums, asked of every structure with the parameters that they show.

Structures that a question's few terms do not tell apart share one table, until a question does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcsmt.identification.units.block_routes import lanes_used, signature
from tcsmt.identification.units.evaluate import predictions, with_c
from tcsmt.identification.units.family import COLUMNS, Family, Table
from tcsmt.identification.units.hypotheses import TooMany
from tcsmt.identification.units.ordinary_sums import Grid, outcomes
from tcsmt.identification.units.questions import Questions, ordinary_rows, zero_words
from tcsmt.identification.units.vectors import Random, ordinary
from tcsmt.support.elimination import entropies
from tcsmt.support.text import counted

Array = np.ndarray[Any, np.dtype[Any]]

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
        rows = self.grid.rows(np.concatenate([own for _, own in sample]))
        routes = [(number, asked) for number, _ in sample for asked in range(len(pool))]
        place = np.repeat(np.arange(len(sample)), [len(own) for _, own in sample])
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
                _Group(group.structures, group.rows[own])
                for group, own in zip(several, fits, strict=True)
                if own.any()
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
                own = self._of(group, number)
                if len(own):
                    parts.append(self._explaining(number, own))
        whole = np.concatenate(parts)
        for question, word in self.others:
            whole = whole[predictions(self.family, whole, question)[:, 0] == word] if len(whole) else whole
        return whole

    def _explaining(self, structure: int, rows: Array) -> Table:
        """Rows of one structure with all other parameters; what is certain is not looked at again."""
        asked = Questions.joined([question for question, _ in self.asked])
        row, number = (axis.reshape(-1) for axis in np.indices((len(rows), len(asked))))
        routes = [(structure, place) for place in range(len(asked))]
        sure = outcomes(self.family, self.grid.rows(rows), row, asked, routes, number, rounded=True).certain()
        zero = zero_words(self.family.d_format, np.array([word for _, word in self.asked], np.uint64))
        certain = (sure & ~zero[number]).reshape(len(rows), len(asked)).T
        part = self.grid.table(rows, structure)
        whole, owner = self.family.grown(part)
        for (question, word), sure in zip(self.asked, certain, strict=True):
            kept = sure[owner]
            open_rows = np.flatnonzero(~kept)
            kept[open_rows] = predictions(self.family, whole[open_rows], question)[:, 0] == word
            whole, owner = whole[kept], owner[kept]
        return whole

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
