"""Products on a grid, in a form and in a model: the lemmas that proofs of forms have in common.

Lane by lane: what its exponent word says, its exact product, and what of it is on the grid; then the largest
exponent, and the sum. A product of significands is taken apart by the leading zeros of its factors, as
binary32 has none. Of several lanes one is proved about, for any grid; what holds of it holds of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from form_proofs.deduction import FormDerivation, Implication, Obligation, ProofFailed
from tcsmt.language.macros import leading_zeros
from tcsmt.language.terms import Term, any_of, const, substitute, total, umax, var, variables
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic import native
from tcsmt.matrix_units.arithmetic.datapath import Exponent, Number
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.matrix_units.arithmetic.ieee import widen
from tcsmt.simulate.forms.product_grid import LaneOfForm, ProductGrid

__all__ = [
    "GridGraphs", "Lane", "entering", "in_reach", "is_number", "joined", "reached", "same", "same_addends",
    "same_aligned", "same_exponents", "same_largest_products", "same_sum", "vanished", "within",
]  # fmt: skip

_WIDE = FORMATS["f32"]
_BITS = _WIDE.width
#: Bits in which sums of both graphs are compared.
_ROOM = 40


@dataclass(frozen=True)
class Lane:
    """One product in both graphs.

    inputs: the words of a, of b, and the scales. scaled: by its scales, if there are any. entering: its
    exponent in the largest one, counted as ``top`` is.
    """

    inputs: tuple[Term, ...]
    form: LaneOfForm
    product: Number
    scaled: Number
    entering: Term
    aligned: Term


@dataclass(frozen=True)
class GridGraphs:
    """A model's products on a grid, and a form's.

    top: the model's largest exponent. formats: of a and b, and of what is multiplied. fraction_bits: of the
    grid.
    """

    form: ProductGrid
    top: Exponent
    lanes: tuple[Lane, ...]
    formats: tuple[tuple[Format, Format], tuple[Format, Format]]
    fraction_bits: int

    @property
    def factor_formats(self) -> tuple[Format, Format]:
        """Of what is multiplied."""
        return self.formats[1]

    @property
    def largest_aligned(self) -> int:
        """What is left of a product on the grid, at most."""
        places = self.fraction_bits - sum(fmt.fraction_bits for fmt in self.factor_formats)
        largest = _largest_significand(self)
        return largest << places if places >= 0 else largest >> -places

    def grid(self, exponent: Term) -> Term:
        """An exponent of the model as the form counts them, in two's complement."""
        return exponent.zext(_BITS) + (self.top.low + _WIDE.bias + self.form.bias)

    def alike(self, own: Term, exponent: Term) -> Term:
        """That both graphs say the same exponent, or both one below any grid's."""
        counted, floor = self.grid(exponent), self.form.floor
        own = own.zext(_BITS)
        return own.eq(counted) | own.ult(floor) & counted.slt(const(floor, _BITS))


def entering(top: Term, inputs: Sequence[Term]) -> Term:
    """The exponent in a largest one that is of these words alone. Raises :class:`.ProofFailed`."""
    own = [arg for arg in top.args if set(variables([arg])) == set(inputs)]
    if len(own) != 1:
        raise ProofFailed(f"{len(own)} exponents of {inputs}")
    return own[0]


# --- exponents


def is_number(x: Number) -> Term:
    """Whether it is neither a NaN nor an infinity."""
    return ~(x.nan | x.infinite)


def same_exponents(proof: FormDerivation, graphs: GridGraphs, guard: Term) -> None:
    """Facts about each lane, and about the grid: in range, and no exponent above it."""
    form = graphs.form
    top, largest = form.top, form.largest_product
    proof.lemma("the grid is in range", top.ult(form.limit), [~guard], cuts=[top])
    proof.at_most(top)
    proof.at_most(largest)
    proof.at_most(graphs.top.term)
    grid = var("the form's grid", _BITS)
    theorem = _exponents(graphs, proof.lemmas, grid)
    for lane in graphs.lanes:
        own = lane.form.exponent
        below = own.zext(_BITS).ule(top)
        above = [own.ule(largest), largest.zext(_BITS).ule(top)]
        proof.lemma("no exponent word is above the grid", below, above, cuts=[own, largest, top])
        proof.apply(theorem, _lane_values(graphs, lane) | {grid: top})


def _exponents(graphs: GridGraphs, lemmas: dict[Term, Obligation], grid: Term) -> Implication:
    """Of a lane whose exponent word is not above the grid."""
    lane, form = graphs.lanes[0], graphs.form
    own = lane.form.exponent
    hypotheses = grid.ult(form.limit), own.zext(_BITS).ule(grid)
    proof = FormDerivation(hypotheses, lemmas)
    number, reach = _of_lane(graphs)
    conclusions = [number, graphs.alike(own, lane.entering), reach]
    for what, conclusion in zip(("a number", "the exponent", "its reach"), conclusions, strict=True):
        proof.lemma(f"product: {what}", conclusion, hypotheses, cuts=[grid])
    return proof.theorem(*conclusions)


def _of_lane(graphs: GridGraphs) -> tuple[Term, Term]:
    """Of the first lane, whose exponent word is not above the grid: a number, of an exponent in reach."""
    x = graphs.lanes[0].scaled
    return is_number(x), _below_limit(graphs, x) | x.zero


def _below_limit(graphs: GridGraphs, x: Number) -> Term:
    """Whether an exponent is below every grid that is left to the model."""
    highest = graphs.form.limit - graphs.form.bias - _WIDE.bias - x.exponent.low
    return x.exponent.term.zext(_BITS).slt(const(highest, _BITS))


def _lane_values(graphs: GridGraphs, lane: Lane) -> dict[Term, Term]:
    """The first lane's inputs, as another's."""
    return dict(zip(graphs.lanes[0].inputs, lane.inputs, strict=True))


def in_reach(form: ProductGrid, grid: Term) -> Term:
    """Whether a grid is one on which products count."""
    return ~grid.ult(form.floor + (form.floor > form.least))


def reached(proof: FormDerivation, graphs: GridGraphs, guard: Term) -> list[Term]:
    """Facts, by which the largest exponent is a grid's: some product counts, or else the guard would be 1."""
    form = graphs.form
    premises = [form.counts, form.largest_product.zext(_BITS).ule(form.top)]
    if form.floor > form.least:
        fact = ~form.top.ule(form.floor)
        proof.lemma("a larger grid", fact, [~guard, form.counts], cuts=[form.top, form.largest_product])
        premises.append(fact)
    return premises


def same_largest_products(proof: FormDerivation, graphs: GridGraphs) -> Term:
    """Facts: the largest exponents of products are alike, one after the other. Returns the model's."""
    own = [lane.form.exponent for lane in graphs.lanes]
    theirs = [lane.entering for lane in graphs.lanes]
    for count in range(2, len(own) + 1):
        parts, lasts = zip(*((umax(*x[: count - 1]), x[count - 1]) for x in (own, theirs)), strict=True)
        pair = [umax(part, last) for part, last in zip(parts, lasts, strict=True)]
        wholes = [umax(*x[:count]) for x in (own, theirs)]
        premises = [graphs.alike(*parts), graphs.alike(*lasts)]
        what = "the largest exponent of products"
        proof.lemma(what, graphs.alike(*pair), premises, cuts=[*parts, *lasts])
        both = joined(proof, wholes, parts, lasts, pair)
        proof.lemma(what, graphs.alike(*wholes), [graphs.alike(*pair), *both], cuts=[*wholes, *pair])
    return umax(*theirs)


def joined(
    proof: FormDerivation,
    wholes: Sequence[Term],
    parts: Sequence[Term],
    lasts: Sequence[Term],
    pairs: Sequence[Term],
) -> list[Term]:
    """Facts: in both graphs, the whole is the last argument and the others, joined."""
    for whole, part, last, pair in zip(wholes, parts, lasts, pairs, strict=True):
        if whole is not pair:
            proof.joined(whole, part, last)
    return list(map(Term.eq, wholes, pairs))


# --- on the grid


def same_aligned(proof: FormDerivation, graphs: GridGraphs) -> None:
    """Facts: what both graphs sum is the same integer in each lane, of a known size."""
    top, largest = graphs.form.top, graphs.top.term
    grids = var("the form's grid", _BITS), var("the model's grid", largest.width)
    theorem = _aligned(graphs, proof.lemmas, *grids)
    for lane in graphs.lanes:
        proof.apply(theorem, _lane_values(graphs, lane) | dict(zip(grids, (top, largest), strict=True)))


def _aligned(graphs: GridGraphs, lemmas: dict[Term, Obligation], grid: Term, largest: Term) -> Implication:
    """Of a lane: what both graphs sum is the same integer, of a known size."""
    form, lane, top = graphs.form, graphs.lanes[0], graphs.top.term
    own, theirs = substitute([lane.form.aligned, lane.aligned], {form.top: grid, top: largest})
    x = lane.product
    grids, on_grid = grid.eq(graphs.grid(largest)), [grid.ult(form.limit), in_reach(form, grid)]
    hypotheses = grids, *on_grid, lane.entering.ule(largest), *_of_lane(graphs)
    proof = FormDerivation(hypotheses, lemmas)
    zero = _zero(proof, x)
    number, reach = _of_lane(graphs)
    counted = x.exponent.term.ule(x.exponent.high - x.exponent.low)
    proof.lemma("product: a number without its scales", is_number(x), [number])
    proof.lemma("product: its exponent as it is counted", counted, [is_number(x)])
    inside = x.significand.eq(0) | _below_limit(graphs, lane.scaled)
    proof.lemma("product: the reach of its exponent", inside, [reach, zero], cuts=[x.significand])
    word = _product_word(proof, graphs, [inside, counted])
    small = x.significand.ule(_largest_significand(graphs))
    proof.lemma("product: its size", small)
    enters = lane.entering.ule(largest)
    product = [x.significand, x.exponent.term, x.sign]
    proof.lemma(
        "product: on the grid",
        same(own, theirs),
        [word, grids, *on_grid, enters, zero, small, inside, counted, number],
        cuts=[lane.form.product, grid, largest, *product, x.zero],
    )
    proof.lemma(
        "product: its size on the grid",
        within(theirs.sext(_BITS), graphs.largest_aligned),
        [enters, zero, small],
        cuts=[largest, *product, x.zero],
    )
    bound = within(own, graphs.largest_aligned)
    equal = same(own, theirs)
    proof.lemma(
        "product: the integer's size",
        bound,
        [equal, within(theirs.sext(_BITS), graphs.largest_aligned)],
        cuts=[own, theirs],
    )
    return proof.theorem(equal, bound)


def _zero(proof: FormDerivation, x: Number) -> Term:
    """A fact: a zero has no significand."""
    fact = ~x.zero | x.significand.eq(0)
    proof.lemma("product: of a zero", fact)
    return fact


def within(word: Term, most: int) -> Term:
    """Whether a two's complement word lies between -most and most."""
    return (word + most).ule(2 * most)


def _largest_significand(graphs: GridGraphs) -> int:
    a, b = ((2 << fmt.fraction_bits) - 1 for fmt in graphs.factor_formats)
    return a * b


# --- exact products


def _product_word(proof: FormDerivation, graphs: GridGraphs, reach: Sequence[Term]) -> Term:
    """A fact: the product's word is the exact product's in binary32. reach: facts about its exponent."""
    lane = graphs.lanes[0]
    x, number = lane.product, is_number(lane.product)
    own, formats = graphs.formats
    words = zip(lane.inputs[:2], own, formats, strict=True)
    sides = [dp.decode(fmt, widen(word, narrow, fmt)) for word, narrow, fmt in words]
    wide = [dp.decode(_WIDE, word) for word in lane.form.factors]
    exact = native.product(*lane.form.factors)
    zeros = [_leading_zeros(fmt, side) for fmt, side in zip(formats, sides, strict=True)]
    size, room = x.significand.width, exact.significand.width
    grown = sum(_WIDE.fraction_bits - fmt.fraction_bits for fmt in formats)
    by = total(*(z.zext(room) for z in zeros))
    significand = exact.significand.eq((x.significand.zext(room) << grown) << by)
    narrow = total(*(z.zext(size) for z in zeros))
    lossless = ((x.significand << narrow) >> narrow).eq(x.significand)
    _by_leading_zeros(proof, graphs, sides, wide, zeros, exact, significand & lossless)
    plain = ~exact.nan & ~exact.infinite & exact.sign.eq(x.sign)
    proof.lemma("product: a number of binary32", plain, [number])
    bits = 16
    moved = x.exponent.term.zext(bits) + x.exponent.low - total(*(z.zext(bits) for z in zeros))
    empty = x.significand.eq(0)
    exponent = empty | (exact.exponent.term.zext(bits) + exact.exponent.low).eq(moved)
    proof.lemma("product: its exponent in binary32", exponent, [number])
    word = _word_of(lane.form.product, x)
    proof.lemma(
        "product: its word", word, [significand & lossless, plain, exponent, *reach],
        cuts=[
            exact.significand, x.significand, *zeros, exact.exponent.term, x.exponent.term, exact.sign,
            x.sign, exact.nan, exact.infinite,
        ],
    )  # fmt: skip
    return word


def _leading_zeros(fmt: Format, side: Number) -> Term:
    """By how many places a significand is shifted in binary32; none where that has no more exponents."""
    if fmt.e_min - fmt.fraction_bits < _WIDE.e_min:
        return const(0, 1)
    return leading_zeros(side.significand)[1]


def _by_leading_zeros(
    proof: FormDerivation,
    graphs: GridGraphs,
    sides: Sequence[Number],
    wide: Sequence[Number],
    zeros: Sequence[Term],
    exact: Number,
    conclusion: Term,
) -> None:
    """The product of significands, in cases: how many leading zeros the first factor has, then the second."""
    number = is_number(graphs.lanes[0].product)
    cases, none = [], [side.significand.eq(0) for side in sides]
    for name, side, zero, empty in zip("ab", sides, zeros, none, strict=True):
        most = side.significand.width if zero.value is None else 1
        cases.append([*(zero.eq(count) for count in range(most)), empty])
        proof.lemma(f"product: leading zeros of {name}", any_of(cases[-1]))

    def of_a(within: FormDerivation, first: int) -> None:
        if first == len(cases[0]) - 1:
            within.lemma("product: a is zero", conclusion, [none[0], number])
            return
        _shifted(within, sides[0], wide[0], cases[0][first], first, number)
        within.by_cases(cases[1], conclusion, lambda inner, second: of_b(inner, first, second))

    def of_b(within: FormDerivation, first: int, second: int) -> None:
        if second == len(cases[1]) - 1:
            within.lemma("product: b is zero", conclusion, [none[1], number])
            return
        _shifted(within, sides[1], wide[1], cases[1][second], second, number)
        equal, parts = {}, []
        for side, own, zero, count in zip(sides, wide, zeros, (first, second), strict=True):
            parts.append(_low(side, count))
            equal[side.significand] = parts[-1].zext(side.significand.width)
            equal[own.significand] = _raised(side, own, count)
            if zero.value is None:
                equal[zero] = const(count, zero.width)
        cuts = [part for part in parts if part.value is None]
        within.lemma("product: of significands", conclusion, equal=equal, cuts=cuts)

    proof.by_cases(cases[0], conclusion, of_a)


def _low(side: Number, count: int) -> Term:
    """A significand below its leading zeros."""
    return side.significand[side.significand.width - 1 - count : 0]


def _raised(side: Number, wide: Number, count: int) -> Term:
    """It without them, in binary32."""
    places = wide.fraction_bits - side.fraction_bits + count
    return _low(side, count).zext(wide.significand.width) << places


def _shifted(proof: FormDerivation, side: Number, wide: Number, case: Term, count: int, number: Term) -> None:
    """Facts of a factor with so many leading zeros: its significand, here and in binary32."""
    low = side.significand.eq(_low(side, count).zext(side.significand.width))
    proof.lemma("a factor's low bits", low, [case])
    proof.lemma("a factor in binary32", wide.significand.eq(_raised(side, wide, count)), [case, number])


def _word_of(word: Term, x: Number) -> Term:
    """Whether a word is that of an exact product in binary32: the very number, or where that is below the
    smallest normal number, one that is no larger than this.
    """
    empty = x.significand.eq(0)
    normal = dp.normalise_number(replace(x, zero=empty))
    fraction = normal.significand[normal.fraction_bits - 1 : 0]
    fraction = fraction.concat(const(0, _WIDE.fraction_bits - fraction.width))
    field = normal.exponent.within(-_WIDE.bias, max(normal.exponent.high, _WIDE.e_max))
    field = field[_WIDE.exponent_bits - 1 : 0]
    number = word.eq(x.sign.concat(empty.ite(0, field.concat(fraction))))
    least = _WIDE.e_min - normal.exponent.low
    if least <= 0:
        return number
    small = ~empty & normal.exponent.term.ult(least)
    return small.ite(word[_BITS - 2 : 0].ule(1 << _WIDE.fraction_bits), number)


# --- sums


def same(one: Term, other: Term) -> Term:
    """Whether two words are the same number in two's complement."""
    return one.sext(_ROOM).eq(other.sext(_ROOM))


def same_addends(proof: FormDerivation, graphs: GridGraphs, width: int) -> list[Term]:
    """What the model sums, lane by lane, in words of so many bits; facts: the form sums the same."""
    theirs = [lane.aligned.sext(width) for lane in graphs.lanes]
    for lane, wide in zip(graphs.lanes, theirs, strict=True):
        mine, word = lane.form.aligned, lane.aligned
        proof.lemma("an addend", same(mine, wide), [same(mine, word)], cuts=[mine, word])
    return theirs


def same_sum(
    proof: FormDerivation, most: int, own: Sequence[Term], words: Sequence[Term], theirs: Sequence[Term]
) -> None:
    """Facts: the sums of some addends are the same, and of a known size: by those of both halves.

    most: the size of an addend. own: the form's; words: the model's, and theirs: the same, extended.
    """
    count = len(own)
    if count == 1:
        return
    halves = slice(count // 2), slice(count // 2, count)
    premises, cuts = [], []
    for half in halves:
        same_sum(proof, most, own[half], words[half], theirs[half])
        sums = total(*own[half]), total(*theirs[half])
        size = len(own[half])
        premises += [same(*sums), within(sums[0], size * most)]
        # an addend is extended in several places, to several widths: what is free is its own word
        cuts += [sums[0], words[half][0] if size == 1 else sums[1]]
    parts, lasts = ([total(*side[half]) for side in (own, theirs)] for half in halves)
    pairs = [total(part, last) for part, last in zip(parts, lasts, strict=True)]
    wholes = [total(*side) for side in (own, theirs)]
    both_ways = joined(proof, wholes, parts, lasts, pairs)
    for of_pairs, of_wholes in (
        (same(*pairs), same(*wholes)),
        (within(pairs[0], count * most), within(wholes[0], count * most)),
    ):
        proof.lemma(f"the sum of {count} products", of_pairs, premises, cuts=cuts)
        proof.lemma("a sum", of_wholes, [of_pairs, *both_ways], cuts=[*wholes, *pairs])


# --- where every product is zero


def vanished(proof: FormDerivation, graphs: GridGraphs) -> dict[Term, Term]:
    """Facts where no product counts; what is equal to what: there is nothing on the grid."""
    form, largest = graphs.form, var("the model's grid", graphs.top.term.width)
    theorem = _vanished(graphs, proof.lemmas, largest)
    equal: dict[Term, Term] = {}
    for lane in graphs.lanes:
        own = lane.form.exponent
        premises = [~form.counts, own.ule(form.largest_product)]
        proof.lemma("no product counts", own.ult(form.least), premises, cuts=[own, form.largest_product])
        proof.apply(theorem, _lane_values(graphs, lane) | {largest: graphs.top.term})
        equal |= {lane.aligned: const(0, lane.aligned.width), lane.entering: _of_a_zero(graphs)}
    return equal


def _vanished(graphs: GridGraphs, lemmas: dict[Term, Obligation], largest: Term) -> Implication:
    """Of a lane whose exponent word says that its product is zero."""
    lane, form = graphs.lanes[0], graphs.form
    x = lane.product
    below, number = lane.form.exponent.ult(form.least), is_number(lane.scaled)
    proof = FormDerivation((below, number), lemmas)
    empty, enters = x.significand.eq(0), lane.entering.eq(_of_a_zero(graphs))
    for what, conclusion in (("no significand", empty), ("its exponent", enters)):
        proof.lemma(f"zero product: {what}", conclusion, [below, number])
    (theirs,) = substitute([lane.aligned], {graphs.top.term: largest})
    nothing = theirs.eq(0)
    cuts = [x.significand, x.exponent.term, x.sign, largest]
    proof.lemma("zero product: nothing on the grid", nothing, [empty], cuts=cuts)
    return proof.theorem(nothing, enters)


def _of_a_zero(graphs: GridGraphs) -> Term:
    """The exponent with which a product of zeros enters."""
    lane = graphs.lanes[0]
    zeros = {word: const(0, word.width) for word in variables([lane.entering])}
    (exponent,) = substitute([lane.entering], zeros)
    return exponent
