"""The first questions: ordinary sums, asked of every structure with the parameters that they show.

Structures that a question's few terms do not tell apart share one table, until a question does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tcsmt.identify.evaluate import Questions, outcomes, predictions, signature
from tcsmt.identify.family import Family, Table
from tcsmt.identify.score import best_of
from tcsmt.identify.vectors import Random, ordinary

__all__ = ["Opening"]

#: Questions asked at most; of these, with c and the first lane alone; hypotheses that are few enough.
MOST, NARROW, FEW = 20, 2, 40
#: Questions in a pool, hypotheses in a sample, and structures that they are of.
POOL, SAMPLE, STRUCTURES = 100, 400, 8
#: Pools that split nothing after which no more are tried.
PATIENCE = 3


@dataclass
class _Group:
    """Structures with the same rows; the rows are those of the first, which has the most carry bits."""

    structures: list[int]
    table: Table


class Opening:
    """Hypotheses over all structures, and questions that split them."""

    def __init__(self, family: Family, random: Random, progress: Callable[[str], None]) -> None:
        self.family, self.random, self.progress = family, random, progress
        self.asked = 0
        groups: dict[tuple[str, str], list[int]] = {}
        for number, one in enumerate(family.structures):
            groups.setdefault((one.products, one.order), []).append(number)
        self.groups = [_Group(numbers, family.first(numbers[0])) for numbers in groups.values()]

    def question(self) -> Questions | None:
        """One that splits the rest well; None: there are few, or none is found."""
        if self.asked >= MOST or sum(len(g.table) * len(g.structures) for g in self.groups) <= FEW:
            return None
        for _ in range(PATIENCE):
            sample = self._sample()
            pool = ordinary(self.family, self.random, POOL, (0,) if self.asked < NARROW else ())
            best = best_of(predictions(self.family, sample, pool))
            if best is not None:
                return pool[[best]]
        return None

    def answer(self, question: Questions, word: int) -> None:
        """Keep what explains the answer."""
        self.asked += 1
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
                table = table[outcomes(self.family, table, question).fitting(word)]
                if len(table):
                    found.append(_Group(numbers, table))
        self.groups = found
        left = sum(len(g.table) * len(g.structures) for g in found)
        self.progress(f"{self.asked} questions, {left} hypotheses left, some parameters apart")

    def table(self) -> Table:
        """The rows of every structure; the columns from 6 on are 0."""
        parts = [self.family.first(0)[:0]]
        for group in self.groups:
            for number in group.structures:
                part = group.table[group.table[:, 3] < self._carries(number)].copy()
                part[:, 0] = number
                parts.append(part)
        return np.concatenate(parts)

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
