"""The hypotheses that are chains and trees of IEEE operations: IeeeDotAdd of given formats and K.

A hypothesis is one row of a table with a column for each of :data:`COLUMNS`. What is the same function by
definition is there once: a fused chain from c is also a sequential sum of exact products, a sum may be
turned round, the overflow of a rounding that overflows in one way is its own, and a deal of lanes that
gives the same sums as another is not repeated. All operations round to the format of c and D.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, permutations, product
from typing import Any, Self

import numpy as np

from tcsmt.identification.units.ieee_steps import (
    OVERFLOWS,
    WRITES,
    Operation,
    Options,
    Step,
    Steps,
    Words,
    flushed,
)
from tcsmt.identification.units.questions import Questions
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.nans import NanRule
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.matrix_units.models import IeeeDotAdd
from tcsmt.matrix_units.models.ieee_parts import BlockPlace, blocks

Array = np.ndarray[Any, np.dtype[Any]]
Table = np.ndarray[Any, np.dtype[np.int16]]


COLUMNS = (
    "shape", "order", "rounding", "product_rounding", "overflow", "reads", "writes", "zeros",
)  # fmt: skip
#: Which subnormal operands are read as zero (``flush_c``, ``flush_inputs``), and whether always as +0.
READS = ((False, False, False), (True, False, False), (False, True, False), (True, False, True),
         (False, True, True))  # fmt: skip
_MODES = tuple(ROUNDINGS.values())
#: Which roundings never carry into the next binade: they cut off, or set the last bit.
_KEEPS = [mode.truncates or mode.to_odd for mode in _MODES]
#: Pairs of a hypothesis and a question that are computed at once.
_AT_ONCE = 1 << 18


@dataclass(frozen=True)
class Shape:
    """The shape of the sums, apart from the order of lanes: parameters of :class:`.IeeeDotAdd`.

    rounded: whether products are rounded (``product_format``).
    """

    method: str
    n_fma: int | None = None
    chains: int = 1
    c_first: bool = True
    rounded: bool = False

    def sums(self, lanes: Sequence[int]) -> object:
        """Return what tells apart the functions of two orders of lanes."""
        match self.method:
            case "exact":
                return tuple(frozenset(block) for _, block in blocks(self.n_fma, lanes))
            case "pairwise":
                return tuple(_tree(block) for _, block in blocks(self.n_fma, lanes))
            case "fma" if self.chains > 1:
                first, second, *others = (tuple(lanes[i :: self.chains]) for i in range(self.chains))
                return frozenset((first, second)), tuple(others)
            case "sequential" if self.rounded and not self.c_first:
                return frozenset(lanes[:2]), tuple(lanes[2:])
            case _:
                return tuple(lanes)


def _tree(lanes: Sequence[int]) -> object:
    """A balanced tree of sums that may be turned round."""
    if len(lanes) == 1:
        return lanes[0]
    half = len(lanes) // 2
    return frozenset((_tree(lanes[:half]), _tree(lanes[half:])))


def _ends(mode: Rounding) -> tuple[bool, bool]:
    """Return whether a positive result that is too large becomes an infinity, and a negative one."""
    return mode.overflows(negative=False), mode.overflows(negative=True)


def _divisors(k: int) -> list[int]:
    return [n for n in range(1, k + 1) if k % n == 0]


#: Lanes of which every order is a hypothesis.
_FEW = 4


def standard_orders(k: int) -> list[tuple[int, ...]]:
    """Orders of lanes that a unit may well have: in turn, dealt, and turned round as a whole or in groups.

    Of few lanes, every order.
    """
    if k <= _FEW:
        return list(permutations(range(k)))
    orders: dict[tuple[int, ...], None] = {}
    for size in _divisors(k):
        groups = [list(range(start, start + size)) for start in range(0, k, size)]
        dealt = [lane for place in range(size) for lane in range(place, k, size)]
        back = [lane for group in groups for lane in reversed(group)]
        for order in (dealt, back):
            orders[tuple(order)] = None
            orders[tuple(reversed(order))] = None
    return list(orders)


@dataclass(frozen=True)
class IeeeFamily:
    """All hypotheses of these formats and K; c and D have one format.

    orders: the orders of lanes. product_exponent: that of every hypothesis.
    """

    a_format: Format
    b_format: Format
    c_format: Format
    k: int
    orders: tuple[tuple[int, ...], ...]
    product_exponent: int = 0
    steps: Steps = field(init=False, repr=False)

    def __post_init__(self) -> None:
        steps = Steps(self.a_format, self.b_format, self.c_format, self.product_exponent)
        object.__setattr__(self, "steps", steps)

    @property
    def d_format(self) -> Format:
        """Return the format of c."""
        return self.c_format

    def exchanged(self, place: int) -> Self:
        """Return the family with one of the orders, and those in which two of its lanes are exchanged."""
        order = self.orders[place]
        others = []
        for i, j in combinations(range(self.k), 2):
            other = list(order)
            other[i], other[j] = order[j], order[i]
            others.append(tuple(other))
        return replace(self, orders=(order, *others))

    @cached_property
    def shapes(self) -> list[Shape]:
        """Every shape."""
        k, several = self.k, [n for n in _divisors(self.k) if n > 1]
        shapes = [Shape("fma"), *(Shape("fma", chains=n) for n in several)]
        shapes += [Shape("sequential", rounded=True)]
        shapes += [Shape("sequential", c_first=False)] if k > 1 else []
        shapes += [Shape("sequential", c_first=False, rounded=True)] if k > 2 else []  # of two, it is a tree
        shapes += [Shape("pairwise", n_fma=n, rounded=True) for n in several if n & (n - 1) == 0]
        for n in several or [1]:
            shapes += [Shape("exact", n_fma=n, c_first=c_first) for c_first in (True, False)]
        return shapes

    @cached_property
    def places(self) -> list[tuple[int, int]]:
        """Shapes with orders that are not another one's function, by their numbers."""
        seen: dict[object, tuple[int, int]] = {}
        for number, shape in enumerate(self.shapes):
            for place, lanes in enumerate(self.orders):
                seen.setdefault((number, shape.sums(lanes)), (number, place))
        return list(seen.values())

    def first(self) -> Table:
        """All rows over the parameters that plain sums show; the others are 0. Returns int16 (rows, 8)."""
        rows = []
        for number, place in self.places:
            products = range(len(_MODES)) if self.shapes[number].rounded else (0,)
            rows += [
                (number, place, mode, of_product, 0, 0, 0, 0)
                for mode, of_product in product(range(len(_MODES)), products)
            ]
        return np.array(rows, np.int16)

    def grown(self, table: Table) -> Table:
        """Every row with every value of the other columns that is not another one's function.

        Tables are int16 (rows, 8).
        """
        rows = [
            (*row[:4], *more)
            for row in table.tolist()
            for more in product(self._overflows(row), range(len(READS)), range(len(WRITES)), self._zeros(row))
        ]
        return np.array(rows, np.int16).reshape(-1, len(COLUMNS))

    def _overflows(self, row: Sequence[int]) -> list[int]:
        """IEEE's own, and the others where the roundings do not always do the same."""
        shape = self.shapes[row[0]]
        modes = [_MODES[row[2]], *([_MODES[row[3]]] if shape.rounded else [])]
        ends = {end for mode in modes for end in _ends(mode)}
        return [0, *([1] if False in ends else []), *([2] if True in ends else [])]

    def _zeros(self, row: Sequence[int]) -> tuple[int, ...]:
        shape = self.shapes[row[0]]
        if shape.method != "exact":
            return (0,)
        return (0, 1) if self.k > 1 else (1,)  # of one product, the others are a chain

    @cached_property
    def count(self) -> int:
        """Return how many hypotheses there are, NaN words apart."""
        rest = len(READS) * len(WRITES)
        return sum(rest * len(self._overflows(row)) * len(self._zeros(row)) for row in self.first().tolist())

    def one_column_apart(self, row: Table) -> Table:
        """Return the rows, int16 (rows, 8), that differ from a row, (8,), in one column."""
        rows = []
        values = ([p for s, p in self.places if s == row[0]], range(len(_MODES)), range(len(_MODES)),
                  range(3), range(len(READS)), range(len(WRITES)), (0, 1))  # fmt: skip
        for column, several in enumerate(values, 1):
            for value in several:
                changed = row.copy()
                changed[column] = value
                variant = changed.tolist()
                member = variant[4] in self._overflows(variant) and variant[7] in self._zeros(variant)
                member &= self.shapes[variant[0]].rounded or variant[3] == 0
                if member and value != row[column]:
                    rows.append(changed)
        return np.array(rows, np.int16).reshape(-1, len(COLUMNS))

    def canonical(self, table: Table) -> Table:
        """Rows with every value that cannot matter replaced by one that stands for all of them.

        ``tests/identification/units/test_ieee_family.py`` has solvers prove instances.

        Tables are int16 (rows, 8).
        """
        result = table.copy()
        for row in result:
            if self.shapes[row[0]].rounded and self._exact_products:
                row[3] = 0
            elif self.shapes[row[0]].rounded and self._short_products and row[6]:
                self._plain_products(row)
            if row[4] not in self._overflows(row):
                row[4] = 0
            if self._never_overflows(row):
                row[4] = 0
            if row[5] and self._never_subnormal:
                row[6] = 0
            if row[6] and self._never_carries(row):
                row[6] = 1
        return result

    @property
    def _last_product(self) -> int:
        """Exponent of the number of which every product is a multiple."""
        a, b = self.a_format, self.b_format
        return a.e_min + b.e_min - a.fraction_bits - b.fraction_bits + self.product_exponent

    def _never_overflows(self, row: Table) -> bool:
        """Return whether all products together are less than a quarter of the largest number's last place.

        Beside that number they are lost, so that no sum of finite numbers goes beyond it, unless the rounding
        goes away from zero for whatever is lost. (To odd stays, the largest number being odd.)
        """
        a, b, c = self.a_format, self.b_format, self.c_format
        together = a.e_max + b.e_max + 2 + self.product_exponent + self.k.bit_length() + 1
        mode = _MODES[row[2]]
        return together <= c.e_max - c.fraction_bits - 2 and (mode.nearest or _KEEPS[row[2]])

    @property
    def _never_subnormal(self) -> bool:
        """Return whether no result is subnormal where a subnormal c is read as zero.

        Products and their sums are multiples of 2^u, which is normal. What is added to such a sum is zero,
        less than half of it, or a multiple of 2^(u - 1 - fraction bits), and that is normal, too.
        """
        return self._last_product - 1 - self.c_format.fraction_bits >= self.c_format.e_min

    @property
    def _exact_products(self) -> bool:
        """Return whether every product is a number of c's format: rounding changes none, and none
        overflows.
        """
        a, b, c = self.a_format, self.b_format, self.c_format
        more = self.product_exponent
        short = a.fraction_bits + b.fraction_bits + 2 <= c.precision
        return short and self._last_product >= c.e_min and a.e_max + b.e_max + 1 + more <= c.e_max

    @property
    def _short_products(self) -> bool:
        """Return whether no product that a normal number is near enough to is inexact.

        Products have at most as many bits as a fraction: one that is normal, or in the binade below the
        normal numbers, is exact. Below that binade, no rounding reaches a normal number. So whether it is
        flushed does not depend on the rounding.
        """
        bits = self.a_format.fraction_bits + self.b_format.fraction_bits + 2
        return bits <= self.c_format.fraction_bits

    def _plain_products(self, row: Table) -> None:
        """The rounding of exact or flushed products, which shows where they overflow alone."""
        ends = _ends(_MODES[row[3]])
        row[3] = 0 if row[4] else next(number for number, mode in enumerate(_MODES) if _ends(mode) == ends)

    def _never_carries(self, row: Table) -> bool:
        """Return whether no result below the smallest normal number is rounded to it."""
        shape = self.shapes[row[0]]
        products = not shape.rounded or self._short_products or _KEEPS[row[3]]
        return bool(_KEEPS[row[2]] and products)

    def model(self, row: Iterable[int], nan: NanRule | None = None) -> IeeeDotAdd:
        """Return the model of a row."""
        number, place, rounding, of_product, overflow, reads, writes, zeros = map(int, row)
        shape, order = self.shapes[number], self.orders[place]
        flush_c, flush_inputs, positive = READS[reads]
        tininess = WRITES[writes]
        return IeeeDotAdd.of(
            a_format=self.a_format, b_format=self.b_format, c_format=self.c_format, d_format=self.c_format,
            k=self.k, method=shape.method, n_fma=shape.n_fma, chains=shape.chains, c_first=shape.c_first,
            order=None if order == tuple(range(self.k)) else order,
            product_format=self.c_format if shape.rounded else None,
            product_rounding=_MODES[of_product], product_exponent=self.product_exponent,
            sum_format=self.c_format, rounding=_MODES[rounding], overflow=OVERFLOWS[overflow],
            flush_c=flush_c, flush_inputs=flush_inputs, flush_to_positive=positive,
            flush_outputs=tininess is not None, tininess=tininess or "result",
            negative_zero=not zeros, nan=nan,
        )  # fmt: skip

    def predictions(self, table: Table, questions: Questions) -> Array:
        """Return the word of every hypothesis on every question, shape (hypotheses, questions), dtype uint64.

        Every NaN is the format's own NaN word.
        """
        outputs = np.zeros((len(table), len(questions)), np.uint64)
        size = max(1, _AT_ONCE // max(1, len(questions)))
        for start in range(0, len(table), size):
            numbers = table[start : start + size, 0]
            rows_of_shape = [start + np.flatnonzero(numbers == number) for number in np.unique(numbers)]
            shapes = [self.shapes[int(table[rows[0], 0])] for rows in rows_of_shape]
            results = [
                self.model(table[rows[0]]).sum.run(_ArraySteps(self, shape, table[rows], questions))
                for shape, rows in zip(shapes, rows_of_shape, strict=True)
            ]
            for rows, words in zip(rows_of_shape, self.steps.run(results), strict=True):
                outputs[rows] = words.reshape(len(rows), -1)
        return outputs


class _ArraySteps:
    """The steps of hypotheses of one shape on some questions: one array of words for each operand."""

    def __init__(self, family: IeeeFamily, shape: Shape, table: Table, questions: Questions) -> None:
        self.shape = shape
        self.options, self.of_product = (self._options(table, column, len(questions)) for column in (2, 3))
        lanes = np.array(family.orders)[table[:, 1]].T
        self.a, self.b = (
            self._read(fmt, words.T[lanes], table[:, 5], (1,)).reshape(family.k, -1)
            for fmt, words in ((family.a_format, questions.a), (family.b_format, questions.b))
        )
        c = np.broadcast_to(questions.c, (1, len(table), len(questions)))
        self.c = self._read(family.c_format, c, table[:, 5], (0, 1)).reshape(-1)
        self.zero = np.zeros_like(self.c)

    def _options(self, table: Table, column: int, count: int) -> Options:
        several = [np.repeat(table[:, place].astype(np.int64), count) for place in (column, 4, 6, 7)]
        return Options(*several)

    def _read(self, fmt: Format, words: Array, reads: Array, flushing: tuple[int, ...]) -> Array:
        """Return the words, of shape (lanes, rows, questions), as each row reads them.

        flushing: the entries of :data:`READS` that flush them.
        """
        result = np.array(words, np.uint64)
        for number, read in enumerate(READS):
            rows = np.flatnonzero(reads == number)
            if len(rows) and any(read[place] for place in flushing):
                result[:, rows] = flushed(fmt, result[:, rows], keep_sign=not read[2])
        return result

    def products(self) -> list[Operation]:
        options = self.of_product if self.shape.rounded else self.options
        pairs = zip(self.a, self.b, strict=True)
        return [Operation(Step.PRODUCT, {"a0": a, "b0": b}, options) for a, b in pairs]

    def start(self, x: Words, place: BlockPlace) -> Words:
        return x

    def add(self, x: Words, y: Words, place: BlockPlace) -> Words:
        if not self.shape.rounded and isinstance(y, Operation) and y.step is Step.PRODUCT:
            return Operation(Step.MULTIPLY_ADD, {"x": x, **y.words}, self.options)
        return Operation(Step.SUM, {"x": x, "y": y}, self.options)

    def exact(self, products: Sequence[Operation], c: Words | None, place: BlockPlace) -> Words:
        words = {f"{side}{i}": x.words[f"{side}0"] for i, x in enumerate(products) for side in "ab"}
        if c is None:
            return Operation(Step.EXACT, words, self.options, len(products))
        return Operation(Step.EXACT_WITH_C, words | {"x": c}, self.options, len(products))
