"""Exact sums of groups that share a grid with a c which decides the grid only where it leads.

c leads where it is not zero and no product that is not zero has a larger exponent, its scales' included. A
group itself has the exponent of its scales, which may be smaller than c's where c does not lead: by as much
as the exponents of a product reach.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tcsmt.language.terms import Term, all_of
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic.datapath import Exponent, Fixed, Number
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.integers import signed, signed_word

#: Aligns a number to a largest exponent.
Align = Callable[[Number, Exponent], Fixed]


@dataclass(frozen=True)
class Leading:
    """The places of one block where c leads.

    c: its value, with its point so far to the left that its exponent is above no grid's largest one.
    own: the exponent that c has. reached: of each group, the largest exponent of a product that is not zero.
    highest: the largest of them. leads: whether c leads.
    """

    c: Number
    own: Exponent
    reached: tuple[Exponent, ...]
    highest: Exponent
    leads: Term

    @classmethod
    def of(cls, products: Sequence[Number], scales: Sequence[Number], c: Number) -> Leading:
        """products: unscaled, in lane order. scales: of each group of as many lanes."""
        size = len(products) // len(scales)
        groups = [products[i : i + size] for i in range(0, len(products), size)]
        lowest = min(p.exponent.low for p in products) + min(s.exponent.low for s in scales)
        nothing = Exponent.constant(min(lowest, c.exponent.low))  # a c that is not zero leads zeros
        reached = []
        for group, scale in zip(groups, scales, strict=True):
            low = Exponent.constant(min(p.exponent.low for p in group))
            largest = dp.largest([p.exponent.or_where(p.zero, low) for p in group], low.low)
            empty = scale.zero | all_of(p.zero for p in group)
            reached.append((largest + scale.exponent).or_where(empty, nothing))
        highest = dp.largest(reached, nothing.low)
        reach = max(0, *(p.exponent.high for p in products))
        moved = replace(c, exponent=c.exponent.plus(-reach), fraction_bits=c.fraction_bits - reach)
        leads = ~c.zero & signed(highest).sle(signed(c.exponent))
        return cls(moved, c.exponent, tuple(reached), highest, leads)

    @property
    def follows(self) -> Term:
        """Return whether c is neither zero nor leads."""
        return ~self.c.zero & ~self.leads

    def entering(self, own: Exponent, least: int) -> Exponent:
        """Return the exponent with which c takes part in the maximum.

        own: that of a c which always does. least: one that decides nothing.
        """
        return own.or_where(self.follows, Exponent.constant(least))

    def apart(self, whole: Fixed, parts: Sequence[Fixed]) -> Fixed:
        """Return an aligned group: the sum of its aligned parts where c does not lead."""
        width = max(part.word.width for part in parts) + (len(parts) - 1).bit_length()
        summed = dp.accumulate(parts, max(width, whole.word.width))
        word = self.leads.ite(whole.word.sext(summed.word.width), summed.word)
        return replace(whole, word=word)

    def on_grid_of_c(self, number: int, group: Number, top: Exponent, align: Align) -> Fixed:
        """Return an aligned group: on a coarser grid of c where c leads its products, but not all."""
        own = signed(self.own)
        coarser = self.follows & signed(self.reached[number]).sle(own) & signed(top).slt(own)
        rough = align(group, top.or_where(coarser, self.own))
        most = self.own.high - self.c.exponent.high  # c is above the grid by no more
        by = (own - signed(top)).unsigned(max(1, most.bit_length()))
        wide = rough.word.sext(rough.word.width + most)
        word = wide << coarser.ite(by, 0).zext(wide.width)
        return replace(rough, word=word, exponent=top)


def without_small(
    aligned: Sequence[Fixed],
    groups: Sequence[Number],
    entering: Sequence[Exponent],
    whole: Fixed,
    below: int,
    fmt: Format,
) -> list[Fixed]:
    """Return aligned groups, without small ones of lower exponents where the sum is subnormal.

    entering: the exponents with which they take part in the maximum. whole: the sum with all of them. below:
    a group is small if its magnitude is less than 2^``below``. fmt: of the result.
    """
    largest = signed(dp.largest(entering, min(e.low for e in entering)))
    subnormal = _reaches(whole, fmt.e_min - fmt.fraction_bits) & ~_reaches(whole, fmt.e_min)
    remaining = []
    for x, group in zip(aligned, groups, strict=True):
        drops = subnormal & signed(group.exponent).slt(largest) & ~_reaches(x, below)
        remaining.append(replace(x, word=drops.ite(0, x.word)))
    return remaining


def _reaches(x: Fixed, exponent: int) -> Term:
    """Return whether a magnitude is 2^``exponent`` or more."""
    size = dp.sign_and_magnitude(x).magnitude
    places = (signed_word(exponent + x.fraction_bits) - signed(x.exponent)).at_least(0)
    width = max(size.width, places.word.width)
    return (size.zext(width) >> places.unsigned(width)).ne(0)
