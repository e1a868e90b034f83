"""Two fused sums on different alignment grids, where neither loses a bit: the same sum, shifted.

The largest exponents of two models differ where one counts a term's exponent higher: a subnormal
operand that the other reads in a wider format, or a zero. If they differ only where both grids are
fine enough for every term, each aligned term on the finer grid is the other's, shifted left by the
difference; then so are the sums, and rounding gives the same word. Each of these sentences is a query.

A chained c needs one fact more, proved of the fused sum that it comes from: the result has no bit
below the last bit that a product can have (:func:`multiple`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tcsmt.language.terms import Term, any_of, const, substitute, var
from tcsmt.matrix_units.arithmetic.datapath import Exponent, Fixed
from tcsmt.matrix_units.arithmetic.integers import Integer, signed, signed_word
from tcsmt.prove.certificates.derivation import characterised
from tcsmt.prove.engine.blocks import Block, below, clear, cut_off, inside, loses_bits, multiple_of

#: Proves that a goal has no solution: what that says, and the goal.
Prove = Callable[[str, Term], bool]
#: Whether a goal has a solution, to choose what to prove; None where that is not known.
Satisfiable = Callable[[Term], bool | None]
#: Grids further apart than this are not tried.
FURTHEST = 16


@dataclass(frozen=True)
class Grids:
    """The position of two grids. high: the block with the larger exponents; they differ by at most
    ``distance``, and only where the larger one is at most ``limit``.
    """

    high: Block
    low: Block
    distance: int
    limit: int

    @property
    def gap(self) -> Integer:
        """Return by how much the largest exponents differ."""
        return signed(self.high.top) - signed(self.low.top)

    @property
    def otherwise(self) -> Term:
        """Return whether they lie otherwise."""
        gap, high = self.gap, self.high.top
        apart = gap.ne(0) & signed_word(self.limit).slt(signed(high))
        ranges = inside(high, high) & inside(self.low.top, self.low.top)
        return any_of([gap.slt(0), signed_word(self.distance).slt(gap), apart, ~ranges])


def same_result(
    left: Block, right: Block, premise: Term, prove: Prove, satisfiable: Satisfiable
) -> Grids | None:
    """Return how the grids lie if both results were proved to be one word where ``premise`` holds; else
    None.
    """
    if not _comparable(left, right):
        return None
    # Infinities and NaNs must decide the result whatever sum and exponent are: those hold no numbers then.
    free = {
        term: var(name, term.width)
        for block, kind in ((left, "one"), (right, "other"))
        for term, name in ((block.sum.word, f"{kind} sum"), (block.top.term, f"{kind} top"))
    }
    differ = substitute([left.result.ne(right.result)], free)[0]
    if not prove("where a term is an infinity or a NaN", premise & (left.special | right.special) & differ):
        return None
    finite = premise & ~left.special & ~right.special

    grids = _grids(left, right, finite, satisfiable)
    if grids is None:
        return None
    high, low, distance, most = grids.high, grids.low, grids.distance, grids.limit
    text = f"the largest exponents differ by 0 to {distance}, and only up to 2^{most}"
    if not prove(text, characterised(finite & grids.otherwise)):
        return None
    if not all(_bounded(block, premise, prove) for block in (high, low)):
        return None
    top = Exponent(var("top", high.top.term.width), high.top.low, high.top.high)
    # equal exponents need no limit; where they differ, what lies above it is excluded by the query before
    limits = enumerate([high.top.high, *[most] * distance])
    cases = [_Case(high, low, d, top, premise & signed(top).sle(signed_word(end))) for d, end in limits]
    return grids if all(case.shifted(prove) and case.rounded(prove) for case in cases) else None


def _comparable(left: Block, right: Block) -> bool:
    """Return whether both sums are sums of as many terms, exact, in words of one width and unit."""
    shapes = {(block.sum.word.width, block.sum.fraction_bits, len(block.aligned)) for block in (left, right)}
    return len(shapes) == 1 and left.plain and right.plain


def _grids(left: Block, right: Block, finite: Term, satisfiable: Satisfiable) -> Grids | None:
    """Return how the grids seem to lie, by the solutions that solvers find: nothing rests on it until it is
    proved.

    None where they may lie too far apart, or no solver says.
    """

    def possible(goal: Term) -> bool | None:
        return satisfiable(characterised(finite & goal))

    high, low = left, right
    if possible(signed(high.top).slt(signed(low.top))) is not False:
        high, low = right, left
    gap = signed(high.top) - signed(low.top)
    distance = next((d for d in range(1, FURTHEST) if possible(signed_word(d).slt(gap)) is False), None)
    if distance is None:
        return None
    least, most = high.top.low, high.top.high  # of the limit: the grids differ up to it
    while least < most:
        middle = (least + most) // 2
        if possible(gap.ne(0) & signed_word(middle).slt(signed(high.top))) is False:
            most = middle
        else:
            least = middle + 1
    return Grids(high, low, distance, most)


def _bounded(block: Block, premise: Term, prove: Prove) -> bool:
    return prove("no term's exponent is above the largest", characterised(premise & block.above)) and prove(
        "a zero term has significand 0", premise & block.zero_with_bits
    )


@dataclass(frozen=True)
class _Case:
    """One distance between the grids of two blocks. top: the larger exponent, free where ``known`` holds."""

    high: Block
    low: Block
    distance: int
    top: Exponent
    known: Term

    @property
    def below(self) -> Exponent:
        """Return the smaller exponent."""
        return self.top.plus(-self.distance)

    @property
    def given(self) -> Term:
        """Return what holds in this case."""
        return self.known & inside(self.top, self.high.top) & inside(self.below, self.low.top)

    def shifted(self, prove: Prove) -> bool:
        """Return whether the sum on the finer grid was proved to be the other, shifted."""
        width = self.high.sum.word.width
        p, q = var("p", width), var("q", width)
        differ = ((p + q) << self.distance).ne((p << self.distance) + (q << self.distance))
        by = f"by {self.distance}"
        return (
            all(x.word.width > self.distance for x in self.high.aligned)
            and all(
                prove(f"an aligned term of the finer grid is the other's, shifted {by}", self._unlike(x, y))
                for x, y in zip(self.high.aligned, self.low.aligned, strict=True)
            )
            and prove(f"the sum has room for a shift {by}", self._total_lost())
            and prove(f"a sum of words shifted {by} is their sum, shifted", differ)
        )

    def _unlike(self, x: Fixed, y: Fixed) -> Term:
        """Return whether an aligned term of the finer grid is not the coarser's, shifted, or loses bits of
        it.
        """
        (coarse,) = substitute([x.word], self.high.at(self.top))
        (fine,) = substitute([y.word], self.low.at(self.below))
        width = max(coarse.width, fine.width)
        differ = (coarse.sext(width) << self.distance).ne(fine.sext(width))
        lying = below(x, self.top) & below(y, self.below)
        return self.given & lying & (loses_bits(coarse, self.distance) | differ)

    def _total_lost(self) -> Term:
        """Return whether a sum of words with room for the shift has none."""
        # each term has room for the shift, as was proved before: so must their sum have
        free = {
            x.word: var(f"term {number}", x.word.width - self.distance).sext(x.word.width)
            for number, x in enumerate(self.high.aligned)
            if x.word.value is None
        }
        return loses_bits(substitute([self.high.sum.word], free)[0], self.distance)

    def rounded(self, prove: Prove) -> bool:
        """Return whether equal sums were proved to give equal results."""
        width = self.high.sum.word.width
        # the sum is narrower by the distance, as was just proved: shifted left, it does not overflow
        total = var("sum", width - self.distance).sext(width)
        (result,) = substitute([self.high.result], {self.high.sum.word: total, **self.high.at(self.top)})
        shifted = {self.low.sum.word: total << self.distance, **self.low.at(self.below)}
        differ = result.ne(substitute([self.low.result], shifted)[0])
        text = "the results of a sum and of the sum shifted"
        return prove(f"{text} by {self.distance} are the same", self.given & differ)


def multiple(block: Block, last_bit: int, premise: Term, prove: Prove) -> Term | None:
    """Return the fact that the block's result has no bit below 2^``last_bit``, if it was proved; else
    None.
    """
    if not _bounded(block, premise, prove):
        return None
    top = Exponent(var("top", block.top.term.width), block.top.low, block.top.high)
    in_range = premise & inside(top, block.top)
    zeros = clear(top.plus(-block.sum.fraction_bits), last_bit)
    places = block.at(top)
    for x in block.aligned:
        (word,) = substitute([x.word], places)
        if not prove(
            "an aligned term is a multiple", in_range & below(x, top) & cut_off(word, zeros).ne(word)
        ):
            return None
    width = block.sum.word.width
    ends = [(const(0, n), var(f"p{n}", width - n), var(f"q{n}", width - n)) for n in range(1, width)]
    sums = [p.concat(zero) + q.concat(zero) for zero, p, q in ends]
    wrong = any_of(total[n:0].ne(0) for n, total in enumerate(sums))
    if not prove("a sum of multiples is a multiple", wrong):
        return None
    total = var("sum", width)
    (result,) = substitute([block.result], {block.sum.word: total, **places})
    fine = multiple_of(block.format, result, last_bit)
    if not prove(
        "the result is a multiple", in_range & (block.special | cut_off(total, zeros).eq(total)) & ~fine
    ):
        return None
    return multiple_of(block.format, block.result, last_bit)
