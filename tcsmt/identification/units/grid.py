"""The rows over the parameters that an ordinary sum shows, as numbers: millions of them take little room.

A number's digits are a row's columns 1 to 5, and 11, in that order; all other columns are 0.
"""

from __future__ import annotations

from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from tcsmt.identification.units.evaluate import SplitRows
from tcsmt.identification.units.family import COLUMNS, Family, Table

__all__ = ["Grid"]

Array = np.ndarray[Any, np.dtype[Any]]

#: The columns that are digits.
_DIGITS = (1, 2, 3, 4, 5, 11)


class Grid:
    """The numbers of a family's rows, whichever structure they are of."""

    def __init__(self, family: Family) -> None:
        self.family = family
        carries = max(len(family.carries(structure)) for structure in family.structures)
        self.sizes = (
            len(family.bits),
            len(family.alignments),
            carries,
            len(family.roundings),
            len(family.kept),
            len(family.roundings),
        )
        self._after = [prod(self.sizes[place + 1 :]) for place in range(len(self.sizes))]

    def every(self, number: int) -> Array:
        """All rows of a structure, in order, int32 (rows,); the last column is 0."""
        structure = self.family.structures[number]
        sizes = list(self.sizes)
        sizes[1] -= structure.order == "every"
        sizes[2], sizes[5] = len(self.family.carries(structure)), 1
        whole = np.zeros(1, np.int32)
        for size, after in zip(sizes, self._after, strict=True):
            whole = (whole[:, None] + np.arange(size, dtype=np.int32) * np.int32(after)).reshape(-1)
        return whole

    def with_last_rounding(self, numbers: Array) -> Array:
        """Every row with every value of the last column. numbers: int32 (rows,)."""
        return (numbers[:, None] + np.arange(self.sizes[5], dtype=np.int32)).reshape(-1)

    def digit(self, numbers: Array, column: int) -> Array:
        """A column of rows. numbers: int32 of any shape, as the column."""
        place = _DIGITS.index(column)
        digits: Array = numbers // np.int32(self._after[place]) % np.int32(self.sizes[place])
        return digits

    def table(self, numbers: Array, structure: int) -> Table:
        """Return the rows as those of a structure: int16 (rows, columns). numbers: int32 (rows,)."""
        table = np.zeros((len(numbers), len(COLUMNS)), np.int16)
        table[:, 0] = structure
        for column in _DIGITS:
            table[:, column] = self.digit(numbers, column)
        return table

    def rows(self, numbers: Array) -> SplitRows:
        """Return the rows for the evaluator. numbers: int32 (rows,)."""
        front, rest = np.divmod(numbers, np.int32(self._after[2]))
        back, last = np.divmod(rest, np.int32(self.sizes[5]))
        return SplitRows(self._fronts, front, self._backs, back, last)

    @cached_property
    def _fronts(self) -> Array:
        digits = np.indices(self.sizes[:3]).reshape(3, -1).T
        return np.concatenate([digits, np.zeros((len(digits), 2), digits.dtype)], axis=1)

    @cached_property
    def _backs(self) -> Array:
        digits = np.indices(self.sizes[3:5]).reshape(2, -1).T
        return np.concatenate([digits, np.zeros((len(digits), 3), digits.dtype)], axis=1)
