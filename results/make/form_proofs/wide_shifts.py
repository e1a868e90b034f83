"""Shifts of wide words by a number of places that is not known: lemmas that solvers can decide.

A shift by so many places is one by a power of two after the other; about each of these a solver is asked with
the words before it free.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from form_proofs.deduction import FormDerivation, Implication
from tcsmt.language.terms import Term, any_of, const, var

__all__ = ["HALVES", "PLACE", "ShiftedWord", "chosen", "free", "shift_of_a_sum", "values_of_shift"]

#: Bits of a number of places.
PLACE = 11
#: By how many places an integer of 64 bits, or fewer, is normalised, one after the other.
HALVES = (32, 16, 8, 4, 2, 1)


def free(nodes: list[Term]) -> list[Term]:
    """Those that are no constants, and so can be free."""
    return [node for node in nodes if node.value is None]


def _variables(width: int, place: int) -> tuple[Term, Term, Term]:
    return var("one", width), var("another", width), var("a place", place)


def values_of_shift(one: Term, other: Term, place: Term) -> dict[Term, Term]:
    """The variables of :func:`shift_of_a_sum`, for two words and a place: a node of which bits are taken."""
    return dict(zip(_variables(one.width, place.width), (one, other, place), strict=True))


def shift_of_a_sum(width: int, place_bits: int, whole: FormDerivation) -> Implication:
    """The sum of two words of so many bits, each shifted, is the sum, shifted: by one bit of the place after
    the other. place_bits: of a word of which the last :data:`PLACE` bits are the place. It is left free in
    certificates, and with it its bits.
    """
    one, other, place = _variables(width, place_bits)
    proof = FormDerivation((), whole.lemmas)
    words = [one, other, one + other]
    now = list(words)
    for bit in range(PLACE):
        after = [place[bit].ite(word << (1 << bit), word) for word in now]
        known, both = now[2].eq(now[0] + now[1]), after[2].eq(after[0] + after[1])
        equal = {now[2]: now[0] + now[1]} if bit else {}
        proof.lemma("a shift of a sum", both, [known], equal=equal, cuts=now[:2])
        now = after
    shifts = [word << place[PLACE - 1 : 0].zext(width) for word in words]
    facts = [shifted.eq(moved) for shifted, moved in zip(shifts, now, strict=True)]
    for word, fact in zip(words, facts, strict=True):
        proof.lemma("a shift, bit by bit", fact, cuts=[word])
    says = (shifts[0] + shifts[1]).eq(shifts[2])
    cuts = [*shifts, *now]
    proof.lemma("the shift of a sum", says, [*facts, now[2].eq(now[0] + now[1])], cuts=cuts)
    return proof.theorem(says)


def chosen(proof: FormDerivation, condition: Term, one: Term, other: Term, place: Term) -> Term:
    """A fact: of two words, the one that is chosen is shifted as both are. place: of any width."""
    amount, cases = place.zext(one.width), (condition, ~condition)
    fact = (condition.ite(one, other) << amount).eq(condition.ite(one << amount, other << amount))

    def within(case: FormDerivation, number: int) -> None:
        case.lemma("a word that is chosen, shifted", fact, [cases[number]], cuts=[one, other, place])

    proof.lemma("one of two words is chosen", any_of(cases))
    proof.by_cases(cases, fact, within)
    return fact


@dataclass(frozen=True)
class ShiftedWord:
    """An integer shifted by a number of places, in a word of so many bits."""

    integer: Term
    place: Term
    width: int

    @property
    def word(self) -> Term:
        """The word."""
        return self.integer.zext(self.width) << self.place.zext(self.width)

    def clear(self, half: int) -> Term:
        """Whether the integer's first bits are zeros."""
        size = self.integer.width
        return self.integer[size - 1 : size - half].eq(0)

    def moved(self, half: int, where: Term) -> ShiftedWord:
        """The same word, where the integer's first bits may go: shifted by fewer places."""
        integer = where.ite(self.integer << half, self.integer)
        return replace(self, integer=integer, place=where.ite(self.place - half, self.place))

    def normalised(
        self, proof: FormDerivation, start: Term, source: Term, grid: Term
    ) -> tuple[ShiftedWord, list[Term]]:
        """The same word, of an integer whose first bit is 1 unless it is 0; and facts: that, and that it is
        the same word.

        start: a word of which it is a fact that it is this one. source, grid: nodes that the integer and the
        place are made of. The place has room for all halves, by the solvers.
        """
        most, now = self.place.width - 1, self
        limits = [now.place.ult(1 << most), ~now.place.ult(2 * HALVES[0])]
        for fact in limits:
            proof.lemma("a place is in range", fact, cuts=[grid])
        for half in HALVES:
            after = now.moved(half, now.clear(half))
            cuts = [source, grid] if now is self else [now.integer, now.place]
            same = now.word.eq(after.word)
            proof.lemma("an integer moved by half", same, limits, cuts=cuts)
            cuts_of_words = [start, now.word, after.word]
            proof.lemma("a word", start.eq(after.word), [start.eq(now.word), same], cuts=cuts_of_words)
            new = [after.place.ult(1 << most), ~after.place.ult(half)]
            for fact in new:
                proof.lemma("a place is in range", fact, limits, cuts=cuts)
            limits, now = new, after
        last = now.integer[now.integer.width - 1] | now.integer.eq(const(0, now.integer.width))
        proof.lemma("a normalised integer", last, cuts=[source])
        return now, [last, start.eq(now.word)]
