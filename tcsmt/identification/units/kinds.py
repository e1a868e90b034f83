"""The kinds of hypotheses that units of given formats can have; fused dot-adds as one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcsmt.identification.units.equal import canonical
from tcsmt.identification.units.evaluate import predictions
from tcsmt.identification.units.family import Family, Table
from tcsmt.identification.units.first_questions import Opening
from tcsmt.identification.units.hypotheses import Hypotheses
from tcsmt.identification.units.ieee_hypotheses import IeeeHypotheses
from tcsmt.identification.units.integer_hypotheses import IntegerHypotheses
from tcsmt.identification.units.questions import Questions
from tcsmt.identification.units.vectors import mixed, ordinary
from tcsmt.matrix_units.arithmetic.any_format import AnyFormat
from tcsmt.matrix_units.arithmetic.integer_format import IntegerFormat
from tcsmt.matrix_units.arithmetic.nans import NanRule
from tcsmt.matrix_units.catalogue import rows as catalogue_rows
from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.support.errors import TcsmtError

__all__ = ["FusedHypotheses", "hypotheses_of", "known", "named_rows"]

Array = np.ndarray[Any, np.dtype[Any]]
Random = np.random.Generator


@dataclass(frozen=True)
class FusedHypotheses(Family):
    """The fused dot-adds of a family."""

    kind = FusedDotAdd
    near = Family.one_column_apart

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

    def beside(self, row: Table) -> None:
        """None: the table holds every hypothesis. row: int16 (12,)."""

    def widened(self, ask: Callable[[Questions, str], int]) -> None:
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
