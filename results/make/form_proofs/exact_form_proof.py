"""That exact sums in binary64 give a model's words.

The model shifts its terms to their places in words that span every exponent. On the form's grid they are
integers of a machine's words: a wide word is such an integer, shifted by the grid. Stage by stage: each term
is the same integer in both graphs (:mod:`.exact_terms_proof`), and so are sums (:mod:`.exact_sums_proof`).
Then the sum is normalised by halves, and binary64 and the model round the same significand at the same place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from form_proofs.deduction import FormDerivation, Implication, ProofFailed
from form_proofs.exact_sum_graphs import BITS, ROOM, SINGLE, SumGraphs
from form_proofs.exact_sums_proof import last_bits, opposite_shifted, same_sums
from form_proofs.exact_terms_proof import same_terms
from form_proofs.wide_shifts import ShiftedWord, chosen, free
from tcsmt.language.terms import Term, all_of, const, substitute
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic.datapath import Number
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.ieee import RoundedSum, Zeros
from tcsmt.matrix_units.models import IeeeDotAdd
from tcsmt.simulate.forms.exact_form import ExactForm, ExactStep, is_finite
from tcsmt.support.invariants import checked_cast

__all__ = ["derive_proof", "substituted"]

_DOUBLE = FORMATS["f64"]
#: Bits of the magnitude of a sum in units of the grid; places that a shift has more.
_SIZE, _PADDING = 53, 64


def derive_proof(model: IeeeDotAdd, form: ExactForm) -> FormDerivation:
    """That a form gives the model's words wherever its guard is 0.

    Raises :class:`.ProofFailed` where the argument does not go through.
    """
    stages, steps = model.trace.stages, form.steps
    if len(stages) != len(steps) or stages[-1].term is not model.trace.output:
        raise ProofFailed(f"{len(stages)} operations, {len(steps)} in the form")
    proof, words = FormDerivation((~form.guard,)), [step.word for step in steps]
    equal: dict[Term, Term] = {}
    general: _General | None = None
    for step, stage in zip(steps, stages, strict=True):
        operation = checked_cast(stage.operation, RoundedSum)
        proof.lemma("an operation says something", ~step.unsure, [~form.guard], cuts=words)
        same = stage.term.eq(step.word)
        if isinstance(step, ExactStep):
            if general is None:
                general = _General.of(form, step, operation, proof)
            word = replace(operation, terms=tuple(substituted(x, equal) for x in operation.terms)).word()
            proof.apply(general.theorem, general.values(step))
            proof.lemma("an exact sum", same, [word.eq(step.word)], equal=equal, cuts=[step.word, word])
        else:
            facts = [is_finite(word, step.format) for word in step.words]
            for fact in facts:
                proof.lemma("what is added is finite", fact, [~step.unsure], cuts=step.words)
            proof.lemma("an addition", same, facts, equal=equal, cuts=step.words)
        equal[stage.term] = step.word
    proof.theorem(form.result.eq(model.trace.output))
    return proof


@dataclass(frozen=True)
class _General:
    """The first sum of a form, of which all operands are variables: what holds of it holds of the others.

    theorem: that its word is the model's.
    """

    inputs: tuple[Term, ...]
    theorem: Implication

    @classmethod
    def of(cls, form: ExactForm, step: ExactStep, operation: RoundedSum, whole: FormDerivation) -> _General:
        """Raises :class:`.ProofFailed`."""
        proof = FormDerivation((~step.unsure,), whole.lemmas)
        graphs = SumGraphs(form.numbers, step, operation)
        limits = same_terms(proof, graphs)
        _rounded(proof, graphs, same_sums(proof, graphs), limits)
        return cls(_operands(step), proof.theorem(operation.word().eq(step.word)))

    def values(self, step: ExactStep) -> dict[Term, Term]:
        """The variables, as another sum has them."""
        return dict(zip(self.inputs, _operands(step), strict=True))


def _operands(step: ExactStep) -> tuple[Term, ...]:
    """The words that a sum is of."""
    words = [word for lane in step.lanes for word in lane.inputs]
    return tuple(words) if step.c is None else (*words, step.c.word)


def substituted(x: Number, values: Mapping[Term, Term]) -> Number:
    """A number with some nodes replaced by others."""
    nodes = [x.sign, x.significand, x.zero, x.infinite, x.nan, x.exponent.term]
    sign, significand, zero, infinite, nan, exponent = substitute(nodes, dict(values))
    return replace(
        x, sign=sign, significand=significand, zero=zero, infinite=infinite, nan=nan,
        exponent=replace(x.exponent, term=exponent),
    )  # fmt: skip


def _rounded(proof: FormDerivation, graphs: SumGraphs, shift: Implication, limits: Sequence[Term]) -> None:
    """A fact: the model's word is the form's. limits: facts about the grid."""
    step, operation, count = graphs.step, graphs.operation, len(graphs.terms)
    units = graphs.units(count)
    negative = units[BITS - 1]
    absolute = negative.ite(-units, units)
    own = absolute[_SIZE - 1 : 0]
    exact, magnitude = _magnitude(proof, graphs, shift, own)
    # the magnitude, normalised
    start = magnitude.concat(const(0, _PADDING))
    first = ShiftedWord(own, graphs.grid.zext(ROOM) + _PADDING, start.width)
    proof.lemma("a magnitude, padded", start.eq(first.word), cuts=[absolute, graphs.grid])
    normal, facts = first.normalised(proof, start, absolute, graphs.grid)
    size = graphs.same_size(count)
    # the number in binary64
    if step.whole is not graphs.form_sum(count):
        raise ProofFailed("the form's sum is not that of its terms")
    number = _double(negative, normal, graphs.lowest - _PADDING)
    proof.lemma(
        "the number in binary64",
        step.number.eq(number),
        [last_bits(step.whole, units), size, *limits],
        cuts=[step.whole, units, step.places, step.sizes],
    )
    # what is known of what is rounded
    padded = normal.word[normal.width - 1 : _PADDING]
    theirs = padded[graphs.width - 1 : 0]
    same = graphs.rounded.magnitude.eq(theirs)
    cuts = [graphs.rounded.magnitude, magnitude, normal.word]
    proof.lemma("the model's magnitude", same, [exact[1], facts[1]], cuts=cuts)
    lossless = normal.word[_PADDING - 1 : 0].eq(0), padded.ule(count << graphs.high)
    for fact in lossless:
        proof.lemma("nothing is lost", fact, [facts[1], exact[2]], cuts=cuts[1:])
    infinite, _, nan = dp.special_cases(operation.terms)
    proof.lemma("the sum is a number", ~infinite & ~nan, [x.is_number for x in graphs.terms])
    empty = normal.integer.eq(0)
    of_zero = empty.eq(units.eq(0)) & ~(empty & negative)
    proof.lemma("a sum of zero", of_zero, [size], cuts=[units, graphs.grid])
    here = empty | normal.place.ule(graphs.high + _PADDING)
    proof.lemma("a sum's place", here, [graphs.placed(count), size], cuts=[units, graphs.grid])
    premises = [exact[0], same, *lossless, ~infinite & ~nan, of_zero, here, facts[0]]
    cuts = [normal.integer, normal.place, negative, infinite, nan]
    if operation.zeros is Zeros.IEEE:
        zero, rules = _zero_sign(proof, graphs)
        premises += rules
        cuts += [step.signs, zero, units.eq(0)]
    equal = {graphs.rounded.magnitude: theirs, graphs.rounded.sign: negative, step.number: number}
    expected = operation.word()
    same = expected.eq(step.word)
    if operation.overflow == "ieee":
        proof.lemma("the rounded sum", same, premises, equal=equal, cuts=cuts)
        return
    # in one conclusion, as premises of a certificate are taken as they are, without what is equal
    finite = is_finite(step.word, operation.format)
    proof.lemma("the rounded sum, or an infinity", same | ~finite, premises, equal=equal, cuts=cuts)
    proof.lemma("the word is a number", finite, [~step.unsure], cuts=[step.word, step.sizes, step.places])
    proof.lemma("the rounded sum", same, [same | ~finite, finite], cuts=[step.word, expected])


def _magnitude(
    proof: FormDerivation, graphs: SumGraphs, shift: Implication, own: Term
) -> tuple[list[Term], Term]:
    """Facts about the sign and the magnitude that the model rounds; and this magnitude, in a longer word.

    own: the magnitude in units of the grid.
    """
    count, wide, grid = len(graphs.terms), graphs.wide, graphs.grid
    whole, units = graphs.model_sum(count), graphs.units(count)
    place, size = graphs.shifted(units), graphs.same_size(count)
    same = whole.eq(place[graphs.width - 1 : 0])
    proof.lemma("the exact sum", same, [graphs.summed(count)], cuts=[whole, place])
    negative = units[BITS - 1]
    sign = place[wide - 1].eq(negative)
    proof.lemma("the sum's sign", sign, [size, graphs.placed(count)], cuts=[units, grid])
    extended, amount = units.sext(wide), grid.zext(wide)
    opposite = opposite_shifted(proof, graphs, shift, extended, place)
    either = negative.ite(-extended, extended)
    absolute = own.zext(wide).eq(either)
    proof.lemma("a magnitude, extended", absolute, [size], cuts=[units])
    of_either = chosen(proof, negative, -extended, extended, grid)
    magnitude = own.zext(wide) << amount
    at_place = magnitude.eq(negative.ite(-place, place))
    proof.lemma(
        "a magnitude at its place", at_place, [opposite, of_either], equal={own.zext(wide): either},
        cuts=[either << amount, place, -extended << amount],
    )  # fmt: skip
    rounded = graphs.rounded
    facts = [
        rounded.sign.eq(negative),
        rounded.magnitude.eq(magnitude[graphs.width - 1 : 0]),
        magnitude.ule(count << graphs.high),
    ]
    cuts = [whole, place, magnitude, negative]
    for fact in facts:
        premises = [same, sign, graphs.in_place(count), at_place]
        proof.lemma("the exact sum's magnitude", fact, premises, cuts=cuts)
    return facts, magnitude


def _double(sign: Term, normal: ShiftedWord, lowest: int) -> Term:
    """The word of binary64 of a normalised integer, shifted. lowest: the exponent of a shift by no places."""
    size = normal.integer.width
    field = normal.place + (lowest + size - 1 + _DOUBLE.bias)
    word = field[_DOUBLE.exponent_bits - 1 : 0].concat(normal.integer[_DOUBLE.fraction_bits - 1 : 0])
    return sign.concat(normal.integer.eq(0).ite(const(0, word.width), word))


def _zero_sign(proof: FormDerivation, graphs: SumGraphs) -> tuple[Term, list[Term]]:
    """The sign that the model gives to a sum of zero; and facts: it is the form's, and where the form has
    a sign, the sum is negative or zero.
    """
    step, count = graphs.step, len(graphs.terms)
    signs = all_of(x.number.sign for x in graphs.terms)
    zero = all_of(x.number.zero for x in graphs.terms) & signs
    of_signs = [x.single[SINGLE.sign_bit].eq(x.number.sign) for x in graphs.terms]
    for x, fact in zip(graphs.terms, of_signs, strict=True):
        proof.lemma("a term's sign bit", fact, [x.in_single], cuts=[x.single, *x.cuts])
    products = [x for x in graphs.terms if x.is_product]
    cuts = [node for x in products for node in (x.single, x.number.sign)]
    same = step.signs.eq(signs.concat(const(0, SINGLE.sign_bit)))
    proof.lemma("the sign bits of all terms", same, of_signs, cuts=cuts)
    units, bit = graphs.units(count), step.signs[SINGLE.sign_bit]
    negative = units[BITS - 1]
    rule = (units.ne(0) | bit.eq(zero)) & (negative | units.eq(0) | ~bit)
    flags = free([flag for x in graphs.terms for flag in (x.number.sign, x.number.zero)])
    premises = [same, graphs.of_negative_terms(count)]
    proof.lemma("the sign of the result", rule, premises, cuts=[step.signs, units, *flags])
    only = step.signs[SINGLE.sign_bit - 1 : 0].eq(0)
    proof.lemma("nothing but a sign", only, [same], cuts=[step.signs, *flags])
    return zero, [rule, only]
