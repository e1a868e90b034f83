"""Recorded answers: which hypotheses explain them all, and what would settle the rest."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tcsmt.data.datasets import DataSet
from tcsmt.identification.equal import canonical
from tcsmt.identification.evaluate import predictions
from tcsmt.identification.family import Family, Table
from tcsmt.identification.first_questions import Opening, TooMany
from tcsmt.identification.questions import Questions, ordinary_rows
from tcsmt.identification.search import next_questions
from tcsmt.support.errors import TcsmtError

__all__ = ["Survivors", "family_of", "survivors"]

#: Ordinary rows with which the search starts, at most: until few hypotheses are left.
FIRST = 60


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
    given = dataset.operands
    questions = Questions(*(words[:rows].astype(np.uint64) for words in (given.a, given.b, given.c)))
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
    opening = Opening(family, np.random.default_rng(seed), progress)
    for row in plain:
        if not opening.few:
            opening.answer(questions[[row]], int(answers[row]))
    try:
        table = opening.table()
    except TooMany as error:
        raise TcsmtError(f"{dataset.name}: {error}") from None
    table = np.unique(canonical(family, table), axis=0)
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
    asked, splits = next_questions(family, table, np.random.default_rng(seed))
    return Survivors(len(answers), table, asked, splits, time.monotonic() - start)
