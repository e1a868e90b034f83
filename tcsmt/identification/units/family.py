"""The hypotheses: every FusedDotAdd of given formats and K, as rows of small integers.

A hypothesis is one row of a table with a column for each of :data:`COLUMNS`: the index of a value in
:class:`Family`'s lists. Values that give the same unit by definition are there once: carry bits beyond
``enough`` are None, ``round_fraction_bits`` at the format's last bit is None, ``ieee`` overflow is a
value of its own only where it depends on the sign, and a deal of lanes that gives the same blocks as
another is not repeated. The word of a NaN is read from the first NaN that the box answers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import product
from math import log2
from typing import Any, Self

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, float_format
from tcsmt.matrix_units.arithmetic.nans import NanRule
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.matrix_units.models import FusedDotAdd, FusedParameters
from tcsmt.support.errors import TcsmtError

Table = np.ndarray[Any, np.dtype[np.int16]]

#: Parameters that a row gives beside its structure, in the order of a table's columns.
COLUMNS = (
    "structure", "fraction_bits", "alignment", "carry_bits", "rounding", "round_fraction_bits",
    "zero_exponent", "flush_inputs", "overflow", "flush_outputs", "negative_zero", "c_rounding",
)  # fmt: skip

#: Alignment fraction bits F in the family.
LEAST_BITS, MOST_BITS = 5, 40
#: ``zero_exponent`` in the family: this far below and above the output's smallest normal exponent.
ZERO_BELOW, ZERO_ABOVE = 16, 8


@dataclass(frozen=True)
class Alignment:
    """The fate of the bits that alignment shifts out; sticky: their OR is kept (``alignment_sticky``)."""

    rounding: Rounding
    sticky: bool = False


#: Parameters that a question gives.
GIVEN = ("a_format", "b_format", "c_format", "d_format", "k")
#: Parameters in which hypotheses differ: of a structure, an alignment, a column. An order of lanes is that of
#: its blocks; the word of a NaN is read from an answer.
VARIED = (
    "n_fma", "interleave", "order", "products", "normalisation", "c_position", "alignment_sticky", "nan",
    *COLUMNS[1:],
)  # fmt: skip
#: All others are the same in every hypothesis: a unit with another value lies outside the family.
_ALWAYS = {
    field.name: field.default for field in fields(FusedParameters) if field.name not in (*GIVEN, *VARIED)
}

#: Rounding to odd is there as a sticky bit one place higher.
ALIGNMENTS = (
    *(Alignment(mode) for mode in ROUNDINGS.values() if not mode.to_odd),
    Alignment(ROUNDINGS["RTZ"], sticky=True),
)


@dataclass(frozen=True)
class Structure:
    """The shape of the sums: blocks of lanes, products, and where and how c is added."""

    n_fma: int
    interleave: int
    blocks: tuple[tuple[int, ...], ...]
    products: str
    order: str  #: ``aligned``, ``summed``, ``last``, or ``every`` (normalisation; c is aligned)


@dataclass(frozen=True)
class Family:
    """All hypotheses of these formats and K."""

    a_format: Format
    b_format: Format
    c_format: Format
    d_format: Format
    k: int

    def __post_init__(self) -> None:
        if not self.d_format.has_infinity:
            raise TcsmtError(f"identify: D is {self.d_format.name}; it must be a format with infinities")
        for fmt in (self.a_format, self.b_format, self.c_format):
            if not fmt.signed or fmt.width > 32:
                raise TcsmtError(f"identify: {fmt.name} is not a signed format of at most 32 bits")
        if not 1 <= self.k <= 128:
            raise TcsmtError(f"identify: K = {self.k}: must be from 1 to 128")

    @classmethod
    def of(cls, formats: Iterable[AnyFormat], k: int) -> Self:
        """Return the hypotheses of formats, A's first. Raises :class:`.TcsmtError` for integers among
        them.
        """
        try:
            a, b, c, d = map(float_format, formats)
        except TcsmtError as error:
            raise TcsmtError(f"identify: {error}") from None
        return cls(a, b, c, d, k)

    @property
    def formats(self) -> tuple[Format, Format, Format, Format]:
        """Return the formats of A, B, C and D."""
        return self.a_format, self.b_format, self.c_format, self.d_format

    @cached_property
    def structures(self) -> list[Structure]:
        """Every structure; contiguous blocks before others that are the same."""
        structures: dict[tuple[object, ...], Structure] = {}
        for n_fma in (n for n in range(self.k, 0, -1) if self.k % n == 0):
            deals = [g for g in range(1, n_fma + 1) if n_fma % g == 0] if n_fma < self.k else []
            for interleave in (0, *deals):
                plain = self._model(n_fma=n_fma, interleave=interleave)
                blocks = tuple(map(tuple, plain.blocks))
                for products, order in product(
                    ("unnormalised", "normalised"), ("aligned", "summed", "last", "every")
                ):
                    structure = Structure(n_fma, interleave, blocks, products, order)
                    structures.setdefault((blocks, products, order), structure)
        return list(structures.values())

    @cached_property
    def zero_exponents(self) -> list[int | None]:
        """Values of ``zero_exponent``; None is the last."""
        low = self.d_format.e_min
        return [*range(low - ZERO_BELOW, low + ZERO_ABOVE + 1), None]

    bits = tuple(range(LEAST_BITS, MOST_BITS + 1))
    alignments = ALIGNMENTS
    roundings = tuple(ROUNDINGS.values())
    overflows = ("infinity", "saturate", "ieee")

    @cached_property
    def round_bits(self) -> list[int]:
        """Values of ``round_fraction_bits``; the last stands for None."""
        return list(range(1, self.d_format.fraction_bits + 1))

    def carries(self, structure: Structure) -> list[int | None]:
        """Values of ``carry_bits`` that are not the same as None; None is the first."""
        return [None] if structure.order == "every" else [None, *range(structure.n_fma.bit_length())]

    def first(self, number: int) -> Table:
        """All rows of a structure over the parameters that an ordinary sum shows; the others are 0.

        Returns int16 (rows, 12).
        """
        structure = self.structures[number]
        every = structure.order == "every"
        lists = (
            range(len(self.bits)),
            range(len(self.alignments) - every),
            range(len(self.carries(structure))),
            range(len(self.roundings)),
            range(len(self.round_bits)),
        )
        grid = np.indices([len(values) for values in lists], dtype=np.int16).reshape(len(lists), -1)
        table = np.zeros((grid.shape[1], len(COLUMNS)), np.int16)
        table[:, 0] = number
        table[:, 1:6] = grid.T
        return table

    def rest(self, number: int) -> Table:
        """All values of columns 6 to 10 for a structure: int16 (rows, 5)."""
        every = self.structures[number].order == "every"
        zeros = range(len(self.zero_exponents) - every)
        return np.array(list(product(zeros, (0, 1), (0, 1, 2), (0, 1), (0, 1))), np.int16)

    def with_last_rounding(self, table: Table) -> Table:
        """Every row of one structure with every value of the last column. Tables are int16 (rows, 12)."""
        last = self.structures[int(table[0, 0])].order == "last"
        count = len(self.roundings) if last else 1
        rows = np.repeat(table, count, axis=0)
        rows[:, 11] = np.tile(np.arange(count), len(table))
        return rows

    def grown(self, table: Table) -> tuple[Table, Any]:
        """Every row of one structure with every value of columns 6 to 10, and the row's number.

        table: int16 (rows, 12). Returns int16 (grown, 12), and the number in table of the row from which each
        comes, integers (grown,).
        """
        rest = self.rest(int(table[0, 0]))
        owner = np.repeat(np.arange(len(table)), len(rest))
        rows = table[owner]
        rows[:, 6:11] = np.tile(rest, (len(table), 1))
        distinct = self._distinct(rows)
        return rows[distinct], owner[distinct]

    def one_column_apart(self, row: Table) -> Table:
        """Return the rows of the table that differ from a row in one column.

        These are hypotheses of the search, not what :func:`tcsmt.surveys.units.neighbours.neighbours` gives:
        every value that the family has for a column, however far away, and no graph is built, so that two
        rows may be the same unit (:func:`.canonical` finds those). A column may hold two parameters of the
        model: the structure holds blocks, products and the order of sums, of which one changes; alignment
        holds its rounding and the sticky bit. The neighbours are models that differ in one parameter, up
        to a short distance, each with a graph of its own, also outside of the family.

        row: int16 (12,). Returns int16 (rows, 12).
        """
        structure = self.structures[int(row[0])]
        tables = []
        for number, other in enumerate(self.structures):
            parts = (
                (structure.blocks, other.blocks),
                (structure.products, other.products),
                (structure.order, other.order),
            )
            if sum(x != y for x, y in parts) == 1:
                changed = row.copy()
                changed[0] = number
                changed[3] = min(changed[3], len(self.carries(other)) - 1)
                tables.append(changed)
        lists = [self.bits, self.alignments, self.carries(structure), self.roundings, self.round_bits]
        lists += [self.zero_exponents, (0, 1), self.overflows, (0, 1), (0, 1)]
        lists += [self.roundings] if structure.order == "last" else []
        for column, values in enumerate(lists, 1):
            for value in range(len(values)):
                if value != row[column]:
                    changed = row.copy()
                    changed[column] = value
                    tables.append(changed)
        table = np.array(tables, np.int16)
        every = np.array([self.structures[int(n)].order == "every" for n in table[:, 0]])
        sticky = table[:, 2] == len(self.alignments) - 1
        none = table[:, 6] == len(self.zero_exponents) - 1
        neighbours: Table = table[self._distinct(table) & ~(every & (sticky | none))]
        return neighbours

    def _distinct(self, table: Table) -> Any:
        """Rows whose overflow is not another one's by definition."""
        by_sign = np.array([mode.overflows_by_sign for mode in self.roundings])
        return (table[:, 8] != 2) | by_sign[table[:, 4]]

    @cached_property
    def count(self) -> int:
        """Return how many hypotheses there are, NaN words apart."""
        total = 0
        for number, structure in enumerate(self.structures):
            rest = self.rest(number)
            by_sign = (mode.overflows_by_sign for mode in self.roundings)
            shares = [int((rest[:, 2] < 2 + more).sum()) for more in by_sign]
            front = len(self.bits) * (len(self.alignments) - (structure.order == "every"))
            front *= len(self.roundings) if structure.order == "last" else 1
            total += front * len(self.carries(structure)) * len(self.round_bits) * sum(shares)
        return total

    @property
    def floor(self) -> float:
        """log2 of the number of hypotheses over the bits of an answer: no plan asks fewer questions."""
        return log2(self.count) / self.d_format.width

    def model(self, row: Table, nan: NanRule | None = None) -> FusedDotAdd:
        """Return the model of a row, int16 (12,). nan: a rule of one word."""
        number, bits, alignment, carry, rounding, place, zero, flush, overflow, flush_out, minus, c = (
            int(value) for value in row
        )
        structure = self.structures[number]
        aligned = self.alignments[alignment]
        last = self.round_bits[place] == self.d_format.fraction_bits
        return self._model(
            n_fma=structure.n_fma, interleave=structure.interleave, products=structure.products,
            normalisation="every" if structure.order == "every" else "once",
            c_position="aligned" if structure.order == "every" else structure.order,
            fraction_bits=self.bits[bits], alignment=aligned.rounding,
            alignment_sticky=aligned.sticky, carry_bits=self.carries(structure)[carry],
            rounding=self.roundings[rounding], round_fraction_bits=None if last else self.round_bits[place],
            zero_exponent=self.zero_exponents[zero], flush_inputs=bool(flush),
            overflow=self.overflows[overflow], flush_outputs=bool(flush_out), negative_zero=bool(minus),
            c_rounding=self.roundings[c], nan=None if nan is None else nan.otherwise,
        )  # fmt: skip

    def row(self, model: FusedDotAdd) -> Table | None:
        """Return the row of a model, int16 (12,); None if it lies outside the family."""
        blocks = tuple(map(tuple, model.blocks))
        p = model.parameters
        order = "every" if p.normalisation == "every" else p.c_position
        same = [
            number
            for number, s in enumerate(self.structures)
            if (s.blocks, s.products, s.order) == (blocks, p.products, order)
        ]
        if not same or any(getattr(p, name) != value for name, value in _ALWAYS.items()):
            return None
        carry = p.carry_bits
        if carry is not None and carry >= model.enough_carry_bits:
            carry = None
        overflow = p.overflow
        if overflow == "ieee" and not p.rounding.overflows_by_sign:
            overflow = "infinity" if p.rounding.overflows(negative=False) else "saturate"
        try:
            values = (
                same[0],
                self.bits.index(p.fraction_bits),
                self.alignments.index(Alignment(p.alignment, p.alignment_sticky)),
                self.carries(self.structures[same[0]]).index(carry),
                self.roundings.index(p.rounding),
                self.round_bits.index(p.round_fraction_bits or self.d_format.fraction_bits),
                self.zero_exponents.index(self._zero(model)),
                p.flush_inputs,
                self.overflows.index(overflow),
                p.flush_outputs,
                p.negative_zero,
                self.roundings.index(p.c_rounding) if order == "last" else 0,
            )
        except ValueError:
            return None
        return np.array(values, np.int16)

    def _zero(self, model: FusedDotAdd) -> int | None:
        """Its zero exponent; the family's least where both are below every number's, or lose no bit."""
        p = model.parameters
        zero, low = p.zero_exponent, self.zero_exponents[0]
        if zero is None or low is None or zero >= low or p.normalisation != "once":
            return zero
        a, b, c, d = self.formats
        products = a.e_min + b.e_min
        last = products - a.fraction_bits - b.fraction_bits
        least = min(last if p.products == "normalised" else products, c.e_min, d.e_min)
        last = min(last, c.e_min - c.fraction_bits, d.e_min - d.fraction_bits)
        exact = p.carry_bits is None and low - p.fraction_bits <= last
        return low if low <= least or exact else zero

    def _model(self, **parameters: Any) -> FusedDotAdd:
        common: dict[str, Any] = {"fraction_bits": 24, "zero_exponent": 0, "rounding": "RTZ"}
        return FusedDotAdd.of(
            a_format=self.a_format,
            b_format=self.b_format,
            c_format=self.c_format,
            d_format=self.d_format,
            k=self.k,
            **(common | parameters),
        )
