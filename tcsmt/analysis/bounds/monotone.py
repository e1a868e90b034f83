"""The proof that an algorithm's result never falls where one word, and with it the exact sum, grows; in
parts.

A fused sum truncates its terms on a grid of F bits below the largest exponent T. A step makes the magnitude
of one of its numbers the next larger one, and T becomes T + t; the other direction is the step back. On the
words after the split, of which none is infinite or a NaN:

1. *The split*: the next number of the domain has the same word or a larger one. So words move by steps, too.
2. *The number that moves* keeps its sign, and t is 0, or T + t is its own new exponent. Within a binade its
   exponent and so T stay, and its aligned term does not shrink; from one binade to the next t is 0 or 1; from
   zero t is anything. For n other terms that may not be zero it gains n·(2^t - 1) units of 2^(T - F) or more.
3. *Every other number*: its aligned term is shifted right by one more, toward zero, for each 1 that T grows.
   So it loses 2^t - 1 such units at most, and all of them no more than has been gained: S·2^T moves as the
   number does.
4. *The rounding*: the results for any sums S and S', and largest exponents T and T + t, are in the order of
   S·2^T and S'·2^(T + t). For t = 0 that is a lemma about S and S + 1. For a larger t, S is halved t times,
   each time rounded up (or down, where the result is to shrink): a lemma says that each half is in order with
   the one before it, and the last half is as S' or smaller (or larger), of the same largest exponent.

Where products are summed first and c is added after another alignment, the last part has the rest. Where c
gains too little from one binade to the next, 3 and 4 are one lemma on free aligned terms instead. The
instruction's later sums have c alone, which they pass on.

An IEEE operation is a rounding of the exact sum or product-sum of what it is given (754-2019, 4.3). Roundings
never fall, and neither does what is made of them; and the rounding of what is not smaller than the smallest
number is not zero. Nothing is left to prove.

*Products that are summed first, and c that is added after an alignment.* The products are truncated to F bits
below the largest exponent P of them; D is the sum of these. D and c are then aligned to the largest exponent
T of both, as S and C, on a finer grid of which 2^k units are one of D's; the result is that of S + C and T.

*A product moves.* As above, the one that moves gains n·(2^t - 1) units or more where P becomes
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
as the number that moves does, and the rounding is the one above, with T.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tcsmt.analysis.bounds.fused_loss import C, Unbounded, need
from tcsmt.analysis.bounds.monotone_moves import Moves, require_sum
from tcsmt.analysis.bounds.proof import StepwiseProof, word_exponents
from tcsmt.analysis.bounds.steps import IeeeStep, Step, steps_of
from tcsmt.analysis.error import magnitude
from tcsmt.language.terms import Term, any_of, const, substitute, var, variables
from tcsmt.matrix_units.arithmetic.datapath import Fixed, decode, ordered
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.models import Kind
from tcsmt.programs.recipes.algorithm import Algorithm
from tcsmt.prove.statements.domain import Domain
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


_IEEE = "an IEEE operation rounds the exact sum of what it is given (754-2019, 4.3), and no rounding falls"


def never_falls(chain: StepwiseProof, algorithm: Algorithm, domain: Domain) -> bool:
    """Return whether it was proved that the result does not fall where a word of a, b or c grows, and b or a
    is positive or there is none; that it is the same for both zeros, and never a NaN. The chain has the
    steps.
    """
    try:
        steps = _steps(chain, algorithm, domain)
        _split(chain, algorithm, domain)
        if all(isinstance(step, IeeeStep) for step in steps):
            return _of_operations(chain, algorithm, steps)
        moves = Moves.of(algorithm, domain, steps)
        dot = sum_of_products(moves.aligned)
        (moves if dot is None else TwoSums.of(moves, dot)).prove(chain, steps)
    except Unbounded as why:
        chain.stopped = str(why)
        return False
    return True


def keeps_sign(chain: StepwiseProof, algorithm: Algorithm, domain: Domain) -> bool:
    """Return whether the result is one rounding of c + a·b that is never zero where that is not."""
    wide = algorithm.wide
    try:
        steps = _steps(chain, algorithm, domain)
    except Unbounded as why:
        chain.stopped = str(why)
        return False
    last = domain.low - wide.fraction_bits
    exact = algorithm.split.format == wide and min(last, 2 * last) >= wide.e_min - wide.fraction_bits
    single = len(steps) == 1 and algorithm.k == algorithm.unit.k == 1
    if not exact or not single or {*getattr(steps[0], "sources", ())} != {0, C}:
        chain.stopped = "the result is not one rounding of c + a·b"
        return False
    return _of_operations(chain, algorithm, steps)


def successor(word: Term, domain: Domain, wide: Format, bits: int) -> Term:
    """Return the next larger word of the domain after one of its words.

    After the largest it is a word outside of the domain; after either zero it is the smallest
    positive number, and before them both the largest negative one.
    """
    step, least = 1 << (wide.precision - bits), (domain.low + wide.bias) << wide.fraction_bits
    size = word & ((1 << wide.sign_bit) - 1)
    negative = word[wide.sign_bit] & size.ne(0)
    below = size.eq(least).ite(const(0, wide.width), word - step)
    return negative.ite(below, size.eq(0).ite(const(least, wide.width), size + step))


def _steps(chain: StepwiseProof, algorithm: Algorithm, domain: Domain) -> list[Step]:
    """Return the steps of one instruction. Raises :class:`.Unbounded` where the algorithm is more than
    instructions one after the other, each on words that are the numbers rounded once.
    """
    chains = list(algorithm.chains(algorithm.k))
    plain = len(chains) == 1 and chains[0][0] == 0 and all(step[:2] == (0, 0) for step in chains[0][1])
    if algorithm.split.words != 1 or not plain or algorithm.c_enters != "unit":
        raise Unbounded("only instructions one after the other, on one word of each number, are looked at")
    if domain.c_free or (algorithm.unit.c_format, algorithm.unit.d_format) != (
        algorithm.wide,
        algorithm.wide,
    ):
        raise Unbounded("only a c of the format of the result, with exponents as a and b have, is looked at")
    fmt, wide = algorithm.split.format, algorithm.wide
    left, right = ([[var(f"{side}{lane}", fmt.width)] for lane in range(algorithm.k)] for side in "ab")
    stages = algorithm.after_split(left, right, var("c", wide.width))
    if stages[-1].term is not [stage.term for stage in stages if stage.kind is Kind.INSTRUCTION][-1]:
        raise Unbounded("the result is not the last instruction's")
    low, high = word_exponents(algorithm.split, domain)
    if max(2 * (high + 1), domain.high + 1) + algorithm.k.bit_length() + 2 > wide.e_max:
        raise Unbounded("a result may overflow")
    return steps_of(chain, algorithm.unit, low, high)


def _split(chain: StepwiseProof, algorithm: Algorithm, domain: Domain) -> None:
    """Part 1, for a and for b."""
    fmt, wide = algorithm.split.format, algorithm.wide
    x = var("x", wide.width)
    for bits in domain.bits_in(wide):
        after = successor(x, domain, wide, bits)
        first, second = (algorithm.split.apply(word)[0] for word in (x, after))
        numbers = [decode(fmt, word) for word in (first, second)]
        wrong = ordered(second).slt(ordered(first)) | any_of(n.infinite | n.nan for n in numbers)
        inside = domain.within(x, wide, bits)
        need(
            chain, f"the split of {bits} bits never falls", inside & domain.within(after, wide, bits) & wrong
        )
        zero = x[wide.sign_bit - 1 : 0].eq(0) & first.ne(x[wide.sign_bit].concat(const(0, fmt.sign_bit)))
        need(chain, "a zero's word is a zero", zero)


def _of_operations(chain: StepwiseProof, algorithm: Algorithm, steps: Sequence[Step]) -> bool:
    """Return whether an instruction is a combination of roundings, none of which overflows or drops a
    number.
    """
    for step in steps:
        plain = isinstance(step, IeeeStep) and not step.drops and not step.operation.flush
        if not plain or step.operation.format != algorithm.wide:  # type: ignore[union-attr]
            chain.stopped = "not a rounding of an exact sum"
            return False
    chain.know(_IEEE)
    return True
