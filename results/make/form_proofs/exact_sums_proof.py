"""That the sums of some terms are the same in a form and in a model, one term after the other.

By facts about each term (:mod:`.exact_terms_proof`): the form's sum has the last bits of an integer, and the
model's is that integer at the grid's place.
"""

from __future__ import annotations

from form_proofs.deduction import FormDerivation, Implication
from form_proofs.exact_sum_graphs import SumGraphs, TermOfSum, within
from form_proofs.wide_shifts import chosen, free, shift_of_a_sum, values_of_shift
from tcsmt.language.terms import Term, total
from tcsmt.simulate.forms.exact_form import INTEGER

__all__ = ["last_bits", "opposite_shifted", "same_sums"]


def last_bits(one: Term, other: Term) -> Term:
    """That two sums have the same last bits, which count."""
    return one[INTEGER - 1 : 0].eq(other[INTEGER - 1 : 0])


def same_sums(proof: FormDerivation, graphs: SumGraphs) -> Implication:
    """Facts about the sum of all terms. Returns that a shift of a sum is that of the shifts."""
    shift = shift_of_a_sum(graphs.wide, graphs.counted_place.width, proof)
    for count, x in enumerate(graphs.terms, 1):
        _addend(proof, graphs, shift, x)
        after, before = (graphs.negative[place].zext(graphs.width) for place in (count, count - 1))
        signs = [y.number.sign for y in graphs.terms]
        negative = before.eq(after + x.number.sign.zext(graphs.width))
        proof.lemma("negative terms", negative, cuts=signs)
        (_first if count == 1 else _next)(proof, graphs, shift, count)
    return shift


def opposite_shifted(
    proof: FormDerivation, graphs: SumGraphs, shift: Implication, word: Term, shifted: Term
) -> Term:
    """A fact: a word's opposite, shifted. shifted: the word itself."""
    proof.apply(shift, values_of_shift(word, -word, graphs.counted_place))
    place = graphs.grid.zext(graphs.wide)
    nothing, opposite = (word + -word) << place, -word << place
    proof.lemma(
        "the opposite of a word, shifted",
        opposite.eq(-shifted),
        [(shifted + opposite).eq(nothing)],
        cuts=[shifted, opposite],
    )
    return opposite.eq(-shifted)


def _addend(proof: FormDerivation, graphs: SumGraphs, shift: Implication, x: TermOfSum) -> None:
    """Facts: what the model adds is the term at the grid's place, but for the count of negative ones."""
    sign, count, wide, most = x.number.sign, graphs.width, graphs.wide, graphs.most
    units, signed = x.units.sext(wide), x.signed.sext(wide)
    own, place = graphs.shifted(x.units), graphs.shifted(x.signed)
    either = sign.ite(-units, units)
    proof.lemma("a term's sign", signed.eq(either), [x.units.ule(most)], cuts=[x.units])
    opposite = opposite_shifted(proof, graphs, shift, units, own)
    of_either = chosen(proof, sign, -units, units, graphs.grid)
    negated, shifted = -units << graphs.grid.zext(wide), either << graphs.grid.zext(wide)
    at_place = place.eq(sign.ite(-own, own))
    proof.lemma(
        "a term at its place", at_place, [opposite, of_either], equal={signed: either},
        cuts=[shifted, own, negated],
    )  # fmt: skip
    addend = x.addend.eq(place[count - 1 : 0] - sign.zext(count))
    same = own.eq(x.word.zext(wide))
    proof.lemma("an addend", addend, [at_place, same], cuts=[own, place, x.word])
    bound = 1 << graphs.high
    proof.lemma("an addend's size", within(place, bound), [at_place, own.ule(bound)], cuts=[own, place])
    proof.lemma("a term's size", within(x.signed, most), [x.units.ule(most)], cuts=[x.units])


def _added(graphs: SumGraphs, count: int) -> list[Term]:
    """Facts about the last of so many terms: what the model adds, and how many are negative after it."""
    x, width = graphs.terms[count - 1], graphs.width
    sign = x.number.sign.zext(width)
    before, after = (graphs.negative[place].zext(width) for place in (count - 1, count))
    place = graphs.shifted(x.signed)[width - 1 : 0]
    return [x.addend.eq(place - sign), before.eq(after + sign)]


def _first(proof: FormDerivation, graphs: SumGraphs, shift: Implication, count: int) -> None:
    x = graphs.terms[0]
    numbers = [word.zext(graphs.width) for word in graphs.negative[:2]]
    cuts = free([x.addend, graphs.shifted(x.signed), *numbers])
    proof.lemma("the first addend", graphs.summed(1), _added(graphs, 1), cuts=cuts)
    placed = x.units.eq(0) | graphs.grid.ule(graphs.high)
    proof.lemma("the grid's place for a term", graphs.placed(1), [placed], cuts=[x.units, graphs.grid])
    premises = [x.units.eq(0).eq(x.number.zero), x.units.ule(graphs.most)]
    cuts = [x.units, *_flags(graphs)]
    proof.lemma("the sign of a zero", graphs.of_negative_terms(1), premises, cuts=cuts)


def _flags(graphs: SumGraphs) -> list[Term]:
    return free([flag for x in graphs.terms for flag in (x.number.sign, x.number.zero)])


def _next(proof: FormDerivation, graphs: SumGraphs, shift: Implication, count: int) -> None:
    """Facts about the sum with one more term."""
    x, wide = graphs.terms[count - 1], graphs.wide
    sums = [(graphs.form_sum(n), graphs.units(n), graphs.model_sum(n)) for n in (count - 1, count)]
    lasts = x.aligned, x.signed, x.addend
    joined, own = [], list[list[Term]]()
    for before, whole, last in zip(*sums, lasts, strict=True):
        pair = total(before, last)
        if whole is not pair:
            proof.joined(whole, before, last)
        joined.append(whole.eq(pair))
        own.append([*([] if whole is pair else [whole]), before, last])
    (form, units, _), (whole_form, whole_units, _) = sums
    premises = [*joined[:2], last_bits(form, units), last_bits(x.aligned, x.signed)]
    same = last_bits(whole_form, whole_units)
    proof.lemma("the form's sum", same, premises, cuts=[*own[0], *own[1]])
    sizes = [graphs.same_size(count - 1), within(x.signed, graphs.most)]
    proof.lemma("a sum's size", graphs.same_size(count), [joined[1], *sizes], cuts=own[1])
    parts = units.sext(wide), x.signed.sext(wide)
    extended = whole_units.sext(wide)
    proof.lemma("a sum, extended", extended.eq(total(*parts)), [joined[1], *sizes], cuts=own[1])
    proof.apply(shift, values_of_shift(*parts, graphs.counted_place))
    places = graphs.shifted(units), graphs.shifted(x.signed)
    moved = total(*parts) << graphs.grid.zext(wide)
    at_place = graphs.shifted(whole_units).eq(total(*places))
    proof.lemma(
        "a sum at its place", at_place, [total(*places).eq(moved)], equal={extended: total(*parts)},
        cuts=[moved, *places],
    )  # fmt: skip
    bounds = [graphs.in_place(count - 1), within(places[1], 1 << graphs.high)]
    cuts = [graphs.shifted(whole_units), *places]
    proof.lemma("a sum's size at its place", graphs.in_place(count), [at_place, *bounds], cuts=cuts)
    numbers = [word.zext(graphs.width) for word in graphs.negative[count - 1 : count + 1]]
    premises = [joined[2], graphs.summed(count - 1), *_added(graphs, count), at_place]
    cuts = free([*own[2], *cuts, *numbers])
    proof.lemma("the model's sum", graphs.summed(count), premises, cuts=cuts)
    nothing = x.units.ne(0) | x.signed.eq(0)
    proof.lemma("nothing has no sign", nothing, cuts=[x.units])
    placed = [graphs.placed(count - 1), x.units.eq(0) | graphs.grid.ule(graphs.high)]
    cuts = [*own[1], graphs.grid, x.units]
    proof.lemma("the grid's place", graphs.placed(count), [joined[1], *placed, nothing], cuts=cuts)
    zero = [x.units.eq(0).eq(x.number.zero), x.units.ule(graphs.most)]
    premises = [joined[1], graphs.of_negative_terms(count - 1), *zero, *sizes]
    cuts = [*own[1][:-1], x.units, *_flags(graphs)]
    proof.lemma("the sign of a zero", graphs.of_negative_terms(count), premises, cuts=cuts)
