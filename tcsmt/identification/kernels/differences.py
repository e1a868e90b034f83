"""Two results of one matrix product, element by element: how many differ, by how much, and where."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tcsmt.identification.kernels.regions import MatrixBlock
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, IntegerFormat
from tcsmt.support.errors import TcsmtError
from tcsmt.support.text import counted

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Band:
    """A size of differences, as text for people, and the number of elements that have it."""

    text: str
    count: int


@dataclass(frozen=True)
class Differences:
    """Two matrices of words of one format.

    A distance is in units in the last place: how many values of the format lie between the two, and one.
    +0 and -0 are 0 apart; an infinity is one beyond the largest number; a NaN has no distance to a number.
    """

    format: AnyFormat
    left: Array
    right: Array

    def __post_init__(self) -> None:
        if self.left.shape != self.right.shape or self.left.ndim != 2:
            raise TcsmtError(
                f"the two results have shapes {self.left.shape} and {self.right.shape}: "
                "they must be matrices of the same shape"
            )

    @cached_property
    def differ(self) -> Array:
        """Return where the words differ, and not only as two NaNs do: booleans of shape (M, N)."""
        result: Array = (self.left != self.right) & ~(self._nan(self.left) & self._nan(self.right))
        return result

    @property
    def count(self) -> int:
        """Return how many elements differ."""
        return int(self.differ.sum())

    @cached_property
    def nan_words(self) -> int:
        """Return how many elements are NaNs on both sides, of different words; they do not count as
        different.
        """
        return int(((self.left != self.right) & self._nan(self.left) & self._nan(self.right)).sum())

    @cached_property
    def ulps(self) -> Array:
        """Return the distance of each pair, uint64 (M, N); where one alone is a NaN, the largest uint64."""
        first, second = (self._ordered(words) for words in (self.left, self.right))
        low, high = np.minimum(first, second), np.maximum(first, second)
        distance = high.view(np.uint64) - low.view(np.uint64)  # modulo 2^64: exact, as it is below 2^64
        distance[~self.differ] = 0
        distance[self._nan(self.left) != self._nan(self.right)] = np.iinfo(np.uint64).max
        return distance

    def bands(self) -> list[Band]:
        """Return the elements that differ, by distance, each band twice as wide as the one before."""
        apart = self.ulps[self.differ]
        unordered = apart == np.iinfo(np.uint64).max
        infinite = (self._infinite(self.left) != self._infinite(self.right))[self.differ] & ~unordered
        plain = apart[~unordered & ~infinite]
        bands = [Band(text, int(where.sum())) for text, where in _doubling(plain)]
        bands += [
            Band("infinite on one side", int(infinite.sum())),
            Band("NaN on one side", int(unordered.sum())),
        ]
        return [band for band in bands if band.count]

    @property
    def block(self) -> MatrixBlock:
        """Return the smallest block that has all elements that differ, of which there is one at least."""
        sides = (np.flatnonzero(self.differ.any(axis=axis)) for axis in (1, 0))
        rows, columns = (range(int(places[0]), int(places[-1]) + 1) for places in sides)
        return MatrixBlock(rows, columns)

    @property
    def first(self) -> tuple[int, int]:
        """Row and column of the first element that differs, rows first."""
        return self._place(int(np.argmax(self.differ)))

    @property
    def worst(self) -> tuple[int, int]:
        """Row and column of the first of those that differ most."""
        places = np.flatnonzero(self.differ)
        return self._place(int(places[np.argmax(self.ulps.reshape(-1)[places])]))

    def some(self, count: int) -> list[tuple[int, int]]:
        """Rows and columns of so many elements that differ, spread evenly over the matrix."""
        places = np.flatnonzero(self.differ)
        chosen = places[np.linspace(0, len(places) - 1, min(count, len(places))).astype(int)]
        return [self._place(int(place)) for place in chosen]

    def _place(self, place: int) -> tuple[int, int]:
        row, column = divmod(place, int(self.left.shape[1]))
        return row, column

    def _nan(self, words: Array) -> Array:
        return self._where(words, self.format.is_nan)

    def _infinite(self, words: Array) -> Array:
        return self._where(words, self.format.is_infinite)

    def _where(self, words: Array, holds: Callable[[int], bool]) -> Array:
        """Return where a word is special in some way; only words that can be are asked one by one."""
        result = np.zeros(words.shape, bool)
        if isinstance(self.format, IntegerFormat):
            return result
        magnitude = words & words.dtype.type((1 << self.format.sign_bit) - 1)
        # a NaN or an infinity lies above the largest number, or is what would be the negative zero
        special = (magnitude > words.dtype.type(self.format.largest_finite_word)) | (magnitude == 0)
        values, places = np.unique(words[special], return_inverse=True)
        result[special] = np.array([holds(int(word)) for word in values], bool)[places.reshape(-1)]
        return result

    def _ordered(self, words: Array) -> Array:
        """Signed integers in the order of the values, neighbours one apart."""
        fmt = self.format
        as_u64 = words.astype(np.uint64)
        sign = (as_u64 >> np.uint64(fmt.sign_bit) & np.uint64(1)).astype(bool) & fmt.signed
        if isinstance(fmt, IntegerFormat):
            low = np.uint64(((1 << fmt.width) - 1) ^ ((1 << 64) - 1))
            return np.where(sign, as_u64 | low, as_u64).view(np.int64)
        mask = np.uint64((1 << fmt.sign_bit) - 1) if fmt.signed else np.iinfo(np.uint64).max
        magnitude = (as_u64 & mask).astype(np.int64) >> getattr(fmt, "ignored_low_bits", 0)
        return np.where(sign, -magnitude, magnitude)


def _doubling(apart: Array) -> Iterator[tuple[str, Array]]:
    """Bands 0, 1, 2, 3 to 4, 5 to 8, ... up to the largest distance."""
    if not apart.size:
        return
    largest = int(apart.max())
    low, high = 0, 0
    while low <= largest:
        text = "0 ulps (the sign of a zero)" if high == 0 else f"{low} to {high} ulps"
        if low == high and high:
            text = counted(low, "ulp")
        yield text, (apart >= np.uint64(low)) & (apart <= np.uint64(high))
        low, high = high + 1, max(1, 2 * high)
