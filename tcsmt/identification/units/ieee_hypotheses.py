"""Chains and trees of IEEE operations as hypotheses, and what a question made for them reveals.

The order of lanes is read by masking (MMA-Sim, section II-C): X and -X at two terms swallow all that meets
them before they meet each other, and the result counts the other terms, each a tiny y. A number of terms that
belong together is asked for each pair that is needed: about as many questions as there are terms for a chain
from c. Terms are named by their numbers: 0 to k - 1 are the products, k is c.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from tcsmt.identification.units.classical import OutOfReach, factors, word_of
from tcsmt.identification.units.hypotheses import TooMany
from tcsmt.identification.units.ieee_family import IeeeFamily, Table, standard_orders
from tcsmt.identification.units.ieee_questions import Units, is_plain, mixed, plain
from tcsmt.identification.units.questions import Questions, rules_of_words, zero_words
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format
from tcsmt.matrix_units.arithmetic.nans import NanRule
from tcsmt.matrix_units.models import IeeeDotAdd
from tcsmt.support.elimination import best_split
from tcsmt.support.text import counted

Array = np.ndarray[Any, np.dtype[Any]]
Random = np.random.Generator

# --- The exponent of products, and the order of lanes --------------------------------------------


Ask = Callable[[Questions, str], int]
#: A sum: a term, or the sums that are added in one step.
Sum = int | tuple["Sum", ...]
#: Chains whose first two lanes are tried in both orders, at most.
_MOST_CHAINS = 4


class _NoTree(Exception):
    """The answers are not those of a tree of additions to nearest."""


def _question(units: Units, terms: dict[int, Fraction]) -> Questions:
    """Terms of these values, by their numbers. Raises :class:`.OutOfReach`."""
    a, b = np.zeros((1, units.k), np.uint64), np.zeros((1, units.k), np.uint64)
    scale = Fraction(2) ** units.product_exponent
    for lane, value in terms.items():
        if lane < units.k:
            a[0, lane], b[0, lane] = factors(units.a_format, units.b_format, value / scale)
    c = word_of(units.c_format, terms.get(units.k, Fraction(0)))
    return Questions(a, b, np.array([c], np.uint64))


def revealed_exponent(ask: Ask, units: Units) -> int | None:
    """Return the power of two by which products are multiplied, from one product; None: it is not one."""
    word = ask(_question(units, {0: Fraction(2) ** units.product_exponent}), "the exponent of products")
    if units.c_format.is_special(word):
        return None
    value = units.c_format.value(word)
    power = value.numerator.bit_length() - value.denominator.bit_length()
    return power if value == Fraction(2) ** power else None


def revealed_orders(ask: Ask, units: Units) -> list[tuple[int, ...]]:
    """Return the orders of lanes that fit the tree of additions; none where there is no tree to read.

    A chain's own order; the same lanes dealt to several chains; and with the first two lanes of each chain
    exchanged, which the masks do not tell apart.
    """
    try:
        tree = _Masks(ask, units).tree([units.k, *range(units.k)])
    except (_NoTree, OutOfReach):
        return []
    lanes = [lane for lane in _leaves(tree, units.k) if lane != units.k]
    orders: dict[tuple[int, ...], None] = {}
    for chains in (n for n in range(1, units.k + 1) if units.k % n == 0):
        size = units.k // chains
        parts = [lanes[i : i + size] for i in range(0, units.k, size)]
        turns = product((False, True), repeat=chains) if chains <= _MOST_CHAINS and size > 1 else [()]
        for turned in turns:
            turn = dict(enumerate(turned))
            turned_parts = [
                [*part[1::-1], *part[2:]] if turn.get(i) else part for i, part in enumerate(parts)
            ]
            orders[tuple(part[place] for place in range(size) for part in turned_parts)] = None
    return list(orders)


def _leaves(tree: Sum, c: int) -> list[int]:
    """Return the terms as they come: those with c first, then the larger sum first."""
    if isinstance(tree, int):
        return [tree]
    parts = sorted((_leaves(branch, c) for branch in tree), key=lambda part: (c not in part, -len(part)))
    return [leaf for part in parts for leaf in part]


class _Masks:
    """Masked sums, asked for as they are needed."""

    def __init__(self, ask: Ask, units: Units) -> None:
        self.ask, self.units, self.count = ask, units, units.k + 1
        a, b, c = units.a_format, units.b_format, units.c_format
        more = units.product_exponent
        top = min(a.e_max + b.e_max + more, c.e_max - 2, 60)
        last = max(a.e_min + b.e_min + more, c.e_min, -60)
        if top - last < c.fraction_bits + 3 + self.count.bit_length():
            raise OutOfReach(f"the terms only reach from 2^{last} to 2^{top}")
        self.big, self.tiny = Fraction(2) ** top, Fraction(2) ** last

    def together(self, lane: int, other: int) -> int:
        """Return how many terms the smallest sum has that both belong to."""
        terms = dict.fromkeys(range(self.count), self.tiny) | {lane: self.big, other: -self.big}
        word = self.ask(_question(self.units, terms), "which lanes belong together")
        if self.units.c_format.is_special(word):
            raise _NoTree
        units_left = self.units.c_format.value(word) / self.tiny
        if units_left.denominator != 1 or not 0 <= units_left <= self.count - 2:
            raise _NoTree
        return self.count - int(units_left)

    def tree(self, terms: Sequence[int]) -> Sum:
        """Return the sum of some terms that belong together."""
        first, *others = terms
        sizes: dict[int, list[int]] = {}
        for other in others:
            size = self.together(first, other)
            if size > len(terms):
                raise _NoTree
            sizes.setdefault(size, []).append(other)
        total: Sum = first
        held = 1
        for size, group in sorted(sizes.items()):
            held += len(group)
            if size != held:
                raise _NoTree
            total = (total, self.tree(group))
        return total


# --- Hypotheses ----------------------------------------------------------------------------------


#: Hypotheses that are few enough, those of a sample, and questions of a pool.
FEW, SAMPLE, POOL = 6, 200, 80
#: Pools without a question that splits after which no more are tried.
PATIENCE = 3
#: Rows that are given the other columns, at most.
LARGEST = 4000


@dataclass(frozen=True)
class IeeeHypotheses(IeeeFamily):
    """The members of a family.

    scaled, ordered: whether the exponent of products, and the order of lanes, were read from answers.
    """

    scaled: bool = False
    ordered: bool = False

    kind = IeeeDotAdd

    @classmethod
    def of(cls, formats: Iterable[AnyFormat], k: int) -> IeeeHypotheses | None:
        """Return the hypotheses of formats, A's first; None where there are none.

        c and D have one format, with infinities, to which every operation rounds.
        """
        a, b, c, d = formats
        if not (isinstance(a, Format) and isinstance(b, Format) and isinstance(c, Format)):
            return None
        if c != d or not c.has_infinity or not (a.signed and b.signed and c.signed):
            return None
        if max(a.width, b.width, c.width) > 64 or not 1 <= k <= 128:
            return None
        return cls(a, b, c, k, tuple(standard_orders(k)))

    @property
    def formats(self) -> tuple[Format, Format, Format, Format]:
        """Return the formats of A, B, C and D."""
        return self.a_format, self.b_format, self.c_format, self.d_format

    def opened(self, random: Random, progress: Callable[[str], None]) -> IeeeOpening:
        """Plain sums."""
        return IeeeOpening(self, random, progress)

    def model(self, row: Any, nan: NanRule | None = None) -> IeeeDotAdd:
        """Return the model of a row; the NaN that IEEE 754 prefers is no rule of its own."""
        preferred = nan is not None and not nan.cases and nan.otherwise == self.d_format.nan_word
        return super().model(row, None if preferred else nan)

    def rules(self, row: Any, words: Sequence[int], invalid: Sequence[int]) -> list[NanRule | None]:
        """One word; or, of fused chains, which NaN each operation hands on."""
        if not words:
            return [None]
        first: list[NanRule | None] = [NanRule((), words[0])] if len(words) == 1 else []
        shape, (a, b, c, d) = self.shapes[int(row[0])], self.formats
        if shape.method != "fma" or len(invalid) < 2 or not all(map(d.is_nan, invalid)):
            return first
        several = rules_of_words(invalid[0], invalid[1])
        return [*first, *(rule for rule in several if not rule.objection(a, b, c, d))]

    def plain(self, random: Random, count: int) -> Questions:
        """Plain sums."""
        return plain(self, random, count)

    def mixed(self, random: Random, count: int, table: Table) -> Questions:
        """Questions of every sort, which do not depend on the table, int16 (rows, 8)."""
        return mixed(self, random, count)

    def neighbours(self, row: Table) -> tuple[IeeeHypotheses, Table] | None:
        """Return those with two lanes exchanged: int16 (rows, 8). row: int16 (8,)."""
        other = self.exchanged(int(row[1]))
        table = np.array([(number, place, *row[2:]) for number, place in other.places], np.int16)
        return other, table[(table[:, 0] == row[0]) & (table[:, 1] > 0)]

    def extended(self, ask: Callable[[Questions, str], int]) -> IeeeHypotheses | None:
        """Return those with the exponent of products that a question reveals; then with the order of
        lanes.
        """
        if not self.scaled:
            exponent = revealed_exponent(ask, self)
            if exponent is None:
                return None
            if exponent:
                return replace(self, product_exponent=exponent, scaled=True)
        orders = () if self.ordered else tuple(revealed_orders(ask, self))
        return replace(self, orders=orders, scaled=True, ordered=True) if orders else None


class IeeeOpening:
    """The rows of every shape and order that explain plain sums, then with all other parameters."""

    def __init__(self, family: IeeeFamily, random: Random, progress: Callable[[str], None]) -> None:
        self.family, self.random, self.progress = family, random, progress
        self.asked: list[tuple[Questions, int]] = []
        self.rows = family.first()
        self.split = True

    @property
    def few(self) -> bool:
        """Return whether few are left."""
        return len(self.rows) <= FEW

    def question(self) -> Questions | None:
        """Return the plain sum, of some, whose answers have the largest entropy over a sample of the rest."""
        if self.few or not self.split:
            return None
        for _ in range(PATIENCE):
            rows = self.rows[self.random.permutation(len(self.rows))[:SAMPLE]]
            pool = plain(self.family, self.random, POOL)
            best = best_split(self._unsigned(self.family.predictions(rows, pool))) if len(pool) else None
            if best is not None:
                return pool[[best]]
        self.split = False
        return None

    def answer(self, question: Questions, word: int) -> None:
        """Keep what explains the answer, as far as it shows without the other columns."""
        self.asked.append((question, word))
        if is_plain(self.family, question)[0]:
            answered = self._unsigned(np.array([word], np.uint64))[0]
            self.rows = self.rows[
                self._unsigned(self.family.predictions(self.rows, question))[:, 0] == answered
            ]
            asked = counted(len(self.asked), "question")
            self.progress(f"{asked}, {len(self.rows)} orders and roundings left")

    def _unsigned(self, words: Array) -> Array:
        """Zeros without their sign, which other columns decide."""
        return np.where(zero_words(self.family.d_format, words), np.uint64(0), words)

    def table(self) -> Table:
        """Return the rows that explain every answer, int16 (rows, 8). Raises :class:`.TooMany`."""
        if len(self.rows) > LARGEST:
            asked = counted(len(self.asked), "plain sum")
            raise TooMany(f"{len(self.rows)} orders and roundings explain {asked}")
        table = self.family.grown(self.rows)
        for question, word in self.asked:
            table = table[self.family.predictions(table, question)[:, 0] == word]
        return table
