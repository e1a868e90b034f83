"""Two fused sums on different alignment grids, where neither loses a bit: the same sum, shifted.

The largest exponents of two models differ where one counts a term's exponent higher: a subnormal
operand that the other reads in a wider format, or a zero. If they differ only where both grids are
fine enough for every term, each aligned term on the finer grid is the other's, shifted left by the
difference; then so are the sums, and rounding gives the same word. Each of these sentences is a query.

A chained c needs one fact more, proved of the fused sum that it comes from: the result has no bit
below the last bit that a product can have (:func:`multiple`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tcsmt.arithmetic.datapath import Exponent, Fixed, Number, accumulate, decode
from tcsmt.arithmetic.formats import Format
from tcsmt.arithmetic.integers import signed, signed_word
from tcsmt.certificates.derivation import characterised
from tcsmt.models import Kind, Stage
from tcsmt.terms import Term, any_of, const, substitute, var

__all__ = ["Block", "Prove", "multiple", "same_result"]

#: Proves that a goal has no solution: what that says, and the goal.
Prove = Callable[[str, Term], bool]
#: Whether a goal has a solution, to choose what to prove; None where that is not known.
Satisfiable = Callable[[Term], bool | None]
#: Grids further apart than this are not tried.
FURTHEST = 16


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
        sums = [s.value for s in stages if isinstance(s.value, Fixed) and s.value.addends]
        on_top = [total for total in sums if total.exponent == top.value]
        if len(on_top) != 1 or not all(isinstance(x.source, Number) for x in on_top[0].addends):
            return None
        (total,) = on_top
        assert isinstance(top.value, Exponent)
        assert isinstance(result.value, Format)
        c = [s.value for s in stages if s.kind is Kind.ALIGNED_C]
        products = [x.source for x in total.addends if x.source is not None and x not in c]
        return cls(
            replace(top.value, term=now(top.value.term)),
            tuple(map(word, total.addends)),
            word(total),
            min(x.exponent.low - x.fraction_bits for x in products),
            result.value,
            now(result.term),
        )

    @property
    def sources(self) -> list[Number]:
        """The numbers that are aligned."""
        return [x.source for x in self.aligned if isinstance(x.source, Number)]

    @property
    def special(self) -> Term:
        """Whether a term is an infinity or a NaN."""
        return any_of(x.infinite | x.nan for x in self.sources)

    @property
    def plain(self) -> bool:
        """Whether the sum is that of the aligned terms, with nothing cut off: the same node."""
        return accumulate(self.aligned, self.sum.word.width).word is self.sum.word

    def at(self, top: Exponent) -> dict[Term, Term]:
        """Puts another exponent for the largest one."""
        return {self.top.term: top.within(self.top.low, self.top.high)}


def same_result(one: Block, two: Block, known: Term, prove: Prove, satisfiable: Satisfiable) -> bool:
    """Whether both results were proved to be the same word, where ``known`` holds."""
    if len(one.aligned) != len(two.aligned) or one.sum.word.width != two.sum.word.width:
        return False
    if one.sum.fraction_bits != two.sum.fraction_bits or not (one.plain and two.plain):
        return False

    free = {
        term: var(name, term.width)
        for block, kind in ((one, "one"), (two, "other"))
        for term, name in ((block.sum.word, f"{kind} sum"), (block.top.term, f"{kind} top"))
    }
    differ = substitute([one.result.ne(two.result)], free)[0]
    if not prove("where a term is an infinity or a NaN", known & (one.special | two.special) & differ):
        return False
    finite = known & ~one.special & ~two.special

    def possible(goal: Term) -> bool | None:
        return satisfiable(characterised(finite & goal))

    high, low = one, two
    if possible(signed(high.top).slt(signed(low.top))) is not False:
        high, low = two, one
    gap = signed(high.top) - signed(low.top)
    distance = next((d for d in range(1, FURTHEST) if possible(signed_word(d).slt(gap)) is False), None)
    if distance is None:
        return False
    least, most = high.top.low, high.top.high  # of the limit: the grids differ up to it
    while least < most:
        middle = (least + most) // 2
        if possible(gap.ne(0) & signed_word(middle).slt(signed(high.top))) is False:
            most = middle
        else:
            least = middle + 1
    limit = most
    apart = gap.ne(0) & signed_word(limit).slt(signed(high.top))
    inside = _inside(high.top, high.top) & _inside(low.top, low.top)
    wrong = any_of([gap.slt(0), signed_word(distance).slt(gap), apart, ~inside])
    text = f"the largest exponents differ by 0 to {distance}, and only up to 2^{limit}"
    if not prove(text, characterised(finite & wrong)):
        return False
    if not all(_bounded(block, known, prove) for block in (high, low)):
        return False
    top = Exponent(var("top", high.top.term.width), high.top.low, high.top.high)
    limits = enumerate([high.top.high, *[limit] * distance])
    cases = [_Case(high, low, d, top, known & signed(top).sle(signed_word(most))) for d, most in limits]
    return all(case.shifted(prove) and case.rounded(prove) for case in cases)


def _bounded(block: Block, known: Term, prove: Prove) -> bool:
    above = any_of(~x.zero & signed(block.top).slt(signed(x.exponent)) for x in block.sources)
    wrong = any_of(x.zero & x.significand.ne(0) for x in block.sources)
    return prove("no term's exponent is above the largest", characterised(known & above)) and prove(
        "a zero term has significand 0", known & wrong
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
        """The smaller exponent."""
        return self.top.plus(-self.distance)

    @property
    def given(self) -> Term:
        """What holds in this case."""
        return self.known & _inside(self.top, self.high.top) & _inside(self.below, self.low.top)

    def shifted(self, prove: Prove) -> bool:
        """Whether the sum on the finer grid was proved to be the other, shifted."""
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
        """Whether an aligned term of the finer grid is not the coarser's, shifted, or loses bits of it."""
        (coarse,) = substitute([x.word], self.high.at(self.top))
        (fine,) = substitute([y.word], self.low.at(self.below))
        wide = max(coarse.width, fine.width)
        differ = (coarse.sext(wide) << self.distance).ne(fine.sext(wide))
        lying = _below(x, self.top) & _below(y, self.below)
        return self.given & lying & (self._lost(coarse) | differ)

    def _lost(self, word: Term) -> Term:
        """Whether a word has no room for the shift."""
        return word[word.width - self.distance - 1 : 0].sext(word.width).ne(word)

    def _total_lost(self) -> Term:
        """Whether a sum of words with room for the shift has none."""
        free = {
            x.word: var(f"term {number}", x.word.width - self.distance).sext(x.word.width)
            for number, x in enumerate(self.high.aligned)
            if x.word.value is None
        }
        return self._lost(substitute([self.high.sum.word], free)[0])

    def rounded(self, prove: Prove) -> bool:
        """Whether equal sums were proved to give equal results."""
        width = self.high.sum.word.width
        total = var("sum", width - self.distance).sext(width)
        (one,) = substitute([self.high.result], {self.high.sum.word: total, **self.high.at(self.top)})
        shifted = {self.low.sum.word: total << self.distance, **self.low.at(self.below)}
        differ = one.ne(substitute([self.low.result], shifted)[0])
        text = "the results of a sum and of the sum shifted"
        return prove(f"{text} by {self.distance} are the same", self.given & differ)


def multiple(block: Block, last_bit: int, known: Term, prove: Prove) -> Term | None:
    """The fact that the block's result has no bit below 2^``last_bit``, if it was proved; else None."""
    if not _bounded(block, known, prove):
        return None
    top = Exponent(var("top", block.top.term.width), block.top.low, block.top.high)
    given = known & _inside(top, block.top)
    zeros = _clear(top.plus(-block.sum.fraction_bits), last_bit)
    places = block.at(top)
    for x in block.aligned:
        (word,) = substitute([x.word], places)
        if not prove("an aligned term is a multiple", given & _below(x, top) & _cut(word, zeros).ne(word)):
            return None
    width = block.sum.word.width
    ends = [(const(0, n), var(f"p{n}", width - n), var(f"q{n}", width - n)) for n in range(1, width)]
    sums = [p.concat(zero) + q.concat(zero) for zero, p, q in ends]
    wrong = any_of(total[n:0].ne(0) for n, total in enumerate(sums))
    if not prove("a sum of multiples is a multiple", wrong):
        return None
    total = var("sum", width)
    (result,) = substitute([block.result], {block.sum.word: total, **places})
    fine = _multiple_of(block.format, result, last_bit)
    if not prove("the result is a multiple", given & (block.special | _cut(total, zeros).eq(total)) & ~fine):
        return None
    return _multiple_of(block.format, block.result, last_bit)


def _multiple_of(fmt: Format, word: Term, last_bit: int) -> Term:
    """Whether the word is a multiple of 2^``last_bit``, an infinity or a NaN."""
    x = decode(fmt, word)
    zeros = _clear(x.exponent.plus(-x.fraction_bits), last_bit)
    return any_of([x.infinite, x.nan, _cut(x.significand, zeros).eq(x.significand)])


def _clear(unit: Exponent, last_bit: int) -> Term:
    """How many low bits a multiple of 2^``last_bit`` has zero, its unit being 2^``unit``: not below 0."""
    count = signed_word(last_bit) - signed(unit)
    return count.at_least(0).word


def _cut(word: Term, count: Term) -> Term:
    """The word with so many low bits zero."""
    wide = word.zext(max(word.width, count.width))
    distance = count.zext(wide.width)
    return ((wide >> distance) << distance)[word.width - 1 : 0]


def _below(x: Fixed, top: Exponent) -> Term:
    """Whether an aligned term is finite, and not above the largest exponent; a zero's does not matter."""
    assert isinstance(x.source, Number)
    finite = ~x.source.infinite & ~x.source.nan
    return finite & (x.source.zero | signed(x.source.exponent).sle(signed(top)))


def _inside(x: Exponent, range_of: Exponent) -> Term:
    """Whether the exponent lies where the other does."""
    return signed_word(range_of.low).sle(signed(x)) & signed(x).sle(signed_word(range_of.high))
