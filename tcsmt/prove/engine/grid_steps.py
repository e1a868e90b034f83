"""The steps of a certificate for two fused sums on different alignment grids.

What :mod:`tcsmt.prove.engine.alignment_grids` has found out and proved with words in place of exponents and
sums is said here of the models' own nodes, so that the checker needs no rule for it: facts, replacements and
cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tcsmt.language.terms import Term, all_of, any_of, const, substitute, variables
from tcsmt.matrix_units.arithmetic.datapath import Exponent, Fixed
from tcsmt.matrix_units.arithmetic.integers import signed, signed_word
from tcsmt.prove.certificates.derivation import Cases, Close, Equal, Fact, Proof, Step, conjuncts, cut
from tcsmt.prove.engine.alignment_grids import Grids
from tcsmt.prove.engine.blocks import Block, below, clear, cut_off, inside, loses_bits, multiple_of


@dataclass(frozen=True)
class Known:
    """Knowledge at a block: facts, and the results of the blocks before it, which are left free."""

    facts: tuple[Term, ...]
    before: tuple[Term, ...]

    def refuted(self, goal: Term, using: Sequence[Term], *free: Term) -> Proof:
        """Prove that the goal does not hold: by these facts, and what is known of the words that it is about.

        With these nodes free, so that terms of one kind need one lemma.
        """
        nodes = (*self.before, *_variable(free))
        # facts about other words are left out, and the rest sorted: the lemma is the same in every block
        about = set(variables([cut(all_of([goal, *using]), nodes)]))
        facts = [fact for fact in conjuncts(self.facts) if about >= set(variables([cut(fact, nodes)]))]
        return (Close((*sorted(facts, key=lambda fact: fact.digest), *using), nodes),)

    def fact(self, says: Term, using: Sequence[Term], *free: Term) -> Fact:
        """Return a fact that is shown in this way."""
        return Fact(says, self.refuted(~says, using, *free))


def _variable(terms: Sequence[Term]) -> tuple[Term, ...]:
    return tuple(dict.fromkeys(term for term in terms if term.value is None))


def same_steps(node: Term, left: Block, right: Block, grids: Grids, known: Known) -> Step:
    """Return the step that replaces ``node``, the right block's result, by the left one's."""
    special = left.special | right.special
    high, low = grids.high, grids.low
    words = (left.sum.word, right.sum.word, left.top.term, right.top.term)
    gaps = [grids.gap.eq(distance) for distance in range(grids.distance + 1)]
    differ = left.result.ne(right.result)
    facts: list[Step] = [known.fact(~grids.otherwise, [~special])]
    for block in dict.fromkeys((high, low)):
        facts += _bounded(block, known)
    # no other distance is possible: this is what makes the cases exhaustive
    outside = _only([~grids.otherwise, ~any_of(gaps)], left.result, right.result, high.top.term, low.top.term)
    cases = tuple(
        (gap, tuple(_Case(grids, distance, gap, known).steps())) for distance, gap in enumerate(gaps)
    )
    # infinities and NaNs decide the result alone, so sums and exponents can be any words
    specials = known.refuted(differ, [special], *words)
    return Equal(node, left.result, (Cases(((special, specials),), (*facts, Cases(cases, outside))),))


def multiple_steps(block: Block, last_bit: int, known: Known) -> Step:
    """Return the step that makes it a fact that the block's result is a multiple of 2^``last_bit``."""
    top, special = block.top, block.special
    zeros = clear(top.plus(-block.sum.fraction_bits), last_bit)
    multiples = [cut_off(x.word, zeros).eq(x.word) for x in block.aligned]
    sum_is_multiple = cut_off(block.sum.word, zeros).eq(block.sum.word)
    says = multiple_of(block.format, block.result, last_bit)
    steps: list[Step] = [known.fact(inside(top, top), [~special]), *_bounded(block, known)]
    for x, multiple in zip(block.aligned, multiples, strict=True):
        steps.append(known.fact(multiple, [below(x, top), inside(top, top)], top.term))
    steps.append(Fact(sum_is_multiple, _only(multiples, *(x.word for x in block.aligned), zeros)))
    words = (block.sum.word, top.term)
    last = known.refuted(~says, [sum_is_multiple, inside(top, top), *_plain(block)], *words)
    specials = known.refuted(~says, [special], *words)
    return Fact(says, (Cases(((special, specials),), (*steps, *last)),))


def _only(using: Sequence[Term], *free: Term) -> Proof:
    """Prove by these facts alone."""
    return (Close(tuple(using), _variable(free)),)


def _plain(block: Block) -> list[Term]:
    """Return the facts that no term is an infinity or a NaN."""
    return [~word for x in block.sources for word in (x.infinite, x.nan)]


def _bounded(block: Block, known: Known) -> Iterator[Step]:
    """Prove that no term lies above the largest exponent, all of them together, and each by itself."""
    yield known.fact(~block.above, [])
    yield known.fact(~block.zero_with_bits, [])
    for number, x in enumerate(block.sources):
        parts = [~x.infinite, ~x.nan, ~block.above_by(number)]
        yield Fact(below(block.aligned[number], block.top), _only(parts, x.exponent.term, block.top.term))


@dataclass(frozen=True)
class _Case:
    """The grids differ by ``distance``, which ``gap`` says."""

    grids: Grids
    distance: int
    gap: Term
    known: Known

    @property
    def top(self) -> Exponent:
        """Return the larger exponent."""
        return self.grids.high.top

    @property
    def lower(self) -> Exponent:
        """Return the smaller exponent, said by the larger one."""
        return self.top.plus(-self.distance)

    def now(self, term: Term) -> Term:
        """Return the term with the smaller exponent said by the larger one."""
        return substitute([term], self.grids.low.at(self.lower))[0]

    def steps(self) -> Iterator[Step]:
        high, low, by = self.grids.high, self.grids.low, self.distance
        top = self.top.term
        yield from self._places(top, low.top.term)
        shifted = []
        for x, y in zip(high.aligned, low.aligned, strict=True):
            says = ~self._unlike(x, y)
            shifted.append(says)
            yield self.known.fact(says, [below(x, self.top), below(y, self.lower), *self._limits], top)
        coarse, fine = high.sum.word, self.now(low.sum.word)
        same, room = fine.eq(coarse << by), ~loses_bits(coarse, by)
        added = (*self._addends(shifted), Close((), self._narrow()))
        yield Fact(same, added)
        # a sum of one term is that term, extended: parts of it are parts of the term
        alone = coarse.op == "sext"
        yield Fact(room, _only(shifted, *(x.word for x in high.aligned)) if alone else added)
        yield Equal(low.sum.word, coarse << by, _only([same], fine, coarse))
        using = [*self._limits, room, *_plain(high), *_plain(low)]
        core = coarse.args[0] if alone else coarse
        yield from self.known.refuted(high.result.ne(self.now(low.result)), using, core, top, fine)

    @property
    def _limits(self) -> list[Term]:
        """Return where the exponents lie in this case."""
        limit = [signed(self.top).sle(signed_word(self.grids.limit))] if self.distance else []
        return [inside(self.top, self.top), inside(self.lower, self.grids.low.top), *limit]

    def _places(self, *tops: Term) -> Iterator[Step]:
        """Yield what follows for the exponents from the case and from what holds in all cases."""
        low = self.grids.low
        facts = [self.gap, ~self.grids.otherwise]
        yield Equal(low.top.term, self.now(low.top.term), _only(facts, *tops))
        for says in self._limits:
            yield Fact(says, _only(facts, *tops))
        for y, number in zip(low.aligned, low.sources, strict=True):
            using = [below(y, low.top), *facts]
            yield Fact(below(y, self.lower), _only(using, *tops, number.exponent.term))

    def _unlike(self, x: Fixed, y: Fixed) -> Term:
        """Return whether an aligned term of the finer grid is not the coarser's, shifted, or loses bits of
        it.
        """
        coarse, fine = x.word, self.now(y.word)
        width = max(coarse.width, fine.width)
        differ = (coarse.sext(width) << self.distance).ne(fine.sext(width))
        return loses_bits(coarse, self.distance) | differ

    def _narrow(self) -> tuple[Term, ...]:
        """Return the bits of the coarser grid's terms that are left when there is room for the shift."""
        words = [x.word[x.word.width - self.distance - 1 : 0] for x in self.grids.high.aligned]
        return _variable(words)

    def _addends(self, shifted: Sequence[Term]) -> Iterator[Step]:
        """Replace what is added on both grids by the bits that are left, of which one sum has zeros below."""
        width, by = self.grids.high.sum.word.width, self.distance
        pairs = zip(self.grids.high.aligned, self.grids.low.aligned, shifted, strict=True)
        for x, y, says in pairs:
            coarse, fine = x.word, self.now(y.word)
            narrow = coarse[coarse.width - by - 1 : 0]
            follows = _only([says], coarse, fine)
            on_fine = narrow.sext(width - by).concat(const(0, by)) if by else narrow.sext(width)
            yield Equal(fine.sext(width), on_fine, follows)
            yield Equal(coarse.sext(width), narrow.sext(width), follows)
