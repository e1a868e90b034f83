"""Elements of a product, asked by a function that multiplies matrices, and the order of their sums.

A question is the products of an element: a row of A, where all columns of B are alike. Elements that are
summed alike answer for each other, so that one call takes as many questions as there are of them in a column.

To read the order, a question has a large number X as product i and -X as product j; the others are a small y.
Whatever meets X or -X before they meet each other is swallowed, so that the result counts the products
outside of the smallest sum that has both (FPRev; Xie et al. 2025). One product is asked against all others,
which gives the sums on its way to the result; what joins it there is looked at in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tcsmt.identification.kernels.tree import SumTree, sizes_of, tree_of
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.words import format_of, from_words, to_words, unsigned
from tcsmt.support.errors import TcsmtError

# --- Questions -----------------------------------------------------------------------------------


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


# --- The order -----------------------------------------------------------------------------------


#: X swallows sums of K numbers y in arithmetic of 113 bits; where the format does not reach as far, of 24.
_WIDE, _NARROW = 113, 24


def levels(fmt: Format, k: int) -> tuple[float, float]:
    """X and y. Raises :class:`.TcsmtError` where the format has no numbers so far apart."""
    room = k.bit_length() + 2
    normal = fmt.e_max - fmt.e_min
    least = fmt.e_min - (fmt.fraction_bits if normal < _NARROW + room else 0)
    reach = min(fmt.e_max - least, _WIDE + room)
    if reach < _NARROW + room:
        raise TcsmtError(
            f"{fmt.name} reaches from 2^{least} to 2^{fmt.e_max}: {k} products need {_NARROW + room} powers"
        )
    big = min(fmt.e_max, (reach + 1) // 2)
    return 2.0**big, 2.0 ** (big - reach)


def read_order(element: AskedElement) -> SumTree:
    """Return the sums of an element. Raises :class:`.TcsmtError` for results that are no such sums."""
    return _Order(element).read()


class _Order:
    """The questions about an element, and the sums that follow from the answers."""

    def __init__(self, element: AskedElement) -> None:
        self.element, self.k = element, element.product.k
        self.big, self.tiny = levels(element.product.fmt, self.k)
        self.asked: list[tuple[int, int, int]] = []

    def read(self) -> SumTree:
        self._check_that_it_counts()
        pivot = self.k // 2
        tree = self._around(pivot, self._sizes(pivot, [leaf for leaf in range(self.k) if leaf != pivot]))
        if self.k > 2 and max(size for _, _, size in self.asked) == 2:
            name = self.element.product.fmt.name
            raise TcsmtError(
                f"nothing is lost in any sum: sums are exact, {name} does not reach far enough to show an "
                "order, or the order depends on data (large numbers first)"
            )
        sizes = sizes_of(tree, self.k)
        for i, j, size in self.asked:
            if sizes[i, j] != size:
                raise TcsmtError(
                    f"no order of sums fits {self.element.name} (first products {i} and {j}, which meet in a "
                    f"sum of {size} products): some sums are exact, or the order depends on data"
                )
        return tree_of(sizes)

    def _check_that_it_counts(self) -> None:
        (all_of_them,) = self.element.answers([np.full(self.k, self.tiny)])
        if all_of_them != self.k * self.tiny:
            raise TcsmtError(
                f"{self.element.name} is {all_of_them:g} for {self.k} products of {self.tiny:g}: "
                "numbers so small are read as zero, or its sums have too few bits to count them"
            )

    def _sizes(self, pivot: int, others: Sequence[int]) -> dict[int, int]:
        """Return for each product the size of the smallest sum that has it and the pivot."""
        if not others:
            return {}
        questions = np.full((len(others), self.k), self.tiny)
        questions[:, pivot] = self.big
        questions[np.arange(len(others)), np.array(others)] = -self.big
        answers = self.element.answers(questions)
        outside = answers / self.tiny
        wrong = ~((outside >= 0) & (outside <= self.k - 2) & (outside == np.rint(outside)))
        if wrong.any():
            d = answers[np.flatnonzero(wrong)[0]]
            raise TcsmtError(
                f"{self.element.name} is {d:g}, not 0 to {self.k - 2} times {self.tiny:g}: "
                "it is not a sum in which large numbers swallow small ones"
            )
        sizes = dict(zip(others, (self.k - outside).astype(int).tolist(), strict=True))
        self.asked += [(pivot, other, size) for other, size in sizes.items()]
        return sizes

    def _around(self, pivot: int, met: dict[int, int]) -> SumTree:
        """Return the sums from the first one that has the pivot outwards."""
        steps: list[tuple[int | SumTree, ...]] = []
        for size in sorted(set(met.values())):
            parts = self._parts([leaf for leaf in met if met[leaf] == size], size)
            steps.append(tuple(parts if steps else [pivot, *parts]))
        return SumTree(tuple(steps))

    def _parts(self, leaves: list[int], size: int) -> list[int | SumTree]:
        """Return what joins a total in a sum of so many products: those that meet in a smaller one are one
        part.
        """
        parts: list[int | SumTree] = []
        while leaves:
            pivot = leaves[len(leaves) // 2]
            met = self._sizes(pivot, [leaf for leaf in leaves if leaf != pivot])
            near = {leaf: met_size for leaf, met_size in met.items() if met_size < size}
            parts.append(self._around(pivot, near) if near else pivot)
            leaves = [leaf for leaf in met if leaf not in near]
        return parts
