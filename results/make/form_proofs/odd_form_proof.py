"""That sums rounded to odd by way of binary64 give a model's words: one after the other.

A product that is exact in binary32 is the model's, rounded. Of two words whose sum is exact in binary64, both
graphs round the same number: it is proved of any two, and what holds of them holds of the others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from form_proofs.deduction import FormDerivation, Implication, ProofFailed
from form_proofs.exact_form_proof import substituted
from tcsmt.language.terms import Term, substitute, var
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic.ieee import RoundedSum
from tcsmt.matrix_units.models import IeeeDotAdd
from tcsmt.matrix_units.models.stages import Kind
from tcsmt.simulate.forms.exact_form import ExactNumbers, LaneOfSum
from tcsmt.simulate.forms.odd_form import OddForm, OddStep, are_near, is_usual
from tcsmt.simulate.forms.product_grid import FRACTION, WIDE
from tcsmt.support.invariants import checked_cast, not_none

__all__ = ["derive_proof"]


def derive_proof(model: IeeeDotAdd, form: OddForm) -> FormDerivation:
    """That a form gives the model's words wherever its guard is 0.

    Raises :class:`.ProofFailed` where the argument does not go through.
    """
    products, sums = model.trace.of(Kind.PRODUCT), model.trace.of(Kind.SUM_OF_LANES, Kind.SUM_WITH_C)
    lanes = [lane for step in form.steps for lane in step.lanes]
    if len(products) != len(lanes) or len(sums) != len(form.steps) or sums[-1].term is not model.trace.output:
        raise ProofFailed(f"{len(products)} products and {len(sums)} sums")
    proof, words = FormDerivation((~form.guard,)), [step.word for step in form.steps]
    product = _product(form.numbers, lanes[0], products[0].term, proof)
    theirs, equal, general = iter(products), dict[Term, Term](), dict[bool, _Sum]()
    for step, stage in zip(form.steps, sums, strict=True):
        proof.lemma("an operation says something", ~step.unsure, [~form.guard], cuts=words)
        if step.lanes:
            _of_products(proof, form.numbers, step, product, lanes[0])
            equal |= {next(theirs).term: lane.product for lane in step.lanes}
        reads = model.trace.c in step.words
        if reads not in general:
            operation = checked_cast(stage.operation, RoundedSum)
            general[reads] = _Sum.of(step, operation, model.trace.c, proof)
        same = general[reads].of_words(proof, step)
        proof.lemma("an operation", stage.term.eq(step.word), [same], equal=equal, cuts=step.words)
        equal[stage.term] = step.word
    proof.theorem(form.result.eq(model.trace.output))
    return proof


def _small(n: ExactNumbers, lane: LaneOfSum) -> list[Term]:
    """That a product is neither too large for binary32 nor too small."""
    return [
        word.ult(limit) for word, limit in ((lane.size, n.limit), (lane.place, n.depth)) if limit is not None
    ]


def _reach(n: ExactNumbers, lane: LaneOfSum) -> list[Term]:
    """What the words of a product say about its exponent, unless it is zero."""
    field = lane.product[WIDE.sign_bit - 1 : FRACTION].zext(lane.size.width)
    empty = lane.product[WIDE.sign_bit - 1 : 0].eq(0)
    both = n.place + n.fraction_bits  # a word of place and the product's exponent, together
    return [  # the product's leading bit has that exponent, or one more
        empty | (field + (both - WIDE.bias - 3)).ule(lane.size),
        empty | ~(field + lane.place).ult(both + WIDE.bias),
    ]


def _product(n: ExactNumbers, lane: LaneOfSum, theirs: Term, whole: FormDerivation) -> Implication:
    """A product is the model's, and a normal number or zero. theirs: the model's word."""
    hypotheses = tuple(_small(n, lane))
    proof = FormDerivation(hypotheses, whole.lemmas)
    facts = [theirs.eq(lane.product), is_usual(lane.product), *_reach(n, lane)]
    for fact in facts:
        proof.lemma("a product", fact, hypotheses)
    return proof.theorem(*facts)


def _of_products(
    proof: FormDerivation, n: ExactNumbers, step: OddStep, product: Implication, first: LaneOfSum
) -> None:
    """Facts: two products are the model's, and near each other. first: the one that is proved about."""
    largest = not_none(step.sizes), not_none(step.places)
    sides, premises = [*largest, step.word], [~step.unsure]
    for most in largest:
        proof.at_most(most)
    for lane in step.lanes:
        for own, most in zip((lane.size, lane.place), largest, strict=True):
            premises.append(own.ule(most))
            sides.append(own)
    for lane in step.lanes:
        for fact in _small(n, lane):
            proof.lemma("a product is in range", fact, premises, cuts=sides)
        proof.apply(product, dict(zip(first.inputs, lane.inputs, strict=True)))
        premises += _reach(n, lane)
    proof.lemma("products are near each other", are_near(*step.words), premises, cuts=[*sides, *step.words])


@dataclass(frozen=True)
class _Sum:
    """A sum of any two words. variables: these. same: that both graphs have the same word of them.
    theorem: that it is so, where both are in range.
    """

    variables: tuple[Term, Term]
    same: Term
    theorem: Implication

    @classmethod
    def of(cls, step: OddStep, operation: RoundedSum, c: Term, whole: FormDerivation) -> _Sum:
        """Of a form's sum, and the model's. c: which the model reads in its own way."""
        values = {word: var(f"word {number}", WIDE.width) for number, word in enumerate(step.words)}
        one, other = values.values()
        numbers = [
            substituted(number, {c: values[word]}) if word is c else dp.decode(WIDE, values[word])
            for number, word in zip(operation.terms, step.words, strict=True)
        ]
        (word,) = substitute([step.word], values)
        same = replace(operation, terms=tuple(numbers)).word().eq(word)
        sure = _in_range(one, other, word)
        proof = FormDerivation(sure, whole.lemmas)
        proof.lemma("a sum rounded to odd", same, sure)
        return cls((one, other), same, proof.theorem(same))

    def of_words(self, proof: FormDerivation, step: OddStep) -> Term:
        """A fact: the same of a form's sum."""
        for fact in _in_range(*step.words, step.word):
            if fact not in proof.facts:
                proof.lemma("words are in range", fact, [~step.unsure], cuts=[*step.words, step.word])
        values = dict(zip(self.variables, step.words, strict=True))
        proof.apply(self.theorem, values)
        (same,) = substitute([self.same], values)
        return same


def _in_range(one: Term, other: Term, word: Term) -> tuple[Term, ...]:
    """What is asked of two words, and of their sum."""
    return is_usual(one), is_usual(other), are_near(one, other), is_usual(word)
