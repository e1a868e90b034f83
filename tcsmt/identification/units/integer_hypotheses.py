"""Exact sums of integers as hypotheses of a search: every IntegerDotAdd of given formats and K."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tcsmt.identification.units.questions import Questions
from tcsmt.matrix_units.arithmetic.integer_format import IntegerFormat
from tcsmt.matrix_units.arithmetic.nans import NanRule
from tcsmt.matrix_units.models import IntegerDotAdd, Model
from tcsmt.simulate.rows import run_words

__all__ = ["IntegerHypotheses"]

Array = np.ndarray[Any, np.dtype[Any]]
Table = np.ndarray[Any, np.dtype[np.int16]]
Random = np.random.Generator

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
        """Of A, B, C and D."""
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

    def near(self, row: Table) -> Table:
        """Return the rows, int16 (rows, 2), that differ from a row, (2,), in one column."""
        rows = self.all
        near: Table = rows[(rows == row).sum(axis=1) == 1]
        return near

    def beside(self, row: Table) -> None:
        """None: these are all. row: int16 (2,)."""

    def widened(self, ask: Callable[[Questions, str], int]) -> None:
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
