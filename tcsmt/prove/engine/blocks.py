"""One fused sum of a model, and what can be said of it: terms for queries and for certificates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tcsmt.language.terms import Term, any_of, substitute
from tcsmt.matrix_units.arithmetic.datapath import Exponent, Fixed, Number, accumulate, decode
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.integers import signed, signed_word
from tcsmt.matrix_units.models import Kind, Stage
from tcsmt.support.invariants import checked_cast


@dataclass(frozen=True)
class Block:
    """One fused sum: the largest exponent, what is aligned to it, the sum, the result.

    last_bit: the exponent of the last bit that a product can have.
    """

    top: Exponent
    aligned: tuple[Fixed, ...]
    sum: Fixed
    last_bit: int
    format: Format
    result: Term

    @classmethod
    def of(cls, stages: Sequence[Stage], seen: dict[Term, Term]) -> Block | None:
        """Read from a model's stages, with replaced terms; None where it does not align to one exponent."""

        def now(term: Term) -> Term:
            return substitute([term], seen)[0]

        def word(x: Fixed) -> Fixed:
            return replace(x, word=now(x.word), source=number(x.source) if x.source else None)

        def number(x: Number | Fixed) -> Number | Fixed:
            if isinstance(x, Fixed):
                return word(x)
            return Number(
                now(x.sign), replace(x.exponent, term=now(x.exponent.term)), now(x.significand),
                x.fraction_bits, now(x.zero), now(x.infinite), now(x.nan),
            )  # fmt: skip

        tops, results = ([s for s in stages if s.kind is k] for k in (Kind.LARGEST_EXPONENT, Kind.RESULT))
        if not (len(tops) == len(results) == 1):
            return None
        (top,), (result,) = tops, results
        total = _sum_aligned_to(top, stages)
        if total is None:
            return None
        largest = checked_cast(top.value, Exponent)
        c = [s.value for s in stages if s.kind is Kind.ALIGNED_C]
        products = [x.source for x in total.addends if x.source is not None and x not in c]
        return cls(
            replace(largest, term=now(largest.term)),
            tuple(map(word, total.addends)),
            word(total),
            min(x.exponent.low - x.fraction_bits for x in products),
            checked_cast(result.value, Format),
            now(result.term),
        )

    @property
    def sources(self) -> list[Number]:
        """Return the numbers that are aligned."""
        return [x.source for x in self.aligned if isinstance(x.source, Number)]

    @property
    def special(self) -> Term:
        """Return whether a term is an infinity or a NaN."""
        return any_of(x.infinite | x.nan for x in self.sources)

    @property
    def plain(self) -> bool:
        """Return whether the sum is that of the aligned terms, with nothing cut off: the same node."""
        # the same node, not an equal one: a sum that cuts bits off, or complements them, is not linear,
        # and shifting its terms does not shift it
        return accumulate(self.aligned, self.sum.word.width).word is self.sum.word

    def at(self, top: Exponent) -> dict[Term, Term]:
        """Put another exponent for the largest one."""
        return {self.top.term: top.within(self.top.low, self.top.high)}

    @property
    def above(self) -> Term:
        """Return whether a term that is not zero has an exponent above the largest one."""
        return any_of(self.above_by(number) for number in range(len(self.sources)))

    def above_by(self, number: int) -> Term:
        """Return whether one of the terms has."""
        x = self.sources[number]
        return ~x.zero & signed(self.top).slt(signed(x.exponent))

    @property
    def zero_with_bits(self) -> Term:
        """Return whether a term that counts as zero has a significand that is not."""
        return any_of(x.zero & x.significand.ne(0) for x in self.sources)


def _sum_aligned_to(top: Stage, stages: Sequence[Stage]) -> Fixed | None:
    """Return the sum of numbers that are aligned to the largest exponent; None where there is not just
    one.
    """
    sums = [stage.value for stage in stages if isinstance(stage.value, Fixed) and stage.value.addends]
    # a sum on another grid (of groups, of c alone) says nothing of the largest exponent
    aligned = [total for total in sums if total.exponent == top.value]
    if len(aligned) != 1 or not all(isinstance(x.source, Number) for x in aligned[0].addends):
        return None
    return aligned[0]


def loses_bits(word: Term, places: int) -> Term:
    """Return whether a word has no room for a shift to the left by so many places."""
    return word[word.width - places - 1 : 0].sext(word.width).ne(word)


def multiple_of(fmt: Format, word: Term, last_bit: int) -> Term:
    """Return whether the word is a multiple of 2^``last_bit``, an infinity or a NaN."""
    x = decode(fmt, word)
    zeros = clear(x.exponent.plus(-x.fraction_bits), last_bit)
    return any_of([x.infinite, x.nan, cut_off(x.significand, zeros).eq(x.significand)])


def clear(unit: Exponent, last_bit: int) -> Term:
    """Return how many low bits a multiple of 2^``last_bit`` has zero, its unit being 2^``unit``: not below
    0.
    """
    count = signed_word(last_bit) - signed(unit)
    return count.at_least(0).word


def cut_off(word: Term, count: Term) -> Term:
    """Return the word with so many low bits zero."""
    extended = word.zext(max(word.width, count.width))
    distance = count.zext(extended.width)
    return ((extended >> distance) << distance)[word.width - 1 : 0]


def below(x: Fixed, top: Exponent) -> Term:
    """Return whether an aligned term is finite, and not above the largest exponent; a zero's does not
    matter.
    """
    source = checked_cast(x.source, Number)
    finite = ~source.infinite & ~source.nan
    return finite & (source.zero | signed(source.exponent).sle(signed(top)))


def inside(x: Exponent, range_of: Exponent) -> Term:
    """Return whether the exponent lies where the other does."""
    return signed_word(range_of.low).sle(signed(x)) & signed(x).sle(signed_word(range_of.high))
