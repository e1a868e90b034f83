"""The kinds of hypotheses that units of given formats can have; fused dot-adds and sums of integers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tcsmt.identification.units.equal import canonical
from tcsmt.identification.units.evaluate import predictions
from tcsmt.identification.units.family import Family, Table
from tcsmt.identification.units.first_questions import Opening
from tcsmt.identification.units.hypotheses import Hypotheses
from tcsmt.identification.units.ieee_hypotheses import IeeeHypotheses
from tcsmt.identification.units.questions import Questions
from tcsmt.identification.units.vectors import mixed, ordinary
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, IntegerFormat
from tcsmt.matrix_units.arithmetic.nans import NanRule
from tcsmt.matrix_units.catalogue import rows as catalogue_rows
from tcsmt.matrix_units.models import FusedDotAdd, IntegerDotAdd, Model
from tcsmt.simulate.rows import run_words
from tcsmt.support.errors import TcsmtError

Array = np.ndarray[Any, np.dtype[Any]]
Random = np.random.Generator


@dataclass(frozen=True)
class FusedHypotheses(Family):
    """The fused dot-adds of a family."""

    kind = FusedDotAdd

    def opened(self, random: Random, progress: Callable[[str], None]) -> Opening:
        """Ordinary sums."""
        return Opening(self, random, progress)

    def predictions(self, table: Table, questions: Questions) -> Array:
        """Return the word of every row, int16 (rows, 12), on every question: uint64 (rows, questions)."""
        return predictions(self, table, questions)

    def canonical(self, table: Table) -> Table:
        """Rows with every value that cannot matter replaced by one. Tables are int16 (rows, 12)."""
        return canonical(self, table)

    def rules(self, row: Any, words: Sequence[int], invalid: Sequence[int]) -> list[NanRule | None]:
        """One word."""
        return [NanRule((), words[0])] if len(words) == 1 else [None] if not words else []

    def plain(self, random: Random, count: int) -> Questions:
        """Ordinary sums."""
        return ordinary(self, random, count)

    def mixed(self, random: Random, count: int, table: Table) -> Questions:
        """Questions of every sort. table: hypotheses to tell apart, int16 (rows, 12)."""
        return mixed(self, random, count, table)

    def neighbours(self, row: Table) -> None:
        """None: the table holds every hypothesis. row: int16 (12,)."""

    def extended(self, ask: Callable[[Questions, str], int]) -> None:
        """None: the family is fixed."""


def named_rows(family: Family) -> Iterator[tuple[str, Table]]:
    """Yield the catalogue's units that are members of a family, NaN word apart, in its order: names and rows.

    Each row is int16 (12,).
    """
    for entry in catalogue_rows():
        model = entry.model
        if not isinstance(model, FusedDotAdd) or model.k != family.k:
            continue
        if (model.a_format, model.b_format, model.c_format, model.d_format) == family.formats:
            row = family.row(model)
            if row is not None:
                yield entry.name, row


def known(family: Family, table: Table) -> list[str]:
    """Catalogue rows among some hypotheses, int16 (rows, 12), NaN word apart, in the catalogue's order."""
    return [name for name, row in named_rows(family) if (table == row).all(axis=1).any()]


_OVERFLOWS = ("wrap", "saturate")


@dataclass(frozen=True)
class IntegerHypotheses:
    """Rows of a block size and of what becomes of a sum that is too large, by their numbers."""

    a_format: IntegerFormat
    b_format: IntegerFormat
    c_format: IntegerFormat
    d_format: IntegerFormat
    k: int

    kind = IntegerDotAdd

    @property
    def formats(self) -> tuple[IntegerFormat, IntegerFormat, IntegerFormat, IntegerFormat]:
        """Return the formats of A, B, C and D."""
        return self.a_format, self.b_format, self.c_format, self.d_format

    @cached_property
    def blocks(self) -> list[int]:
        """Block sizes, one block first."""
        return [n for n in range(self.k, 0, -1) if self.k % n == 0]

    @property
    def all(self) -> Table:
        """Every row: int16 (rows, 2), a block and an overflow by their numbers."""
        rows = [(block, overflow) for block in range(len(self.blocks)) for overflow in (0, 1)]
        return np.array(rows, np.int16)

    @property
    def count(self) -> int:
        """Return how many there are."""
        return len(self.all)

    def opened(self, random: Random, progress: Callable[[str], None]) -> _All:
        """No first question is needed."""
        return _All(self)

    def predictions(self, table: Table, questions: Questions) -> Array:
        """Return the word of every row on every question: uint64 (rows, questions)."""
        words = questions.operands(self.formats)
        words_of_rows = [run_words(self.model(row), words).astype(np.uint64) for row in table]
        return np.array(words_of_rows, np.uint64).reshape(len(table), len(questions))

    def canonical(self, table: Table) -> Table:
        """Every row as it is: those that are the same function have one graph. table: int16 (rows, 2)."""
        return table

    def model(self, row: Any, nan: NanRule | None = None) -> Model:
        """Return the model of a row."""
        a, b, c, d = self.formats
        block = self.blocks[int(row[0])]
        return IntegerDotAdd(
            a_format=a, b_format=b, c_format=c, d_format=d, k=self.k,
            n_fma=None if block == self.k else block, overflow=_OVERFLOWS[int(row[1])],
        )  # fmt: skip

    def rules(self, row: Any, words: Sequence[int], invalid: Sequence[int]) -> list[NanRule | None]:
        """None: integers have no NaN."""
        return [None]

    def plain(self, random: Random, count: int) -> Questions:
        """Random words."""
        shapes = (count, self.k), (count, self.k), (count,)
        words = (
            random.integers(0, 1 << fmt.bits, shape, dtype=np.uint64)
            for fmt, shape in zip(self.formats, shapes, strict=False)
        )
        return Questions(*words)

    def mixed(self, random: Random, count: int, table: Table) -> Questions:
        """Sums near the ends of the result: c near an end, products that are largest, smallest or random.

        table: int16 (rows, 2); the questions do not depend on it.
        """
        questions = self.plain(random, count)
        ends = self.d_format.low, self.d_format.high
        for side, fmt in zip((questions.a, questions.b), self.formats, strict=False):
            chosen = random.integers(0, 4, side.shape)
            for place, end in enumerate((fmt.low, fmt.high)):
                side[chosen == place] = fmt.word_of_count(end)
        a, b = self.a_format, self.b_format
        largest = self.k * max(abs(x * y) for x in (a.low, a.high) for y in (b.low, b.high))
        c = self.c_format
        for row in np.flatnonzero(random.random(count) < 0.75):
            near = ends[int(random.integers(2))] + int(random.integers(-largest, largest + 1))
            questions.c[row] = c.word_of_count(min(max(near, c.low), c.high))
        return questions

    def one_column_apart(self, row: Table) -> Table:
        """Return the rows, int16 (rows, 2), that differ from a row, (2,), in one column."""
        rows = self.all
        near: Table = rows[(rows == row).sum(axis=1) == 1]
        return near

    def neighbours(self, row: Table) -> None:
        """None: these are all. row: int16 (2,)."""

    def extended(self, ask: Callable[[Questions, str], int]) -> None:
        """None: these are all."""


@dataclass
class _All:
    """All rows, and those that explain the answers."""

    hypotheses: IntegerHypotheses

    def __post_init__(self) -> None:
        self.rows = self.hypotheses.all

    @property
    def few(self) -> bool:
        """There are."""
        return True

    def question(self) -> None:
        """None is needed."""

    def answer(self, question: Questions, word: int) -> None:
        """Keep what explains it."""
        self.rows = self.rows[self.hypotheses.predictions(self.rows, question)[:, 0] == word]

    def table(self) -> Table:
        """Return the rows that explain the answers."""
        return self.rows


def hypotheses_of(formats: Iterable[AnyFormat], k: int) -> tuple[Hypotheses, ...]:
    """Sums of integers; or fused dot-adds and IEEE operations, both where the formats allow both.

    Raises :class:`.TcsmtError` where they allow none.
    """
    a, b, c, d = formats
    if (
        isinstance(a, IntegerFormat)
        and isinstance(b, IntegerFormat)
        and isinstance(c, IntegerFormat)
        and isinstance(d, IntegerFormat)
    ):
        return (IntegerHypotheses(a, b, c, d, k),)
    chains = IeeeHypotheses.of((a, b, c, d), k)
    try:
        fused = FusedHypotheses.of((a, b, c, d), k)
    except TcsmtError:
        if chains is None:
            raise
        return (chains,)
    return (fused, chains) if chains is not None else (fused,)
