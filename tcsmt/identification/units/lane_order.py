"""Facts that a chain or tree of additions reveals: the exponent of products, and the order of lanes.

The order is read by masking (MMA-Sim, section II-C): X and -X at two terms swallow all that meets them before
they meet each other, and the result counts the other terms, each a tiny y. A number of terms that belong
together is asked for each pair that is needed: about as many questions as there are terms for a chain from c.
Terms are named by their numbers: 0 to k - 1 are the products, k is c.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

import numpy as np

from tcsmt.identification.units.classical import OutOfReach, factors, word_of
from tcsmt.identification.units.ieee_questions import Units
from tcsmt.identification.units.questions import Questions

__all__ = ["revealed_exponent", "revealed_orders"]

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
            own = [[*part[1::-1], *part[2:]] if turn.get(i) else part for i, part in enumerate(parts)]
            orders[tuple(part[place] for place in range(size) for part in own)] = None
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
        whole: Sum = first
        held = 1
        for size, group in sorted(sizes.items()):
            held += len(group)
            if size != held:
                raise _NoTree
            whole = (whole, self.tree(group))
        return whole
