"""Questions in advance: a fixed set for batch hardware, or a decision tree over some hypotheses.

Both are made for candidates: the catalogue's units of these formats and K (or a plain one where there
is none) and every hypothesis one column apart from one of them. A box that is none of them is found by
:class:`.Identification` with the answers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tcsmt.identification.units.equal import canonical
from tcsmt.identification.units.evaluate import predictions
from tcsmt.identification.units.family import COLUMNS, Family, Table
from tcsmt.identification.units.kinds import named_rows
from tcsmt.identification.units.questions import Questions
from tcsmt.identification.units.vectors import Random, mixed, ordinary
from tcsmt.support.elimination import best_split, entropies, numbered

Array = np.ndarray[Any, np.dtype[Any]]

#: Ordinary sums that a fixed set begins with, and those of them that have c and the first lane alone.
ORDINARY, NARROW = 14, 3
#: Questions in a pool: ordinary ones, and of every kind.
PLAIN, POOL = 150, 600


def catalogue_members(family: Family) -> dict[str, Table]:
    """Return the catalogue's units of a family's formats and K, each arithmetic once: rows, int16 (12,), by
    name.
    """
    members: dict[str, Table] = {}
    for name, row in named_rows(family):
        if not any((row == other).all() for other in members.values()):
            members[name] = row
    return members


@dataclass(frozen=True)
class Candidates:
    """Hypotheses. of: the number of the one from which each differs. column: where, or -1."""

    names: list[str]
    table: Table
    of: Array
    column: Array

    def changed(self, rows: Array) -> list[str]:
        """Return the columns in which some of them differ from their own.

        rows: their numbers, integers (chosen,), or a mask, booleans (hypotheses,).
        """
        return [COLUMNS[i] for i in np.unique(self.column[rows]) if i >= 0]


def candidates(family: Family) -> Candidates:
    """Return the members of the catalogue, and the rows one column apart; what a range argument makes equal
    once.
    """
    members = catalogue_members(family)
    if not members:
        number = next(i for i, s in enumerate(family.structures) if s.n_fma == family.k)
        members = {"a plain unit": family.first(number)[0]}
    bases = list(members.values())
    parts = [np.stack([base, *family.one_column_apart(base)]) for base in bases]
    table = np.concatenate(parts)
    starts = np.cumsum([0, *(len(part) for part in parts)])
    of = np.repeat(starts[:-1], np.diff(starts))
    column = np.concatenate([_changed(part) for part in parts])
    _, first, same = np.unique(canonical(family, table), axis=0, return_index=True, return_inverse=True)
    same = same.reshape(-1)
    return Candidates(list(members), table[first], same[of[first]], column[first])


def _changed(part: Table) -> Array:
    differ = part != part[0]
    return np.where(differ.any(axis=1), differ.argmax(axis=1), -1)


@dataclass(frozen=True)
class Planned:
    """One question of a fixed set. classes: sets of candidates told apart with it and those before it.

    decides: columns for which it is the first to tell a member of the catalogue from a row one column apart.
    """

    question: Questions
    classes: int
    decides: list[str]


def _pool(family: Family, random: Random, members: Candidates) -> tuple[Questions, int]:
    """Ordinary questions, the narrow ones first, then all kinds; and how many are ordinary."""
    parts = [ordinary(family, random, PLAIN // 3, (0,)), ordinary(family, random, PLAIN)]
    plain = sum(map(len, parts))
    parts.append(mixed(family, random, POOL, members.table))
    return Questions.joined(parts), plain


def fixed_set(family: Family, members: Candidates, random: Random, budget: int) -> list[Planned]:
    """At most ``budget`` questions, each the one that splits best what those before it left together."""
    pool, plain = _pool(family, random, members)
    words = numbered(predictions(family, members.table, pool))
    narrow = PLAIN // 3
    together = np.zeros(len(members.table), np.int64)
    chosen: list[int] = []
    plans: list[Planned] = []
    while len(plans) < budget:
        last = narrow if len(plans) < NARROW else plain if len(plans) < ORDINARY else len(pool)
        both = together[:, None] * (words.max() + 1) + words
        scores = entropies(both[:, :last])
        scores[[number for number in chosen if number < last]] = -1.0
        best = int(np.argmax(scores))
        split = numbered(both[:, best])
        if len(plans) >= ORDINARY and split.max() == together.max():
            break
        fresh = (together == together[members.of]) & (split != split[members.of])
        plans.append(Planned(pool[[best]], int(split.max()) + 1, members.changed(fresh)))
        chosen.append(best)
        together = split
    return plans


@dataclass
class PlanNode:
    """A question and what follows each answer; or the candidates that no question of the pool splits."""

    rows: Array
    question: Questions | None = None
    decides: list[str] = field(default_factory=list)
    answers: dict[int, PlanNode] = field(default_factory=dict)

    @property
    def depth(self) -> int:
        """Questions asked at most."""
        return 1 + max(node.depth for node in self.answers.values()) if self.answers else 0

    @property
    def expected(self) -> float:
        """Questions asked on average, each candidate alike."""
        if not self.answers:
            return 0.0
        return 1 + sum(len(n.rows) * n.expected for n in self.answers.values()) / len(self.rows)

    @property
    def leaves(self) -> int:
        """Sets of candidates told apart."""
        return sum(node.leaves for node in self.answers.values()) if self.answers else 1


def decision_tree(family: Family, members: Candidates, random: Random) -> PlanNode:
    """Ask the best question of a pool, then of those after each answer."""
    pool, _ = _pool(family, random, members)
    words = predictions(family, members.table, pool)

    def grown(rows: Array) -> PlanNode:
        best = best_split(words[rows])
        if best is None:
            return PlanNode(rows)
        parts = {int(word): rows[words[rows, best] == word] for word in np.unique(words[rows, best])}
        answers = {word: grown(part) for word, part in parts.items()}
        largest = max(parts.values(), key=len)
        return PlanNode(rows, pool[[best]], members.changed(np.setdiff1d(rows, largest)), answers)

    return grown(np.arange(len(members.table)))
