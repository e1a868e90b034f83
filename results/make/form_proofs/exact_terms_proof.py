"""That the terms of an exact sum are the same integers in a form and in a model, on the form's grid."""

from __future__ import annotations

from collections.abc import Sequence

from form_proofs.deduction import FormDerivation, ProofFailed
from form_proofs.exact_sum_graphs import BITS, ROOM, SINGLE, SumGraphs, TermOfSum, counted, short
from form_proofs.wide_shifts import HALVES, ShiftedWord
from tcsmt.language.terms import Term, all_of, variables
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic import native
from tcsmt.simulate.forms.exact_form import INTEGER, LaneOfSum

__all__ = ["same_terms"]


def same_terms(proof: FormDerivation, graphs: SumGraphs) -> list[Term]:
    """Facts about all terms. Returns those about the grid.

    Raises :class:`.ProofFailed` where a product is of other words.
    """
    limits = _limits(proof, graphs)
    for lane, x in zip(graphs.step.lanes, graphs.terms, strict=False):
        _product(proof, graphs, lane, x, limits)
    if graphs.step.c is not None:
        _c(proof, graphs, graphs.step.c.word, graphs.terms[-1])
    in_reach = [x.place.ule(graphs.reach) for x in graphs.terms]
    whole = graphs.step.places.ule(graphs.reach)
    proof.lemma("all places are in reach", whole, in_reach, cuts=[short(x.place) for x in graphs.terms])
    limits.append(whole)
    for x in graphs.terms:
        _on_grid(proof, graphs, x, limits)
    return limits


def _limits(proof: FormDerivation, graphs: SumGraphs) -> list[Term]:
    """Facts about the grid, and that no term's words are above the largest."""
    step, n = graphs.step, graphs.numbers
    wholes = sizes, places = step.sizes, step.places
    parts = [_of_products(whole) for whole in wholes]
    limit = 1 << 16
    for whole, part in zip(wholes, parts, strict=True):
        proof.at_most(part)
        if step.c is not None:
            proof.at_most(whole)
        cuts = [part] if step.c is None else [part, step.c.word]
        proof.lemma("a largest word has few bits", whole.ult(limit), cuts=cuts)
    sure = [(sizes + places).ult(n.spread + 1)]
    sure += [whole.ult(most) for whole, most in ((sizes, n.limit), (places, n.depth)) if most is not None]
    for fact in sure:
        proof.lemma("the grid is in range", fact, [~step.unsure], cuts=wholes)
    small = [whole.ult(limit) for whole in wholes]
    usual = [whole.ule(n.spread) for whole in wholes]
    for fact in usual:
        proof.lemma("a largest word is in range", fact, [*small, sure[0]], cuts=wholes)
    for lane in step.lanes:
        for own, part, whole in zip((lane.size, lane.place), parts, wholes, strict=True):
            facts, cuts = [own.ule(part)], [own, part]
            if step.c is not None:
                facts.append(part.zext(whole.width).ule(whole))
                cuts.append(whole)
            proof.lemma("no word is above the largest", own.zext(whole.width).ule(whole), facts, cuts=cuts)
    return [*sure, *small, *usual]


def _of_products(whole: Term) -> Term:
    """The largest word of the products. Raises :class:`.ProofFailed`."""
    nodes = [arg for arg in (whole, *whole.args) if arg.op == "zext" and arg.args[0].op == "umax"]
    if len(nodes) != 1:
        raise ProofFailed("no largest word of several products")
    return nodes[0].args[0]


def _below(graphs: SumGraphs, x: TermOfSum) -> list[Term]:
    return [x.size.ule(graphs.step.sizes), x.place.ule(graphs.step.places)]


def _usual(graphs: SumGraphs, x: TermOfSum) -> list[Term]:
    """Why a term is a normal number: its word of size would be larger."""
    return [graphs.step.sizes.ule(graphs.numbers.spread), _below(graphs, x)[0]]


def _product(
    proof: FormDerivation, graphs: SumGraphs, lane: LaneOfSum, x: TermOfSum, limits: Sequence[Term]
) -> None:
    """Facts: the form's product is the model's, of a size and at a place that its words say."""
    number, n, step = x.number, graphs.numbers, graphs.step
    usual, largest = _usual(graphs, x), [step.sizes, step.places]
    proof.lemma("a product is a number", x.is_number, usual, cuts=[step.sizes, *lane.factors])
    sides = [dp.decode(SINGLE, factor) for factor in lane.factors]
    pairs = list(zip(lane.factors, sides, strict=True))
    normal = all_of(_field(factor).ne(0) | side.zero for factor, side in pairs)
    proof.lemma("factors are normal numbers", normal, usual, cuts=[step.sizes])
    known, equal, factors = [x.is_number, normal], {}, []
    for factor, side in pairs:
        inputs = set(variables([factor]))
        alike = [short(own) for own in number.significand.args if set(variables([own])) == inputs]
        if len(alike) != 1:
            raise ProofFailed("a product is of other words")
        wide = side.significand.width
        equal[side.significand] = alike[0].zext(wide) << (wide - alike[0].width)
        factors += alike
        proof.lemma("a factor", side.significand.eq(equal[side.significand]), known)
    exact = native.product(*lane.factors)
    room = exact.significand.width
    padded = number.significand.zext(room) << (room - number.significand.width)
    significand = exact.significand.eq(padded)
    proof.lemma("a product's significand", significand, equal=equal, cuts=factors)
    plain = ~exact.nan & ~exact.infinite & exact.sign.eq(number.sign) & exact.zero.eq(number.zero)
    proof.lemma("a product's sign, and that it is a number", plain, known)
    exponent = number.significand.eq(0) | counted(exact.exponent).eq(counted(number.exponent))
    proof.lemma("a product's exponent", exponent, known)
    _words(proof, graphs, x, known)
    flags = [exact.sign, exact.zero, exact.nan, exact.infinite]
    proof.lemma(
        "a product's word",
        x.in_single,
        [significand, plain, exponent, *x.known(n), *limits, *_below(graphs, x)],
        cuts=[exact.significand, exact.exponent.term, *flags, *x.cuts, *largest],
    )


def _c(proof: FormDerivation, graphs: SumGraphs, c: Term, x: TermOfSum) -> None:
    """Facts: c is a number of a size and at a place that its words say."""
    fmt = graphs.operation.format
    field = c[fmt.sign_bit - 1 : fmt.fraction_bits]
    usual, normal = _usual(graphs, x), field.ne(0) | x.number.zero
    known = [x.is_number, normal]
    for what, fact in zip(("c is a number", "c is a normal number"), known, strict=True):
        proof.lemma(what, fact, usual, cuts=[graphs.step.sizes])
    _words(proof, graphs, x, known)
    proof.lemma("c's word", x.in_single, known)


def _field(word: Term) -> Term:
    return word[SINGLE.sign_bit - 1 : SINGLE.fraction_bits]


def _words(proof: FormDerivation, graphs: SumGraphs, x: TermOfSum, known: Sequence[Term]) -> None:
    for fact in (*x.known(graphs.numbers), x.place.ule(graphs.reach)):
        proof.lemma("a term's size and place", fact, known)


def _on_grid(proof: FormDerivation, graphs: SumGraphs, x: TermOfSum, limits: Sequence[Term]) -> None:
    """Facts: in units of the grid, a term is the same integer in both graphs, of a known size."""
    premises = [*x.known(graphs.numbers), *_below(graphs, x), *limits]
    cuts = [*x.cuts, graphs.step.sizes, graphs.step.places]
    last = slice(INTEGER - 1, 0)
    same = x.aligned[last].eq(x.signed[last])
    proof.lemma("a term on the grid", same, [x.in_single, *premises], cuts=[*cuts, x.single])
    proof.lemma("a term's size on the grid", x.units.ule(graphs.most), premises, cuts=cuts)
    proof.lemma("a term is zero", x.units.eq(0).eq(x.number.zero), premises, cuts=cuts)
    placed = x.units.eq(0) | graphs.grid.ule(graphs.high)
    proof.lemma("the grid's place", placed, premises, cuts=cuts)
    _in_words(proof, graphs, x, premises)


def _in_words(proof: FormDerivation, graphs: SumGraphs, x: TermOfSum, premises: Sequence[Term]) -> None:
    """Facts: on the grid and shifted by its place, a term is what the model shifts: by one bit of its amount
    after the other.
    """
    wide, own = graphs.wide, graphs.shifted(x.units)
    cuts = [*x.cuts, graphs.step.sizes, graphs.step.places]
    word, now = x.word.zext(wide), ShiftedWord(x.number.significand.zext(BITS), x.moved.zext(ROOM), wide)
    start = now.word
    proof.lemma("a term in the model's words", word.eq(start), premises, cuts=cuts)
    for half in HALVES:
        bit = x.amount[half.bit_length() - 1]
        after = now.moved(half, bit)
        room = ~bit | now.integer.eq(0) | now.clear(half) & ~now.place.ult(half)
        proof.lemma("room for some places", room, premises, cuts=cuts)
        inner = cuts if now.word is start else [now.integer, now.place, bit]
        same = now.word.eq(after.word)
        proof.lemma("a term moved by half", same, [room], cuts=inner)
        known = start.eq(after.word)
        proof.lemma("a word", known, [start.eq(now.word), same], cuts=[start, now.word, after.word])
        now = after
    end = now.integer.eq(x.units), now.integer.eq(0) | now.place.eq(graphs.grid.zext(ROOM))
    for fact in end:
        proof.lemma("all places", fact, premises, cuts=cuts)
    small = x.units.ule(graphs.most)
    moved = now.word.eq(own)
    proof.lemma(
        "a term at the grid's place",
        moved,
        [*end, small],
        cuts=[now.integer, now.place, x.units, graphs.grid],
    )
    same = own.eq(word)
    premises_of_same = [word.eq(start), start.eq(now.word), moved]
    proof.lemma("a term in the model's words", same, premises_of_same, cuts=[own, word, start, now.word])
    proof.lemma("its size there", own.ule(1 << graphs.high), [same, *premises], cuts=[*cuts, own])
