"""A function that multiplies matrices, asked about one element of its product.

A question is the products of an element: a row of A, where all columns of B are alike. Elements that are
summed alike answer for each other, so that one call takes as many questions as there are of them in a column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.words import format_of, from_words, to_words, unsigned
from tcsmt.support.errors import TcsmtError

__all__ = ["AskedElement", "MatrixProduct"]

Array = np.ndarray[Any, np.dtype[Any]]


class MatrixProduct:
    """A function of A (M, K) and B (K, N), arrays of a format's dtype; counts its calls.

    ``d_format``: the format of its results, known after the first call.
    """

    def __init__(
        self, multiply: Callable[[Array, Array], Any], fmt: Format, k: int, shape: tuple[int, int]
    ) -> None:
        self._multiply = multiply
        self.fmt, self.k, self.shape = fmt, k, shape
        self.calls = 0
        self._d_format: Format | None = None
        self._last: tuple[Array, Array, Array] | None = None

    @property
    def d_format(self) -> Format:
        """Return the format of the results."""
        assert self._d_format is not None, "nothing was computed yet"
        return self._d_format

    def of_words(self, a: Array, b: Array) -> Array:
        """D (M, N), real numbers, of words A (M, K) and B (K, N)."""
        result = np.asarray(self._multiply(from_words(self.fmt, a), from_words(self.fmt, b)))
        self.calls += 1
        if result.shape != self.shape:
            raise TcsmtError(f"the product has shape {result.shape}: must be {self.shape}")
        fmt = format_of(result.dtype)
        if not isinstance(fmt, Format):
            raise TcsmtError(f"the product has dtype {result.dtype}: must be of floating-point numbers")
        if self._d_format not in (None, fmt):
            raise TcsmtError(f"the product has dtype {result.dtype}, and another one before")
        self._d_format = fmt
        self._last = a.copy(), b.copy(), result.copy()
        return result

    def repeats_last(self, times: int) -> bool:
        """Return whether the matrices that were multiplied last give the same words so many times again."""
        if self._last is None:
            return True
        a, b, before = self._last
        return all(
            np.array_equal(self.words_of(self.of_words(a, b)), self.words_of(before)) for _ in range(times)
        )

    def words_of(self, d: Array) -> Array:
        """Return the words of results, floating-point numbers of any shape: unsigned integers of that
        shape.
        """
        return np.ascontiguousarray(d).view(unsigned(self.d_format))


class AskedElement:
    """An element of D that is asked; others of its column answer for it, a question each.

    elements: those that are summed as it is, (M, N) of booleans. It is in the column that has most of them.
    """

    def __init__(self, product: MatrixProduct, elements: Array) -> None:
        self.product = product
        self._column = int(elements.sum(axis=0).argmax())
        self._rows = np.flatnonzero(elements[:, self._column])

    def answers(self, questions: Sequence[Array] | Array, factor: float = 1.0) -> Array:
        """Return the results of questions (Q, K), numbers of the format each; b is the factor everywhere.
        (Q,).
        """
        fmt, (m, n) = self.product.fmt, self.product.shape
        asked = to_words(fmt, np.asarray(questions, float), "A")
        b = np.full((self.product.k, n), to_words(fmt, np.array([factor]), "B")[0])
        answers: list[float] = []
        for start in range(0, len(asked), len(self._rows)):
            part = asked[start : start + len(self._rows)]
            a = np.repeat(part[-1:], m, axis=0)
            a[self._rows[: len(part)]] = part
            d = self.product.of_words(a, b)
            answers += d[self._rows[: len(part)], self._column].astype(float).tolist()
        return np.array(answers)

    @property
    def name(self) -> str:
        """Return what messages call it."""
        return f"D[{self._rows[0]}, {self._column}]"
