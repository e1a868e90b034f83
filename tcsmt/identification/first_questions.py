"""The first questions: ordinary sums, asked of every structure with the parameters that they show.

Structures that a question's few terms do not tell apart share one table, until a question does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcsmt.identification.evaluate import predictions
from tcsmt.identification.family import Family, Table
from tcsmt.identification.hypotheses import TooMany
from tcsmt.identification.outcomes import outcomes, signature
from tcsmt.identification.questions import Questions, ordinary_rows
from tcsmt.identification.score import entropy
from tcsmt.identification.vectors import Random, ordinary

__all__ = ["Opening"]

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
#: An answer that is not zero.
ANY = 1


@dataclass
class _Group:
    """Structures with the same rows; the rows are those of the first, which has the most carry bits."""

    structures: list[int]
    table: Table


class Opening:
    """Hypotheses over all structures, and questions that split them."""

    def __init__(self, family: Family, random: Random, progress: Callable[[str], None]) -> None:
        self.family, self.random, self.progress = family, random, progress
        self.asked: list[tuple[Questions, int]] = []
        self.others: list[tuple[Questions, int]] = []
        self.rounded = False
        groups: dict[tuple[str, str], list[int]] = {}
        for number, one in enumerate(family.structures):
            groups.setdefault((one.products, one.order), []).append(number)
        self.groups = [_Group(numbers, family.first(numbers[0])) for numbers in groups.values()]

    @property
    def few(self) -> bool:
        """Whether so few are left that other questions split them as well."""
        return self._left() <= FEW

    def question(self) -> Questions | None:
        """One that splits the rest well; None: there are few, or none is found."""
        if len(self.asked) >= MOST or self.few:
            return None
        for _ in range(PATIENCE):
            sample = self._sample()
            pool = ordinary(self.family, self.random, POOL, (0,) if len(self.asked) < NARROW else ())
            words = predictions(self.family, sample, pool)
            scores = np.array([entropy(words[:, i]) for i in range(len(pool))])
            tried = [int(i) for i in np.argsort(-scores)[:TRIED] if scores[i] > 0]
            left = [self._expected(sample, pool[[i]], words[:, i]) for i in tried]
            if left and min(left) < ENOUGH:
                return pool[[tried[int(np.argmin(left))]]]
        return None

    def _expected(self, sample: Table, question: Questions, words: Array) -> float:
        """The share of a sample that an answer leaves, on average over what its rows predict."""
        doubtful = np.zeros(len(sample), bool)
        for number in np.unique(sample[:, 0]):
            rows = np.flatnonzero(sample[:, 0] == number)
            found = outcomes(self.family, sample[rows], question, rounded=self.rounded)
            doubtful[rows] = ~found.certain(ANY)
        _, place, counts = np.unique(words, return_inverse=True, return_counts=True)
        sizes = np.bincount(place, ~doubtful, len(counts)) + doubtful.sum()
        return float((sizes[place] / len(sample)).mean())

    def answer(self, question: Questions, word: int) -> None:
        """Keep what explains the answer; of a question that is no ordinary sum, when the table is made."""
        if not ordinary_rows(self.family, question)[0]:
            self.others.append((question, word))
            return
        self.asked.append((question, word))
        found = []
        for group in self.groups:
            alike: dict[tuple[object, ...], list[int]] = {}
            for number in group.structures:
                key = signature(self.family.structures[number], question)
                alike.setdefault(key, []).append(number)
            for numbers in alike.values():
                table = group.table[group.table[:, 3] < self._carries(numbers[0])]
                if not len(table):
                    continue
                table[:, 0] = numbers[0]
                table = table[outcomes(self.family, table, question, rounded=self.rounded).fitting(word)]
                if len(table):
                    found.append(_Group(numbers, table))
        self.groups = found
        if self._left() < ROUNDED:
            self._round()
        self.progress(f"{len(self.asked)} questions, {self._left()} hypotheses left, some parameters apart")

    def _round(self) -> None:
        """Give the rows the last addition's rounding."""
        if not self.rounded:
            self.rounded = True
            for group in self.groups:
                group.table = self.family.with_last_rounding(group.table)

    def _left(self) -> int:
        return sum(len(group.table) * len(group.structures) for group in self.groups)

    def table(self) -> Table:
        """The rows of every structure that explain the answers, with all parameters."""
        self._round()
        if self._left() * len(self.family.rest(0)) > LARGEST:
            raise TooMany(
                f"{self._left()} hypotheses of blocks and roundings explain {len(self.asked)} ordinary sums: "
                f"with all other parameters that is more than the {LARGEST} which a table may hold"
            )
        parts = [self.family.first(0)[:0]]
        for group in self.groups:
            for number in group.structures:
                part = group.table[group.table[:, 3] < self._carries(number)].copy()
                part[:, 0] = number
                parts.append(self._explaining(part) if len(part) else part)
        whole = np.concatenate(parts)
        for question, word in self.others:
            whole = whole[predictions(self.family, whole, question)[:, 0] == word] if len(whole) else whole
        return whole

    def _explaining(self, part: Table) -> Table:
        """Rows of one structure with all other parameters; what is certain is not looked at again."""
        certain = [outcomes(self.family, part, q, rounded=True).certain(w) for q, w in self.asked]
        whole, owner = self.family.grown(part)
        for (question, word), sure in zip(self.asked, certain, strict=True):
            kept = sure[owner]
            open_rows = np.flatnonzero(~kept)
            kept[open_rows] = predictions(self.family, whole[open_rows], question)[:, 0] == word
            whole, owner = whole[kept], owner[kept]
        return whole

    def _carries(self, number: int) -> int:
        return len(self.family.carries(self.family.structures[number]))

    def _sample(self) -> Table:
        """Rows of a few structures."""
        chosen = self.random.permutation(len(self.groups))[:STRUCTURES]
        parts = []
        for place in chosen:
            group = self.groups[place]
            number = int(self.random.choice(group.structures))
            rows = group.table[group.table[:, 3] < self._carries(number)]
            rows = rows[self.random.permutation(len(rows))[: SAMPLE // len(chosen)]]
            rows[:, 0] = number
            parts.append(rows)
        return np.concatenate(parts)
