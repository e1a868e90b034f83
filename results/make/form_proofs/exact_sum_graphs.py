"""An exact sum in both graphs: a model's, in a word that spans every exponent, and a form's, on its grid."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from form_proofs.deduction import ProofFailed
from form_proofs.wide_shifts import PLACE
from tcsmt.language.terms import FALSE, Term, all_of, const, total
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic.datapath import Exponent, Fixed, Number, SignMagnitude
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.ieee import RoundedSum
from tcsmt.simulate.forms.exact_form import ExactNumbers, ExactStep

__all__ = ["BITS", "ROOM", "SINGLE", "SumGraphs", "TermOfSum", "counted", "short", "within"]

SINGLE = FORMATS["f32"]
#: Bits of the form's integers, and in which exponents are compared.
BITS, ROOM = FORMATS["f64"].width, 16


def within(word: Term, most: int) -> Term:
    """Whether a two's complement word lies between -most and most."""
    return (word + most).ule(2 * most)


def counted(exponent: Exponent) -> Term:
    """An exponent in two's complement."""
    return exponent.term.zext(ROOM) + exponent.low


def short(word: Term) -> Term:
    """A word before it was extended by zeros."""
    return word.args[0] if word.op == "zext" else word


@dataclass(frozen=True)
class TermOfSum:
    """One term of a sum in both graphs.

    number: the model's. single: the form's word in binary32; aligned: the number that it adds. size, place:
    of the form. moved: by how many places the model shifts it; word: the result; addend: what it adds.
    amount: by how many places the term lies above the grid.
    """

    number: Number
    single: Term
    aligned: Term
    size: Term
    place: Term
    moved: Term
    word: Term
    addend: Term
    amount: Term

    @property
    def is_product(self) -> bool:
        """Whether it is a product; else it is c."""
        return self.number.significand.op == "mul"

    @property
    def units(self) -> Term:
        """The term's magnitude in units of the grid."""
        return self.number.significand.zext(BITS) << self.amount.zext(BITS)

    @property
    def signed(self) -> Term:
        """The term in units of the grid."""
        return self.number.sign.ite(-self.units, self.units)

    @property
    def cuts(self) -> list[Term]:
        """What is free where exponents and significands are looked at; what is read of c is parts of its
        word, which is free itself.
        """
        x, nodes = self.number, [short(self.size), short(self.place)]
        if self.is_product:
            nodes += [x.significand, x.exponent.term, x.sign, x.zero]
        return nodes

    @property
    def in_single(self) -> Term:
        """That the form's word is the number in binary32: its leading bit is the first of its significand, or
        the second one where that has two before the point.
        """
        x = self.number
        exponent, size = counted(x.exponent), x.significand.width
        word = self._placed(size - 1, exponent + (x.integer_bits - 1))
        if x.integer_bits > 1:
            word = x.significand[size - 1].ite(word, self._placed(size - 2, exponent))
        word = x.significand.eq(0).ite(const(0, word.width), word)
        return self.single.eq(x.sign.concat(word))

    def _placed(self, leading: int, exponent: Term) -> Term:
        fraction, room = self.number.significand[leading - 1 : 0], SINGLE.fraction_bits
        fraction = fraction.concat(const(0, room - leading)) if leading < room else fraction
        return (exponent + SINGLE.bias)[SINGLE.exponent_bits - 1 : 0].concat(fraction)

    @property
    def is_number(self) -> Term:
        """Whether it is neither a NaN nor an infinity."""
        return ~self.number.nan & ~self.number.infinite

    def known(self, n: ExactNumbers) -> list[Term]:
        """What holds of a term that is a number: where its leading bit is, and what its words say."""
        x, last = self.number, self.number.significand.width - 1
        empty, exponent = x.significand.eq(0), counted(x.exponent)
        above = x.integer_bits - 2  # c's leading bit has the exponent; a product's has that, or one more
        size, place = (word[ROOM - 1 : 0] for word in (self.size, self.place))
        return [
            *([] if self.is_product else [self.is_number]),
            x.zero.eq(empty),
            empty | x.significand[last] | (FALSE if above else x.significand[last - 1]),
            x.exponent.term.ule(x.exponent.high - x.exponent.low),
            empty | place.eq(const(n.place + x.fraction_bits, ROOM) - exponent),
            empty | size.eq(exponent + (n.place + n.fraction_bits - 2 + above)),
        ]


@dataclass(frozen=True)
class SumGraphs:
    """An exact sum in both graphs. operation: the model's, of the same c as the form's step."""

    numbers: ExactNumbers
    step: ExactStep
    operation: RoundedSum

    @cached_property
    def lowest(self) -> int:
        """The exponent of the last bit of the model's words."""
        return min(x.exponent.low - x.fraction_bits for x in self.operation.terms)

    @cached_property
    def high(self) -> int:
        """The first bit in the model's words that no term has, and none above."""
        return max(x.exponent.high + x.integer_bits for x in self.operation.terms) - self.lowest

    @cached_property
    def width(self) -> int:
        """Bits of the model's words."""
        return self.high + 1 + len(self.operation.terms).bit_length()

    @property
    def wide(self) -> int:
        """Bits of words in which an integer shifted by the grid's place loses nothing."""
        return self.width + BITS

    @property
    def reach(self) -> int:
        """The largest word of place: that of the last bit of the model's words."""
        return self.numbers.place - self.lowest

    @cached_property
    def counted_place(self) -> Term:
        """A word of which the last bits are the grid's place."""
        return const(self.reach, self.step.places.width) - self.step.places

    @property
    def grid(self) -> Term:
        """The grid's place in the model's words."""
        return self.counted_place[PLACE - 1 : 0]

    def shifted(self, word: Term) -> Term:
        """A signed integer at the grid's place."""
        return word.sext(self.wide) << self.grid.zext(self.wide)

    @cached_property
    def terms(self) -> list[TermOfSum]:
        """All terms; c is the last one, if it is there. Raises :class:`.ProofFailed`."""
        if self.reach >= 1 << PLACE:
            raise ProofFailed(f"words of {self.width} bits")
        step, bits = self.step, self.step.sizes.width
        words = [(lane.product, lane.size.zext(bits), lane.place.zext(bits)) for lane in step.lanes]
        if step.c is not None:
            words.append((step.c.single, step.c.size, step.c.place))
        if not len(words) == len(step.aligned) == len(self.operation.terms):
            raise ProofFailed(f"a sum of {len(self.operation.terms)} terms, of {len(words)} in the form")
        terms = []
        for x, aligned, (single, size, place) in zip(self.operation.terms, step.aligned, words, strict=True):
            moved = x.exponent.plus(-x.fraction_bits).within(self.lowest, self.lowest + self.high)
            word = x.significand.zext(self.width) << moved.zext(self.width)
            amount = moved.zext(ROOM) - self.grid.zext(ROOM)
            addend = x.sign.ite(~word, word)
            terms.append(TermOfSum(x, single, aligned, size, place, moved, word, addend, amount))
        return terms

    @property
    def most(self) -> int:
        """The size of a term in units of the grid, at most."""
        return (1 << self.numbers.bits) - 1

    @cached_property
    def negative(self) -> list[Term]:
        """How many terms are negative: of all, of all but the first, and so on."""
        count = len(self.terms).bit_length()
        signs = [x.number.sign.zext(count) for x in self.terms]
        return [total(*signs[first:]) for first in range(len(signs))] + [const(0, count)]

    def form_sum(self, count: int) -> Term:
        """What the form has summed after so many terms."""
        return total(*self.step.aligned[:count])

    def units(self, count: int) -> Term:
        """The first terms' sum in units of the grid."""
        return total(*(x.signed for x in self.terms[:count]))

    def model_sum(self, count: int) -> Term:
        """What the model has summed after so many terms: they are complemented where they are negative, and
        the number of all negative ones comes first.
        """
        addends = [x.addend for x in self.terms[:count]]
        return total(self.negative[0].zext(self.width), *addends)

    @property
    def rounded(self) -> SignMagnitude:
        """What the model rounds."""
        whole = self.model_sum(len(self.terms))
        return dp.sign_and_magnitude(Fixed(whole, Exponent.constant(self.lowest), 0))

    # --- what is known of the first terms

    def same_size(self, count: int) -> Term:
        """That their sum is not larger than that of as many terms may be."""
        return within(self.units(count), count * self.most)

    def in_place(self, count: int) -> Term:
        """That the same holds of it at the grid's place."""
        return within(self.shifted(self.units(count)), count << self.high)

    def placed(self, count: int) -> Term:
        """That the grid's place is in the model's words, unless their sum is zero."""
        return self.units(count).eq(0) | self.grid.ule(self.high)

    def summed(self, count: int) -> Term:
        """That the model's sum is theirs at the grid's place, and the number of negative terms after them."""
        place = self.shifted(self.units(count))[self.width - 1 : 0]
        return self.model_sum(count).eq(place + self.negative[count].zext(self.width))

    def of_negative_terms(self, count: int) -> Term:
        """That their sum is negative, or all of them are zeros, where all of them have the sign."""
        units, terms = self.units(count), self.terms[:count]
        below = units.slt(const(0, BITS)) | units.eq(0) & all_of(x.number.zero for x in terms)
        return below | ~all_of(x.number.sign for x in terms)
