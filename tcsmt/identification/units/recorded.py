"""Recorded answers: which hypotheses explain them all, and what would settle the rest.

Where none does, which explain most of them, and which rows these miss: a row that was recorded wrong is
found so.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcsmt.identification.units.equal import canonical
from tcsmt.identification.units.evaluate import predictions
from tcsmt.identification.units.family import Table
from tcsmt.identification.units.first_questions import Opening
from tcsmt.identification.units.hypotheses import HypothesisSet, TooMany, explaining
from tcsmt.identification.units.kinds import FusedHypotheses
from tcsmt.identification.units.plan import candidates
from tcsmt.identification.units.questions import Questions, ordinary_rows
from tcsmt.identification.units.search import next_questions
from tcsmt.simulate.measured.dataset import DataSet
from tcsmt.support.errors import TcsmtError

Array = np.ndarray[Any, np.dtype[Any]]

#: Ordinary rows with which the search starts, at most: until few hypotheses are left.
FIRST = 60
#: Where no hypothesis explains all rows, the search starts again without some of them, so many times.
PARTS = 3


@dataclass(frozen=True)
class Miss:
    """A row that the best hypotheses miss: its index from 0, the word recorded, and the words predicted."""

    row: int
    recorded: int
    predicted: tuple[int, ...]


@dataclass(frozen=True)
class Best:
    """The hypotheses found that miss the fewest rows: each misses so many, and together they miss these."""

    table: Table
    missed: int
    misses: tuple[Miss, ...]


@dataclass(frozen=True)
class Survivors:
    """The hypotheses that explain recorded answers.

    rows: of the data set that were used. table: hypotheses that explain them, one for each set that
    a range argument makes equal. questions: up to three that split them further, with the number of
    different answers that they predict. best: where none explains them all, those that explain most.
    """

    rows: int
    table: Table
    questions: Questions | None
    splits: list[int]
    seconds: float
    best: Best | None = None


def family_of(dataset: DataSet) -> FusedHypotheses:
    """Return the hypotheses of a data set's formats and lanes."""
    return FusedHypotheses.of(dataset.formats, dataset.k)


def survivors(
    dataset: DataSet, *, rows: int, seed: int = 1, progress: Callable[[str], None] = lambda text: None
) -> Survivors:
    """Return the hypotheses that explain the first ``rows`` rows of a data set."""
    start = time.monotonic()
    family, operands = family_of(dataset), dataset.operands
    questions = Questions(*(words[:rows].astype(np.uint64) for words in (operands.a, operands.b, operands.c)))
    search = _Search(family, questions, _answers(dataset, rows), seed, progress)
    if not len(search.plain):
        raise TcsmtError(
            f"{dataset.name} has no ordinary row (no zero, subnormal or special word, and products that are "
            "not tiny); the search starts with such a row"
        )
    try:
        opened = search.opened(search.plain[:FIRST])
    except TooMany as error:
        raise TcsmtError(f"{dataset.name}: {error}") from None
    table = search.explaining(opened)
    count = len(questions)
    if not len(table):
        best = search.best(opened)
        return Survivors(count, table, None, [], time.monotonic() - start, best)
    asked, splits = next_questions(HypothesisSet(((family, table),)), np.random.default_rng(seed))
    return Survivors(count, table, asked, splits, time.monotonic() - start)


def _answers(dataset: DataSet, rows: int) -> Array:
    """Return the recorded words, every NaN as the format's own. Raises :class:`.TcsmtError` where there are
    two.
    """
    fmt, answers = dataset.formats.d, dataset.d[:rows].astype(np.uint64)
    nans: dict[int, int] = {}
    for row, word in enumerate(answers.tolist()):
        if fmt.is_nan(word):
            nans.setdefault(word, row)
    if len(nans) > 1:
        places = ", ".join(f"{fmt.hex(word)} ({dataset.place(row)})" for word, row in nans.items())
        raise TcsmtError(
            f"{dataset.name}: the rows have different NaN words, and no hypothesis has two: {places}"
        )
    return np.array([fmt.nan_word if w in nans else w for w in answers.tolist()], np.uint64)


@dataclass
class _Search:
    """Hypotheses of a family on recorded questions and answers."""

    family: FusedHypotheses
    questions: Questions
    answers: Array
    seed: int
    progress: Callable[[str], None]

    def __post_init__(self) -> None:
        self.plain = np.flatnonzero(ordinary_rows(self.family, self.questions))

    def opened(self, rows: Array) -> Table:
        """Return the hypotheses that explain ordinary rows, as many of them as it takes to leave few.

        Raises :class:`.TooMany`.
        """
        opening = Opening(self.family, np.random.default_rng(self.seed), self.progress)
        for row in rows:
            if not opening.few:
                opening.answer(self.questions[[row]], int(self.answers[row]))
        table = opening.table()
        return np.unique(canonical(self.family, table), axis=0) if len(table) else table

    def explaining(self, table: Table) -> Table:
        """Return those that explain every row."""
        return explaining(
            self.family, table, self.questions, self.answers,
            lambda done, left: self.progress(f"{done} rows: {left} left"),
        )  # fmt: skip

    def best(self, opened: Table) -> Best | None:
        """Return those that miss the fewest rows: of what explains a start, and of the catalogue and its
        neighbours.

        A start is some ordinary rows. Where one of its own may be wrong, the search starts again: without
        the rows that the catalogue's best misses; then, while all that is left misses several rows, each time
        without another part of the rows.
        """
        best = self._fewest(None, opened)
        near = self._fewest(best, candidates(self.family).table)
        if near is not None and (best is None or near.missed < best.missed):
            best = self._started(near, np.setdiff1d(self.plain, [miss.row for miss in near.misses]))
        mixed = np.random.default_rng(self.seed).permutation(self.plain)
        for part in range(PARTS):
            if best is not None and best.missed == 1:  # none explains all rows, so that none misses fewer
                break
            best = self._started(best, mixed[np.arange(len(mixed)) % PARTS != part])
        return best

    def _started(self, best: Best | None, rows: Array) -> Best | None:
        """Return what the search finds that starts from these rows, or what is known if that misses fewer."""
        self.progress("no hypothesis explains all rows: the search starts again with other rows")
        try:
            return self._fewest(best, self.opened(rows[:FIRST]))
        except TooMany:
            return best

    def _fewest(self, best: Best | None, table: Table) -> Best | None:
        """Return the hypotheses of a table that miss the fewest rows, or those known if they miss fewer."""
        most = len(self.answers) if best is None else best.missed
        missed = np.zeros(len(table), np.int64)
        for part in self._parts(table):
            missed += self._wrong(table, part).sum(axis=1)
            close = missed <= most
            table, missed = table[close], missed[close]
            if not len(table):
                return best
        fewest = int(missed.min())
        if best is not None and fewest == best.missed:
            table = np.unique(np.concatenate([best.table, table[missed == fewest]]), axis=0)
        else:
            table = table[missed == fewest]
        return Best(table, fewest, tuple(self._misses(table)))

    def _misses(self, table: Table) -> list[Miss]:
        """Return the rows that any of some hypotheses misses."""
        misses = []
        for part in self._parts(table):
            words = predictions(self.family, table, self.questions[part])
            wrong = (words != self.answers[part]).any(axis=0)
            for place in np.flatnonzero(wrong):
                row = part.start + int(place)
                predicted = tuple(int(word) for word in np.unique(words[:, place]))
                misses.append(Miss(row, int(self.answers[row]), predicted))
        return misses

    def _wrong(self, table: Table, part: slice) -> Array:
        wrong: Array = predictions(self.family, table, self.questions[part]) != self.answers[part]
        return wrong

    def _parts(self, table: Table) -> list[slice]:
        """Rows in portions that many hypotheses can be asked about at once."""
        size = max(20, 4_000_000 // max(1, len(table)))
        return [slice(start, start + size) for start in range(0, len(self.answers), size)]
