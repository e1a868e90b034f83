"""Batches of inputs as arrays, which are taken apart and put together whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self, TypeVar

import numpy as np

__all__ = ["Batch"]

Array = np.ndarray[Any, np.dtype[Any]]
Rows = TypeVar("Rows", bound="Batch")


@dataclass(frozen=True)
class Batch:
    """Inputs: a and b of shape (rows, lanes), c of shape (rows,).

    A kind of batch may have other arrays with a row for each input, and other fields that all rows share.
    """

    a: Array
    b: Array
    c: Array

    def __len__(self) -> int:
        return len(self.c)

    @property
    def _arrays(self) -> dict[str, Array]:
        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: column for name, column in columns.items() if isinstance(column, np.ndarray)}

    def __getitem__(self, places: Any) -> Self:
        """Some rows: a slice, a list or an array of numbers, or a mask."""
        return replace(self, **{name: column[places] for name, column in self._arrays.items()})

    @staticmethod
    def joined(parts: Sequence[Rows]) -> Rows:
        """All rows of batches of one kind, in order; what rows share is that of the first batch."""
        columns = [part._arrays for part in parts]
        return replace(parts[0], **{name: np.concatenate([c[name] for c in columns]) for name in columns[0]})
