"""Recorded answers: which hypotheses explain them all, and what would settle the rest."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tcsmt.datasets import DataSet
from tcsmt.errors import TcsmtError
from tcsmt.identify.equal import canonical
from tcsmt.identify.evaluate import Questions, ordinary_rows, outcomes, predictions
from tcsmt.identify.family import Family, Table
from tcsmt.identify.score import best_of
from tcsmt.identify.vectors import mixed

__all__ = ["Survivors", "family_of", "survivors"]

#: Ordinary rows with which the search starts, and hypotheses that are carried further, at most.
FIRST, MOST = 12, 60_000


@dataclass(frozen=True)
class Survivors:
    """What explains recorded answers.

    rows: of the data set that were used. table: hypotheses that explain them, one for each set that
    a range argument makes equal. questions: up to three that split them further, with the number of
    different answers that they predict.
    """

    rows: int
    table: Table
    questions: Questions | None
    splits: list[int]
    seconds: float


def family_of(dataset: DataSet) -> Family:
    """The family of a data set's formats and lanes."""
    formats = dataset.formats
    return Family(formats.a, formats.b, formats.c, formats.d, dataset.k)


def survivors(
    dataset: DataSet, *, rows: int, seed: int = 1, progress: Callable[[str], None] = lambda text: None
) -> Survivors:
    """The hypotheses that explain the first ``rows`` rows of a data set."""
    start = time.monotonic()
    family, fmt = family_of(dataset), dataset.formats.d
    questions = Questions(*(words[:rows].astype(np.uint64) for words in (dataset.a, dataset.b, dataset.c)))
    answers = dataset.d[:rows].astype(np.uint64)
    if len({int(w) for w in answers if fmt.is_nan(int(w))}) > 1:
        raise TcsmtError(f"{dataset.name}: different NaN words: no hypothesis of the family has two")
    answers = np.array([fmt.nan_word if fmt.is_nan(int(w)) else int(w) for w in answers], np.uint64)
    plain = np.flatnonzero(ordinary_rows(family, questions))[:FIRST]
    if not len(plain):
        raise TcsmtError(
            f"{dataset.name}: no ordinary row (no zero, subnormal or special word, and products that are "
            "not tiny), with which the search starts"
        )
    tables = []
    for number in range(len(family.structures)):
        table = family.first(number)
        for row in plain:
            if len(table):
                found = outcomes(family, table, questions[[row]])
                table = table[found.fitting(int(answers[row]))]
        tables.append(table)
        progress(f"structure {number + 1} of {len(family.structures)}: {len(table)} left")
    table = np.concatenate(tables)
    if len(table) > MOST:
        raise TcsmtError(
            f"{dataset.name}: {len(table)} hypotheses explain {len(plain)} ordinary rows: too many"
        )
    table = np.unique(canonical(family, family.expanded(table)), axis=0)
    done = 0
    for count in (20, 200, 2000, len(answers)):
        size = max(20, 4_000_000 // max(1, len(table)))
        for first in range(done, min(count, len(answers)), size):
            part = slice(first, min(first + size, count, len(answers)))
            table = table[(predictions(family, table, questions[part]) == answers[part]).all(axis=1)]
            if not len(table):
                return Survivors(part.stop, table, None, [], time.monotonic() - start)
        done = max(done, min(count, len(answers)))
        progress(f"{done} rows: {len(table)} left")
    random = np.random.default_rng(seed)
    chosen: list[Questions] = []
    splits: list[int] = []
    rest = table
    while len(chosen) < 3 and len(rest) > 1:
        pool = mixed(family, random, 400, rest)
        best = best_of(predictions(family, rest[random.permutation(len(rest))[:512]], pool))
        if best is None:
            break
        words = predictions(family, rest, pool[[best]])[:, 0]
        values, counts = np.unique(words, return_counts=True)
        chosen.append(pool[[best]])
        splits.append(len(values))
        rest = rest[words == values[np.argmax(counts)]]
    asked = Questions(*(np.concatenate([getattr(q, s) for q in chosen]) for s in "abc")) if chosen else None
    return Survivors(len(answers), table, asked, splits, time.monotonic() - start)
