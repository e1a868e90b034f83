"""The loss of a fused sum whatever its exponents are, where results may be subnormal.

The lemmas of :mod:`tcsmt.analysis.bounds.fused_loss` are about sums whose last bit is one that the result's
format has: the largest exponent T is ``lowest`` or more. In a format of few exponents, such as FP16, ordinary
products lie below. Here every T counts, for what a subnormal result loses besides, which is absolute:

* a term that is aligned is off by a bit of the grid at most, as there; no term is taken to lose nothing;
* 2^T is at most the largest of the numbers that are not zero, or 2^floor: a T above the floor is the exponent
  of a number that is not zero, and c is no smaller than 2^T then;
* the last rounding loses a share of the result's last bit, or the same share of the smallest subnormal
  number: whichever is larger.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields
from fractions import Fraction

from tcsmt.analysis.bounds.fused_loss import (
    SHARES,
    C,
    ErrorTerms,
    FusedSum,
    Unbounded,
    free_exponent,
    leading_bit,
    need,
)
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.error import magnitude
from tcsmt.language.macros import leading_zeros
from tcsmt.language.terms import FALSE, TRUE, Term, any_of, const, substitute, var
from tcsmt.matrix_units.arithmetic.datapath import Exponent, Fixed, Number, decode
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.integers import signed, signed_word
from tcsmt.prove.certificates.derivation import characterised


@dataclass(frozen=True)
class GradualSum(FusedSum):
    """A fused sum, and what is proved of it for every largest exponent."""

    @classmethod
    def of(cls, fused: FusedSum) -> GradualSum:
        """Return the same sum."""
        return cls(**{field.name: getattr(fused, field.name) for field in fields(FusedSum)})

    @property
    def floor(self) -> int:
        """Return the exponent up to which T may be that of a zero, or of a subnormal c."""
        floor = max(self.numbers[C].exponent.low, self.format.e_min)
        return floor if self.zero_exponent is None else max(floor, self.zero_exponent)

    @property
    def lowest(self) -> int:
        """Return the least T that is the exponent of a number that is not zero, and no smaller than 2^T."""
        return self.floor + 1

    def losses(self, chain: StepwiseProof, live: Collection[int]) -> ErrorTerms:
        """Return what is lost where such numbers may be other than zero.

        Raises :class:`Unbounded` where lemmas are not proved.
        """
        if self.flushes:
            raise Unbounded("a subnormal result is read as zero")
        self.zeros(chain)
        self._require_normal_c(chain)
        cut = self.alignment_error(chain, live)
        share = self.rounding(chain)
        smallest = share * Fraction(2) ** self._last
        return ErrorTerms(
            cut, share, truncates=False, tiny_c_loss=Fraction(0), floor=Fraction(2) ** self.floor,
            smallest_loss=smallest,
        )  # fmt: skip

    @property
    def _last(self) -> int:
        """Return the exponent of the last bit that the rounding keeps of a subnormal result."""
        return self.format.e_min - (self.precision - 1)

    def _require_normal_c(self, chain: StepwiseProof) -> None:
        """Prove that c is no smaller than 2 to the power of its exponent, where that is above the floor."""
        c = self.numbers[C]
        small = c.significand.zext(c.significand.width + 1).ult(1 << max(c.fraction_bits, 0))
        goal = ~c.zero & signed_word(self.lowest).sle(signed(c.exponent)) & small
        need(chain, f"c is 2^T or more where its exponent T is above {self.floor}", characterised(goal))

    def _spared(self, chain: StepwiseProof, x: Fixed, places: Collection[int], least: Fraction) -> Fraction:
        """Return 0: a T up to the floor need not be the exponent of a term that counts."""
        return Fraction(0)

    def _counts(self, x: Number) -> Term:
        """Return whether a number is not zero: the lemmas are about all of these."""
        return ~x.zero

    def _rounding(self, chain: StepwiseProof) -> tuple[Fraction, Fraction]:
        """Return the share, and that no sum is rounded otherwise."""
        some = any_of(~x.zero for x in self.numbers.values())
        for premise in (TRUE, some):  # where every number is a zero, nothing is lost (zeros)
            for share in SHARES:
                less = "less than a" if share == 1 else f"{share} of a"
                what = f"the last rounding loses {less} last bit of {self.precision}, or of 2^{self._last}"
                small = f"a sum up to a quarter of 2^{self._last} gives zero"
                small += ", or that number" if share == 1 else ""
                if chain.prove(small, premise & self._misrounded_small(share)) and chain.prove(
                    what, premise & self._misrounded(share)
                ):
                    return share, Fraction(0)
        raise Unbounded(f"not proved: {chain.stopped}")

    @property
    def _least(self) -> int:
        """Return the least T with which a sum may be above a quarter of 2^last."""
        return self._last + self.sum.fraction_bits - self.sum.word.width

    def _misrounded_small(self, share: Fraction) -> Term:
        """Does a sum that T keeps below a quarter of 2^last give another result than zero, or 2^last?

        T may be far below all else. These sums have a lemma of their own, in which nothing is shifted so far.
        """
        fmt, total, top, x = self._free_result()
        smallest = x.significand.eq(1 << (fmt.fraction_bits - self.precision + 1))
        smallest &= signed(x.exponent).eq(signed_word(fmt.e_min)) & x.sign.eq(total[total.width - 1])
        fine = x.zero | (smallest & total.ne(0) if share == 1 else FALSE)
        return self.finite & signed(top).slt(signed_word(self._least)) & any_of([x.infinite, x.nan, ~fine])

    def _misrounded(self, share: Fraction, but: int | None = None) -> Term:
        """Return whether any other sum is rounded by more, whatever T is."""
        fmt, total, top, x = self._free_result()
        bits, spare, size = self.sum.fraction_bits, fmt.precision, magnitude(total)
        # all in units of 2^(top - F - precision)
        shift = signed(x.exponent) - signed(top) + (bits - fmt.fraction_bits + spare)
        unit = signed_word(self._last + bits + spare) - signed(top)
        least = max(top.low, self._least)
        furthest = max(total.width + spare + 2, fmt.e_min - least + bits + spare)
        width = furthest + 2 * spare + 16
        inside = x.zero | ~shift.slt(0) & shift.slt(furthest + 1)
        value = x.significand.zext(width) << shift.unsigned(width)
        lost = magnitude((size.zext(width) << spare) - value)
        # the result's last bit; one on the grid is not rounded off
        grid = const(1 << spare, width)
        last = (leading_bit(size) >> (self.precision - 1)).zext(width) << spare
        last = last.ule(grid).ite(const(0, width), last)
        smallest = unit.slt(0).ite(const(0, width), const(1, width) << unit.unsigned(width))
        loss = lost * share.denominator
        most, of_smallest = (word * share.numerator for word in (last, smallest))
        more = most.ule(loss) if share == 1 else most.ult(loss)
        other_sign = ~x.zero & x.sign.ne(total[total.width - 1])
        wrong = any_of([~inside, x.infinite, x.nan, other_sign, of_smallest.ult(loss) & more])
        _, zeros = leading_zeros(size)
        leading = signed(top) - signed(Exponent(zeros, 0, total.width - 1))
        premise = self.finite & signed_word(least).sle(signed(top)) & signed(top).sle(signed_word(top.high))
        premise &= leading.slt(fmt.e_max + bits - total.width + 1)
        return premise & total.eq(0).ite(~x.zero, wrong)

    def _free_result(self) -> tuple[Format, Term, Exponent, Number]:
        """Return the result's format, and any sum with any largest exponent T, T, and what they give."""
        total, top = var("sum", self.sum.word.width), free_exponent("top", self.sum.exponent)
        free = {self.sum.word: total, self.sum.exponent.term: top.term}
        return self.format, total, top, decode(self.format, substitute([self.result], free)[0])
