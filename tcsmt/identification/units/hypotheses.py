"""The interface of a kind of hypotheses, and the hypotheses of several kinds that are left."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tcsmt.identification.units.questions import Questions
from tcsmt.matrix_units.arithmetic.formats import AnyFormat
from tcsmt.matrix_units.arithmetic.nans import NanRule
from tcsmt.matrix_units.models import Model
from tcsmt.support.elimination import surviving

Array = np.ndarray[Any, np.dtype[Any]]
Table = np.ndarray[Any, np.dtype[np.int16]]
Random = np.random.Generator


#: Hypotheses of each kind in a sample, at least, where there are several kinds.
_EACH = 24


class TooMany(Exception):
    """The first questions do not tell enough hypotheses apart."""


class FirstRound(Protocol):
    """The first questions of a kind, which tell apart more hypotheses than a table can hold."""

    @property
    def few(self) -> bool:
        """Return whether so few are left that other questions split them as well."""

    def question(self) -> Questions | None:
        """One that splits the rest well; None: there are few, or none is found."""

    def answer(self, question: Questions, word: int) -> None:
        """Keep what explains the answer to any question."""

    def table(self) -> Table:
        """Return the rows that explain the answers, with all parameters. Raises :class:`TooMany`.

        Returns int16 (rows, columns).
        """


class Hypotheses(Protocol):
    """All hypotheses of one kind of model, of given formats and K: rows of small integers."""

    @property
    def kind(self) -> type[Model]:
        """Return the models' class."""

    @property
    def formats(self) -> tuple[AnyFormat, AnyFormat, AnyFormat, AnyFormat]:
        """Return the formats of A, B, C and D."""

    @property
    def k(self) -> int:
        """Products."""

    @property
    def count(self) -> int:
        """Return how many there are, NaN words apart."""

    def opened(self, random: Random, progress: Callable[[str], None]) -> FirstRound:
        """Return the first questions."""

    def predictions(self, table: Table, questions: Questions) -> Array:
        """Return the word of every row on every question, of shape (rows, questions); a NaN is the format's
        own.
        """

    def canonical(self, table: Table) -> Table:
        """Rows with every value that cannot matter replaced by one that stands for all of them.

        Tables are int16 (rows, columns).
        """

    def model(self, row: Any, nan: NanRule | None = None) -> Model:
        """Return the model of a row."""

    def rules(self, row: Any, words: Sequence[int], invalid: Sequence[int]) -> list[NanRule | None]:
        """Return the rules for the words of NaNs that the row's model can have.

        words: those that were answered. invalid: of an invalid product and an invalid sum, if these can be
        asked.
        """

    def plain(self, random: Random, count: int) -> Questions:
        """Questions that show the order of sums and the roundings."""

    def mixed(self, random: Random, count: int, table: Table) -> Questions:
        """Questions of every sort, to tell these rows, int16 (rows, columns), apart."""

    def one_column_apart(self, row: Table) -> Table:
        """Return the rows, int16 (rows, columns), that differ from a row, (columns,), in one column."""

    def neighbours(self, row: Table) -> tuple[Hypotheses, Table] | None:
        """More hypotheses like a row, which no table held: answers must exclude them, too.

        row: int16 (columns,). The table of the others is int16 (rows, columns). Returns None where there are
        none.
        """

    def extended(self, ask: Callable[[Questions, str], int]) -> Hypotheses | None:
        """Return those that some questions made for one parameter reveal, where all of these are excluded."""


def explaining(
    kind: Hypotheses,
    table: Table,
    questions: Questions,
    answers: Array,
    seen: Callable[[int, int], object] = lambda done, left: None,
) -> Table:
    """Return the rows of a table that give all answers; see :func:`.surviving`."""
    return surviving(table, answers, lambda rows, some: kind.predictions(rows, questions[some]), seen)


@dataclass(frozen=True)
class HypothesisSet:
    """Hypotheses of several kinds: a kind with its rows, in order."""

    parts: tuple[tuple[Hypotheses, Table], ...] = ()

    def __len__(self) -> int:
        return sum(len(table) for _, table in self.parts)

    def __iter__(self) -> Iterator[tuple[Hypotheses, Table]]:
        """Every row, with its kind."""
        for kind, table in self.parts:
            for row in table:
                yield kind, row

    def of(self, kind: Hypotheses) -> Table:
        """Return the rows of a kind, int16 (rows, columns)."""
        return np.concatenate([table for member, table in self.parts if member == kind])

    def taken(self, rows: Array) -> HypothesisSet:
        """Some of them, by their numbers, integers (taken,), or a mask, booleans (rows,)."""
        numbers = np.flatnonzero(rows) if rows.dtype == bool else rows
        parts, start = [], 0
        for kind, table in self.parts:
            places = numbers[(numbers >= start) & (numbers < start + len(table))] - start
            parts.append((kind, table[places]))
            start += len(table)
        return HypothesisSet(tuple(parts))

    def sampled(self, random: Random, count: int) -> HypothesisSet:
        """At most so many of them, of each kind no more than twice as many as of the kind with the fewest.

        So a question that tells the kinds apart scores well where one kind has thousands of rows: it
        excludes them all, or few.
        """
        sizes = [len(table) for _, table in self.parts]
        kinds = [size for size in sizes if size]
        most = count if len(kinds) < 2 else min(count, max(_EACH, 2 * min(kinds)))
        starts = np.cumsum([0, *sizes])
        chosen = [start + random.permutation(size)[:most] for start, size in zip(starts, sizes, strict=False)]
        rows = np.concatenate(chosen)
        return self.taken(np.sort(rows[random.permutation(len(rows))[:count]]))

    def predictions(self, questions: Questions) -> Array:
        """Return the word of every hypothesis on every question: uint64 (hypotheses, questions)."""
        empty = np.zeros((0, len(questions)), np.uint64)
        words = [kind.predictions(table, questions) for kind, table in self.parts if len(table)]
        return np.concatenate([empty, *words])

    def distinct(self) -> HypothesisSet:
        """One for each set that a range argument makes equal."""
        return HypothesisSet(
            tuple(
                (kind, np.unique(kind.canonical(table), axis=0) if len(table) else table)
                for kind, table in self.parts
            )
        )

    def mixed(self, random: Random, count: int) -> Questions:
        """Questions of every sort, to tell them apart; each kind that is left makes as many."""
        kinds = [(kind, table) for kind, table in self.parts if len(table)]
        share = -(-count // len(kinds))
        return Questions.joined([kind.mixed(random, share, table) for kind, table in kinds])
