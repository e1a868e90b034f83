"""Blocks of a matrix, and which of them each kernel explains, where none explains all of a product.

Libraries compute the edges of a matrix, rows and columns that do not fill a tile, in another order than the
rest. So the corner of what is left is explained first; what explains it is then held against the rest of the
rows and columns, and what remains right and below is looked at in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tcsmt.programs.kernels.elements import Product
from tcsmt.programs.kernels.kernel import Kernel

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
        """Return plain data: the first and the last row and column."""
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


#: Rows and columns of the corner that kernels have to explain first; regions at most.
_CORNER, _MOST = 8, 12


@dataclass(frozen=True)
class Region(MatrixBlock):
    """A block of D. kernels: those that give all of its elements and no larger block; may be empty."""

    kernels: tuple[Kernel, ...]

    def of(self, product: Product) -> Product:
        """Return the product of its rows and columns alone."""
        rows, columns = (slice(side.start, side.stop) for side in (self.rows, self.columns))
        c = None if product.c is None else product.c[rows, columns]
        return replace(product, a=product.a[rows], b=product.b[:, columns], c=c, d=product.d[rows, columns])

    def block(self, rows: slice, columns: slice, kernels: Sequence[Kernel] = ()) -> Region:
        """A block of its rows and columns, which count from 0."""
        return Region(self.rows[rows], self.columns[columns], tuple(kernels))


def regions(product: Product, explaining: Callable[[Product], Sequence[Kernel]]) -> tuple[Region, ...]:
    """Blocks that are D together, from the top left on, with the kernels that explain each.

    explaining: the kernels that give every element of a small product.
    """
    pending = [Region(range(len(product.d)), range(product.d.shape[1]), ())]
    explained: list[Region] = []
    while pending and len(explained) + len(pending) < _MOST:
        region = pending.pop(0)
        corner = region.block(slice(_CORNER), slice(_CORNER))
        part = region.of(product)
        reach: dict[tuple[int, int], list[Kernel]] = {}
        for kernel in explaining(corner.of(product)):
            if not (kernel.reduction.unordered or kernel.reduction.tiled):
                reach.setdefault(_reach(kernel, part), []).append(kernel)
        if not reach:
            explained.append(region)
            continue
        # those that reach beyond the corner which explained them
        i, j = max(reach, key=lambda size: size[0] * size[1])
        explained.append(region.block(slice(i), slice(j), reach[i, j]))
        if j < len(region.columns):
            pending.append(region.block(slice(i), slice(j, None)))
        if i < len(region.rows):
            pending.append(region.block(slice(i, None), slice(None)))
    return tuple(sorted([*explained, *pending], key=lambda region: (region.rows.start, region.columns.start)))


def _reach(kernel: Kernel, product: Product) -> tuple[int, int]:
    """Rows and columns of the largest block, from the top left on, of which a kernel gives all elements."""
    words = kernel.multiply(product.a, product.b, product.c).view(product.d.dtype)
    places = np.argwhere(np.ones(product.d.shape, bool))
    wrong = product.missed(words.reshape(-1), places).reshape(product.d.shape)
    # of the first rows, the columns before the first wrong one
    columns = np.minimum.accumulate(np.where(wrong.any(axis=1), wrong.argmax(axis=1), wrong.shape[1]))
    rows = int(np.argmax(columns * np.arange(1, len(columns) + 1)))
    return rows + 1, int(columns[rows])
