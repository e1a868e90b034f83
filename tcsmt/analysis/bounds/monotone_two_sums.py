"""The lemmas of ``monotone.py`` for products that are summed first, and c that is added after an alignment.

The products are truncated to F bits below the largest exponent P of them; D is the sum of these. D and c are
then aligned to the largest exponent T of both, as S and C, on a finer grid of which 2^k units are one of D's;
the result is that of S + C and T.

*A product moves.* As in ``monotone.py``, the one that moves gains n·(2^t - 1) units or more where P becomes
P + t, and every other one loses 2^t - 1 of them at most. For n products in all, that leaves 2^t - 1 units
more for D.

* P stays: so does T, and S moves as D does.
* P grows, and T stays: S is a function of D·2^P that does not fall: a lemma for the next D, and one for half
  of D and P + 1.
* P grows, and so does T, by u: then P + t is T + u; with v = t - u, T is P + v. S is D·2^k where P is T, and
  loses 2^v - 1 units at most, in v steps: a lemma for one. C loses (2^u - 1)·2^k at most: a lemma for one
  step. D has gained (2^t - 1)·2^k, in units of P's: together they lose no more, for
  (2^k·(2^t - 1) - (2^v - 1)) / 2^v is (2^u - 1)·2^k or more.

*c moves.* D and P stay. Where T stays, C moves as c does. Where T becomes T + u, that is c's own exponent, S
loses 2^u - 1 units at most, and C gains as many: 2^u·C' - C is 2^u - 1 or more, a lemma as for a product.

Losses and gains are without regard to the sign; a product and c may have either. So S + C, as a number, moves
as the number that moves does, and the rounding is the one of ``monotone.py``, with T.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tcsmt.analysis.bounds.fused_loss import C, Unbounded, need
from tcsmt.analysis.bounds.monotone_moves import Moves, require_sum
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.bounds.steps import Step
from tcsmt.analysis.error import magnitude
from tcsmt.language.terms import Term, const, substitute, var, variables
from tcsmt.matrix_units.arithmetic.datapath import Fixed
from tcsmt.support.invariants import not_none


def sum_of_products(whole: Fixed) -> Fixed | None:
    """Return the sum of products, where a sum is that of two values of which one is such a sum; else None."""
    inner = [x.source for x in whole.addends if isinstance(x.source, Fixed) and x.source.addends]
    return inner[0] if len(whole.addends) == 2 and len(inner) == 1 else None


@dataclass(frozen=True)
class _Part(Moves):
    """One of both sums."""

    def combined(
        self, chain: StepwiseProof, title: str, premise: Term, moving: tuple[Term, Term], others: int
    ) -> None:
        """There is no other way round."""
        raise Unbounded(f"not proved: {chain.stopped}")

    def shifted(self, chain: StepwiseProof, what: str, number: tuple[int, list[Term], Term]) -> None:
        """Prove that c loses a unit of D's grid at most where T is larger by 1; a product as in one sum."""
        place, words, possible = number
        if place != C:
            super().shifted(chain, what, number)
            return
        lower, upper = self.tops()
        before, enters = self.given(place, words, lower)
        after, _ = self.given(place, words, upper)
        premise = possible & enters.ule(lower) & (lower + 1).eq(upper) & upper.ne(0)
        lost = _lost(before, after)
        unit = const(1 << self._finer, lost.width)
        need(chain, f"{what} loses one unit at most where it is shifted further", premise & unit.ult(lost))

    @property
    def _finer(self) -> int:
        """Return the logarithm of how many units of the second grid are one of D's."""
        dot = sum_of_products(self.fused.sum)
        dot = not_none(dot)
        return self.fused.sum.fraction_bits - dot.fraction_bits


@dataclass(frozen=True)
class TwoSums:
    """products: of which the first sum is; c: the second sum, in which c is."""

    products: Moves
    c: Moves

    @classmethod
    def of(cls, moves: Moves, dot: Fixed) -> TwoSums:
        """For such a sum of products among the addends of a fused sum."""
        names = ("fused", "aligned", "lanes", "c", "factors", "domain", "wide")
        part = _Part(**{name: getattr(moves, name) for name in names})
        return cls(replace(part, aligned=dot), part)

    def prove(self, chain: StepwiseProof, steps: Sequence[Step]) -> None:
        """All parts but the first. Raises :class:`.Unbounded` where one is not proved."""
        products, c = self.products, self.c
        c.vanish(chain, steps)
        products.shape([place for place in products.fused.numbers if place != C])
        self._shape()
        c.rounding(chain)
        for what, part, number in (("a product", products, products.product), ("c", c, c.other_c)):
            part.shifted(chain, what, number)
            part.not_above(chain, what, number)
            part.zeros(chain, what, number)
        self._realigned(chain)
        for side in range(2):
            # one unit more than the other products may lose: for c
            products.moves(chain, f"{'ab'[side]} moves", products.steps_of_factor(side), products.lanes)
        if c.c:
            c.moves(chain, "c moves", c.steps_of_c(), 1)

    def _shape(self) -> None:
        """Refuse a second sum that is not that of the first one and c, aligned to the largest exponent."""
        dot, whole = self.products.aligned, self.c.aligned
        top = whole.exponent
        both = top.term.op == "umax" and dot.exponent.term in top.term.args and len(top.term.args) == 2
        if not both or dot.exponent.low != top.low:
            raise Unbounded("the largest exponent is not that of the products' sum and c")
        grid = (self._sum.exponent, self._sum.fraction_bits)
        if whole.fraction_bits < dot.fraction_bits or grid != (top, whole.fraction_bits):
            raise Unbounded("the products' sum is not aligned to a finer grid")
        require_sum(whole)

    @property
    def _sum(self) -> Fixed:
        """S."""
        dot = self.products.aligned
        (aligned,) = [x for x in self.c.aligned.addends if x.source == dot]
        return aligned

    def _aligned(self, word: Term, own: Term, top: Term) -> Term:
        """S, for such a sum of products, such a largest exponent of them, and such a T."""
        dot, whole = self.products.aligned, self.c.aligned
        replaced = {dot.word: word, whole.exponent.term: top, dot.exponent.term: own}
        (aligned,) = substitute([self._sum.word], replaced)
        if not set(variables([aligned])) <= set(variables([word, own, top])):
            raise Unbounded("the aligned sum of products reads more than that sum")
        return aligned

    def _realigned(self, chain: StepwiseProof) -> None:
        """The lemmas about S."""
        dot, whole = self.products.aligned, self.c.aligned
        width, bits = dot.word.width, whole.fraction_bits - dot.fraction_bits
        word = var("sum of products", width)
        own, top = var("their largest", dot.exponent.term.width), var("largest", whole.exponent.term.width)
        limit = const(self.c.limit - whole.exponent.low, top.width)
        what = "the products' sum, where it is aligned,"
        plain = self._aligned(word, own, own)
        wide = max(plain.width, width + bits)
        exact = word.sext(wide) << bits
        wrong = own.ule(limit) & plain.sext(wide).ne(exact)
        need(chain, f"{what} is exact if it has the largest exponent", wrong)
        inside = own.ule(top) & top.ule(limit)
        aligned, following = (self._aligned(x, own, top) for x in (word, word + 1))
        last = word.eq((1 << (width - 1)) - 1)
        need(chain, f"{what} does not fall for the next sum", inside & ~last & following.slt(aligned))
        lost = _lost(aligned, self._aligned(word, own, top + 1))
        later = inside & (top + 1).ule(limit) & (top + 1).ne(0)
        need(chain, f"{what} loses one unit at most", later & const(1, lost.width).ult(lost))
        down = word.ashr(1)
        lower, upper = (self._aligned(x, own + 1, top) for x in (down, down + word[0].zext(width)))
        earlier = inside & (own + 1).ule(top) & (own + 1).ne(0)
        what = "the exponent of the products being larger by 1, half of their sum"
        need(chain, f"{what}, rounded up, is not aligned to less", earlier & upper.slt(aligned))
        need(chain, f"{what}, rounded down, is not aligned to more", earlier & aligned.slt(lower))


def _lost(before: Term, after: Term) -> Term:
    """Return by how much twice the word on the coarser grid differs from the one on the finer grid."""
    width = max(before.width, after.width) + 2
    return magnitude(before.sext(width) - (after.sext(width) << 1))
