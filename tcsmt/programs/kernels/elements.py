"""A recorded product, and what kernels give on some of its elements: those that tell the most first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.conversion import are_nan, floats
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format
from tcsmt.matrix_units.arithmetic.words import operand_words, to_words
from tcsmt.programs.kernels.epilogue import Epilogue
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.kernels.reduction import Reduction
from tcsmt.programs.kernels.sampled import sums
from tcsmt.programs.kernels.schedule import Schedule
from tcsmt.programs.steps.on_arrays import ArrayRules, no_chain
from tcsmt.programs.steps.program import read
from tcsmt.simulate.matmul import check_shapes
from tcsmt.support.errors import TcsmtError
from tcsmt.support.invariants import not_none

Array = np.ndarray[Any, np.dtype[Any]]
#: Rows and columns among whose elements those are looked for that tell the most; bits of a narrow format.
_SIDE, _NARROW = 1024, 16


@dataclass(frozen=True)
class Product:
    """A recorded product as words: D of A, B and C, and their formats."""

    a: Array
    b: Array
    c: Array | None
    d: Array
    a_format: AnyFormat
    b_format: AnyFormat
    d_format: AnyFormat
    c_format: AnyFormat | None = None

    @classmethod
    def of(
        cls,
        a: Any,
        b: Any,
        c: Any,
        d: Any,
        formats: tuple[AnyFormat, AnyFormat, AnyFormat | None, AnyFormat],
        operands: str | None = None,
    ) -> Product:
        """Return the elements of arrays of these formats, of a, b, c and d.

        operands: how a, b and c are rounded that theirs do not hold (:data:`.OPERAND_RULES`).
        Raises :class:`.TcsmtError` where they do not fit.
        """
        a_words = operand_words(formats[0], a, "A", operands)
        right = operand_words(formats[1], b, "B", operands)
        check_shapes(a_words, right)
        d_words = to_words(formats[3], d, "D")
        shape = a_words.shape[0], right.shape[1]
        added = None if c is None or formats[2] is None else operand_words(formats[2], c, "C", operands)
        for array, name in ((d_words, "D"), (added, "C")):
            if array is not None and array.shape != shape:
                raise TcsmtError(f"{name} has shape {array.shape}: must be {shape}, the shape of A·B")
        return cls(a_words, right, added, d_words, formats[0], formats[1], formats[3], formats[2])

    @property
    def nan(self) -> Array:
        """Return where D is a NaN: booleans of shape (M, N)."""
        return are_nan(self.d_format, self.d)

    @property
    def shape(self) -> tuple[int, int, int]:
        """M, N and K."""
        m, n = self.d.shape
        return m, n, self.a.shape[1]

    def missed(self, words: Array, places: Array) -> Array:
        """Return which of the elements at some places are not D's. words: (elements,), or some for each."""
        where = places[:, 0], places[:, 1]
        wanted, nan = self.d[where], self.nan[where]
        words = words.astype(self.d.dtype)
        alike = (words == wanted) | (nan & are_nan(self.d_format, words))
        return np.logical_not(np.reshape(alike, (-1, len(places))).any(axis=0))

    def far(self, words: Array, places: Array) -> float:
        """Return how far these are from D's elements at some places, as a part of their size, on average.

        words: as for :meth:`missed`. places: rows and columns of D, of shape (places, 2). NaNs and infinities
        that D does not have are infinitely far.
        """
        wanted = self.d[places[:, 0], places[:, 1]]
        fmt = self.d_format
        if not (isinstance(fmt, Format) and fmt.width <= 64):
            first, second = (np.asarray(part).astype(np.float64) for part in (words, wanted))
        else:
            first, second = floats(fmt, words.astype(self.d.dtype)), floats(fmt, wanted)
        with np.errstate(all="ignore"):
            apart = np.where(
                first == second, 0.0, np.abs(first - second) / np.maximum(np.abs(first), np.abs(second))
            )
        apart = np.where(np.isnan(first) & np.isnan(second), 0.0, np.nan_to_num(apart, nan=np.inf))
        return float(np.reshape(apart, (-1, len(places))).min(axis=0).mean())


@dataclass(frozen=True)
class SampledElements:
    """Some elements of a product.

    a, b: words (elements, K), of the rows of A and the columns of B. c, bias: words (elements,), or None.
    places: row and column of each, (elements, 2), in a product of ``shape`` (M, N, K); not needed by
    reductions that are the same for all elements.
    """

    a: Array
    b: Array
    c: Array | None = None
    places: Array | None = None
    shape: tuple[int, int, int] = (0, 0, 0)
    bias: Array | None = None

    @classmethod
    def of(cls, product: Product, places: Array) -> SampledElements:
        """Return those at some places (row, column)."""
        where = places[:, 0], places[:, 1]
        a, b = product.a[where[0]], product.b[:, where[1]].T
        return cls(a, b, None if product.c is None else product.c[where], places, product.shape)

    def resolved(self, reduction: Reduction, k: int) -> tuple[list[Reduction], Array | None]:
        """Each order in which parts can be added; or, where tiles differ, how, and which each element has.

        The second value: None, or for each element the number of its order, of shape (elements,).
        """
        if not reduction.tiled or self.places is None:
            return reduction.orders(self.a.shape[1], k, c=self.c is not None), None
        orders = [reduction.of_element(int(row), int(column), self.shape) for row, column in self.places]
        ways = list(dict.fromkeys(orders))
        return ways, np.array([ways.index(way) for way in orders])


def on_elements(
    kernels: Sequence[Kernel],
    elements: SampledElements,
    seen: Callable[[int, int], None] = lambda done, count: None,
) -> Iterator[tuple[Kernel, Array]]:
    """Yield the words that each kernel gives on some elements, kernels of one unit together.

    They have shape (elements,); (orders, elements) where parts are added in any order.
    seen: called with the instructions of the longest chain that are done, and their number.
    """

    def by(kernel: Kernel) -> tuple[str, bool, str]:
        return kernel.unit.name, kernel.epilogue.c_first, str(kernel.schedule.nans)

    a, b, c = elements.a, elements.b, elements.c
    for _, some in groupby(sorted(kernels, key=by), key=by):
        members = list(some)
        model, first = members[0].unit.model, members[0].schedule.epilogue
        ways = {member.reduction: elements.resolved(member.reduction, model.k) for member in members}
        # sums are those of any epilogue with which C enters at the same place and NaNs have the same words
        schedules = {reduction: Schedule(model, reduction, first) for reduction in ways}
        needed = {
            (schedules[reduction].sum_format, candidate): (schedules[reduction], candidate)
            for reduction, (reductions, _) in ways.items()
            for candidate in reductions
        }
        held = dict(zip(needed, sums(list(needed.values()), a, b, c, seen), strict=True))
        rules = ArrayRules((len(a),), no_chain, first.nans)
        given = {"c": c, "bias": elements.bias}
        for member in members:
            reductions, places = ways[member.reduction]
            schedule = member.schedule
            totals = [held[schedule.sum_format, candidate] for candidate in reductions]
            end = schedule.end(c=c is not None, bias=elements.bias is not None)
            words = np.stack([read(end, rules, {**given, "total": total}) for total in totals])
            yield member, words[places, np.arange(len(a))] if places is not None else _only(words)


def _only(words: Array) -> Array:
    return words[0] if len(words) == 1 else words


def places_that_tell(product: Product, first: int, count: int, end: Epilogue, seed: int) -> Array:
    """Places (row, column) of so many elements, drawn by chance; ``first``: those that tell the most.

    An element of a narrow format shows how its sum was made where the sum lies near the middle between two
    numbers of the format. The others are the same whatever the kernel. end: what comes after the sum.
    """
    m, n, _ = product.shape
    rng = np.random.default_rng(seed)
    drawn = rng.permutation(m * n)[:count]
    fmt, formats = product.d_format, (product.a_format, product.b_format, product.c_format)
    if isinstance(fmt, Format) and fmt.width <= _NARROW and all(map(_has_floats, formats)):
        rows, columns = (np.sort(rng.permutation(side)[:_SIDE]) for side in (m, n))
        near = np.argsort(_from_middle(product, fmt, rows, columns, end), axis=None)[:first]
        i, j = np.unravel_index(near, (len(rows), len(columns)))
        drawn = np.array(list(dict.fromkeys([*(rows[i] * n + columns[j]).tolist(), *drawn.tolist()])))[:count]
    return np.stack(np.unravel_index(drawn, (m, n)), axis=1)


def _has_floats(fmt: AnyFormat | None) -> bool:
    return fmt is None or (isinstance(fmt, Format) and fmt.width <= 32)


def _from_middle(product: Product, fmt: Format, rows: Array, columns: Array, end: Epilogue) -> Array:
    """Return how far each sum, in binary64, is from the middle of two numbers of a format, in parts of their
    gap.
    """
    formats = product.a_format, product.b_format, product.c_format
    held = (
        product.a[rows],
        product.b[:, columns],
        None if product.c is None else product.c[np.ix_(rows, columns)],
    )
    a, b, c = (
        floats(own, words) if isinstance(own, Format) and words is not None else None
        for own, words in zip(formats, held, strict=True)
    )
    a = not_none(a)
    b = not_none(b)
    with np.errstate(all="ignore"):
        value = end.alpha * (a @ b) + (0 if c is None else end.beta * c)
        size = np.abs(value)
        exponent = np.maximum(np.frexp(size)[1] - 1, fmt.e_min)
        steps = np.ldexp(size, fmt.fraction_bits - exponent)
        far = np.abs(steps - np.floor(steps) - 0.5)
        inside = np.isfinite(value) & (size > 0) & (size < float(fmt.largest_finite))
    return np.where(inside, far, np.inf)
