"""Blocks of a matrix: some rows and some columns, each from a first to a last one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["MatrixBlock", "blocks_of"]

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class MatrixBlock:
    """A block of D. rows, columns: from the first to the last one, and after it."""

    rows: range
    columns: range

    @property
    def elements(self) -> int:
        """Return how many elements of D it has."""
        return len(self.rows) * len(self.columns)

    def as_json(self) -> dict[str, Any]:
        """As plain data: the first and the last row and column."""
        return {"rows": [self.rows[0], self.rows[-1]], "columns": [self.columns[0], self.columns[-1]]}

    def __str__(self) -> str:
        return f"{_ends('row', self.rows)}, {_ends('column', self.columns)}"


def _ends(name: str, numbers: range) -> str:
    first, last = numbers[0], numbers[-1]
    return f"{name} {first}" if first == last else f"{name}s {first} to {last}"


def blocks_of(elements: Array) -> tuple[MatrixBlock, ...]:
    """Blocks that are together the elements, (M, N) of booleans, that are true: from the top left on."""
    remaining = elements.copy()
    blocks: list[MatrixBlock] = []
    while remaining.any():
        row, column = (int(place) for place in np.argwhere(remaining)[0])
        width = _run(remaining[row, column:])
        height = _run(np.all(remaining[row:, column : column + width], axis=1))
        blocks.append(MatrixBlock(range(row, row + height), range(column, column + width)))
        remaining[row : row + height, column : column + width] = False
    return tuple(blocks)


def _run(values: Array) -> int:
    """Return how many are true before the first that is not."""
    return len(values) if values.all() else int(np.argmin(values))
