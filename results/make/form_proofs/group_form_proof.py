"""That sums of groups as integers of 16 bits give a model's words: product by product, then group by group.

What comes after the groups is the same graph on both sides.
"""

from __future__ import annotations

from collections.abc import Sequence

from form_proofs.deduction import FormDerivation, Implication, ProofFailed
from form_proofs.product_grid_proof import same, same_sum, within
from tcsmt.language.terms import Term, all_of, total
from tcsmt.matrix_units.arithmetic.datapath import Number
from tcsmt.matrix_units.models import FusedDotAdd, Kind
from tcsmt.simulate.forms.group_form import GroupForm, GroupOfForm
from tcsmt.support.invariants import checked_cast

__all__ = ["derive_proof"]


def derive_proof(model: FusedDotAdd, form: GroupForm) -> FormDerivation:
    """That a form gives the model's words for all inputs.

    Raises :class:`.ProofFailed` where the argument does not go through.
    """
    proof, size, inputs = FormDerivation(()), model.group, model.trace
    numbers = [checked_cast(stage.value, Number) for stage in inputs.of(Kind.PRODUCT)]
    theorem = None
    for first, group in zip(range(0, model.k, size), form.groups, strict=True):
        lanes = range(first, first + size)
        theirs = _words([numbers[lane] for lane in lanes], group.model_sum)
        zeros = [numbers[lane].zero for lane in lanes]
        if theorem is None:
            theorem = _product(group.products[0], theirs[0], zeros[0], form.most, proof)
        for lane in lanes:
            values = (inputs.a[0], inputs.a[lane]), (inputs.b[0], inputs.b[lane])
            proof.apply(theorem, dict(values))
        _sum(proof, form.most, group, theirs, zeros)
    replaced = {term: word for group in form.groups for term, word in group.values.items()}
    result = form.result.eq(inputs.output)
    proof.lemma("the result", result, equal=replaced)
    proof.theorem(result)
    return proof


def _words(numbers: Sequence[Number], whole: Term) -> list[Term]:
    """What the model adds up, lane by lane. Raises :class:`.ProofFailed` where ``whole`` is not their sum."""
    low = min(x.exponent.low for x in numbers)
    high = max(x.exponent.high for x in numbers)
    words = []
    for x in numbers:
        word = x.significand.zext(whole.width) << x.exponent.within(low, high).zext(whole.width)
        words.append(x.sign.ite(-word, word))
    if total(*words) is not whole:
        raise ProofFailed("a group's word is not the sum of its products'")
    return words


def _product(own: Term, word: Term, zero: Term, most: int, proof: FormDerivation) -> Implication:
    """Of a lane: both graphs have the same integer, of a known size, which is 0 where the model says so."""
    lane = FormDerivation((), proof.lemmas)
    alike, nothing, size = same(own, word), own.eq(0).eq(zero), within(own, most)
    lane.lemma("a product", alike)
    lane.lemma("a product is zero", nothing)
    lane.lemma("a product's size", size)
    return lane.theorem(alike, nothing, size)


def _sum(
    proof: FormDerivation, most: int, group: GroupOfForm, words: Sequence[Term], zeros: Sequence[Term]
) -> None:
    """Facts: both graphs have the same sum of a group, and say alike whether all of it is zero."""
    same_sum(proof, most, group.products, words, words)
    for term, word in group.values.items():
        if term is group.model_zero:
            nothing = [own.eq(0).eq(zero) for own, zero in zip(group.products, zeros, strict=True)]
            if all_of(zeros) is not term:
                raise ProofFailed("a group is not zero where its products are")
            proof.lemma("a group is zero", term.eq(word), nothing, cuts=[*group.products, *zeros])
        else:
            alike = same(group.sum, total(*words))
            proof.lemma("a group's sum", term.eq(word), [alike], cuts=[group.sum, total(*words)])
