"""That a form in floating-point operations gives the model's words: the lemmas, and how they compose.

From words on which the form's guard is 0, stage by stage: what a lane's exponent word says, its exact
product, and what of it is on the grid; c alike; the largest exponent; the sum; the result. A product of
significands is taken apart by the leading zeros of its factors, as binary32 has none. Of several lanes one is
proved about, for any grid; what holds of it holds of the others. Where every product is zero, c alone is the
result.

:func:`deduced` returns the deduction; the form gives the model's words if none of its lemmas has a solution.
Every step is checked by :mod:`.deduction`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from tcsmt.language.macros import leading_zeros
from tcsmt.language.terms import Term, any_of, const, substitute, total, umax, var, variables
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic import native
from tcsmt.matrix_units.arithmetic.datapath import Exponent, Fixed, Number
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format, float_format
from tcsmt.matrix_units.arithmetic.ieee import widen
from tcsmt.matrix_units.models import FusedDotAdd, Kind, Stage
from tcsmt.matrix_units.models.float_form import FloatForm, LaneOfForm, LastAdditionForm
from tcsmt.prove.engine.deduction import Deduction, Implication, NotDeduced, Obligation
from tcsmt.support.invariants import of_type

__all__ = ["deduced", "deduced_last_addition"]

_WIDE = FORMATS["f32"]
_BITS = _WIDE.width
#: Bits in which sums of both graphs are compared.
_ROOM = 40


@dataclass(frozen=True)
class _Lane:
    """One product in both graphs. scaled: by its scales, if there are any. entering: its exponent in the
    largest one, counted as ``top`` is.
    """

    form: LaneOfForm
    product: Number
    scaled: Number
    entering: Term
    aligned: Term


@dataclass(frozen=True)
class _Graphs:
    """A model's graph and a form's."""

    model: FusedDotAdd
    form: FloatForm

    @cached_property
    def top(self) -> Exponent:
        """The largest exponent."""
        return of_type(self._one(Kind.LARGEST_EXPONENT).value, Exponent)

    @cached_property
    def sum(self) -> Term:
        """The sum's word."""
        return self._one(Kind.SUM).term

    @cached_property
    def aligned_c(self) -> Term:
        """c on the grid."""
        return self._one(Kind.ALIGNED_C).term

    def _one(self, kind: Kind) -> Stage:
        stages = self.model.trace.of(kind)
        if len(stages) != 1:
            raise NotDeduced(f"{len(stages)} stages of the kind {kind.value!r}")
        return stages[0]

    @cached_property
    def lanes(self) -> list[_Lane]:
        """All lanes, in order."""
        trace = self.model.trace
        products, aligned = trace.of(Kind.PRODUCT), trace.of(Kind.ALIGNED_PRODUCT)
        scaled = trace.of(Kind.SCALED_PRODUCT) or products
        return [
            _Lane(
                form,
                of_type(product.value, Number),
                of_type(with_scales.value, Number),
                self._entering(*self.inputs(lane)),
                on_grid.term,
            )
            for lane, (form, product, with_scales, on_grid) in enumerate(
                zip(self.form.lanes, products, scaled, aligned, strict=True)
            )
        ]

    def inputs(self, lane: int) -> list[Term]:
        """The words of a lane: of a, of b, and its scales."""
        words, of_all = self.model.trace.operands, [self.model.trace.a[lane], self.model.trace.b[lane]]
        for side in (words.scale_a, words.scale_b):
            of_all += [side[lane * len(side) // self.model.k]] if side else []
        return of_all

    @property
    def fraction_bits(self) -> int:
        """Of what is aligned."""
        return of_type(self._one(Kind.ALIGNED_C).value, Fixed).fraction_bits

    @cached_property
    def c(self) -> Term:
        """c's exponent in the largest one."""
        return self._entering(self.model.trace.c)

    @property
    def c_is_number(self) -> Term:
        """Whether c is neither a NaN nor an infinity."""
        return _is_number(dp.decode(float_format(self.model.c_format), self.model.trace.c))

    def _entering(self, *inputs: Term) -> Term:
        own = [arg for arg in self.top.term.args if set(variables([arg])) == set(inputs)]
        if len(own) != 1:
            raise NotDeduced(f"{len(own)} exponents of {inputs}")
        return own[0]

    def grid(self, exponent: Term) -> Term:
        """An exponent of the model as the form counts them, in two's complement."""
        return exponent.zext(_BITS) + (self.top.low + _WIDE.bias + self.form.bias)

    def alike(self, own: Term, exponent: Term) -> Term:
        """That both graphs say the same exponent, or both one below any grid's."""
        counted, floor = self.grid(exponent), self.form.floor
        own = own.zext(_BITS)
        return own.eq(counted) | own.ult(floor) & counted.slt(const(floor, _BITS))


def deduced(model: FusedDotAdd, form: FloatForm) -> Deduction:
    """That a form gives the model's words wherever its guard is 0.

    Raises :class:`.NotDeduced` where the argument does not go through.
    """
    graphs = _Graphs(model, form)
    proof = Deduction((~form.guard,))
    _exponents_and_numbers(proof, graphs)
    counts = form.counts
    cases = (counts, ~counts)
    proof.lemma("some product counts, or none does", any_of(cases))
    same = form.result.eq(model.trace.output)
    proof.by_cases(cases, same, lambda case, number: (_counted, _c_alone)[number](case, graphs))
    proof.theorem(same)
    return proof


def deduced_last_addition(form: LastAdditionForm) -> Deduction:
    """That the form of a last addition gives the model's words wherever its guard is 0."""
    proof = Deduction((~form.guard,))
    same = form.result.eq(form.expected)
    proof.lemma("the last addition", same, [~form.guard])
    proof.theorem(same)
    return proof


# --- exponents


def _exponents_and_numbers(proof: Deduction, graphs: _Graphs) -> None:
    """What holds in both cases: no NaNs and infinities; exponents of all lanes and of c."""
    form = graphs.form
    top, largest = form.top, form.largest_product
    proof.lemma("the grid is in range", top.ult(form.limit), [~form.guard], cuts=[top])
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
    limits = [top.ult(form.limit), graphs.form.c_exponent.ule(top)]
    proof.lemma("c is a number", graphs.c_is_number, limits, cuts=[top])
    proof.lemma("c's exponent", graphs.alike(graphs.form.c_exponent, graphs.c), limits, cuts=[top])
    numbers = [_is_number(lane.scaled) for lane in graphs.lanes]
    nan, infinite, _ = _result(graphs)
    proof.lemma("the result is a number", ~nan & ~infinite, [*numbers, graphs.c_is_number])


def _is_number(x: Number) -> Term:
    return ~(x.nan | x.infinite)


def _of_lane(graphs: _Graphs) -> tuple[Term, Term]:
    """Of the first lane, whose exponent word is not above the grid: a number, of an exponent in reach."""
    x = graphs.lanes[0].scaled
    return _is_number(x), _below_limit(graphs, x) | x.zero


def _below_limit(graphs: _Graphs, x: Number) -> Term:
    """Whether an exponent is below every grid that is left to the model."""
    highest = graphs.form.limit - graphs.form.bias - _WIDE.bias - x.exponent.low
    return x.exponent.term.zext(_BITS).slt(const(highest, _BITS))


def _lane_values(graphs: _Graphs, lane: _Lane) -> dict[Term, Term]:
    """The first lane's inputs, as another's."""
    return dict(zip(graphs.inputs(0), graphs.inputs(graphs.lanes.index(lane)), strict=True))


def _exponents(graphs: _Graphs, lemmas: dict[Term, Obligation], grid: Term) -> Implication:
    """Of a lane whose exponent word is not above the grid."""
    lane, form = graphs.lanes[0], graphs.form
    own = lane.form.exponent
    hypotheses = grid.ult(form.limit), own.zext(_BITS).ule(grid)
    proof = Deduction(hypotheses, lemmas)
    number, reach = _of_lane(graphs)
    conclusions = [number, graphs.alike(own, lane.entering), reach]
    for what, conclusion in zip(("a number", "the exponent", "its reach"), conclusions, strict=True):
        proof.lemma(f"product: {what}", conclusion, hypotheses, cuts=[grid])
    return proof.theorem(*conclusions)


# --- where some product counts


def _counted(proof: Deduction, graphs: _Graphs) -> None:
    form = graphs.form
    _grid(proof, graphs)
    top, largest = form.top, graphs.top.term
    grids = var("the form's grid", _BITS), var("the model's grid", largest.width)
    values = dict(zip(grids, (top, largest), strict=True))
    proof.lemma(
        "the grid is in reach",
        _in_reach(form, top),
        _reached(proof, graphs),
        cuts=[top, form.largest_product],
    )
    theorem = _aligned(graphs, proof.lemmas, *grids)
    for lane in graphs.lanes:
        proof.apply(theorem, _lane_values(graphs, lane) | values)
    same = top.eq(graphs.grid(largest))
    reach = [top.ult(form.limit), _in_reach(form, top)]
    proof.lemma(
        "c on the grid",
        _same(form.aligned_c, graphs.aligned_c),
        [same, *reach, graphs.c.ule(largest), graphs.c_is_number],
        cuts=[top, largest],
    )
    _sum(proof, graphs)
    _, _, finite = _result(graphs)
    sums = _same(form.sum, graphs.sum)
    bound = _within(form.sum, _largest_sum(graphs)) if form.overflow is None else ~form.overflow[_BITS - 1]
    parts = [] if form.overflow is None else [*form.totals, *form.groups, form.aligned_c]
    proof.lemma(
        "the rounded sum",
        form.counted.eq(finite),
        [same, *reach, sums, bound],
        cuts=[form.sum, top, graphs.sum, largest, *parts],
    )
    _conclude(proof, graphs, form.counted, [form.counts])


def _in_reach(form: FloatForm, grid: Term) -> Term:
    """Whether a grid is one on which products count."""
    return ~grid.ult(form.floor + (form.floor > form.least))


def _reached(proof: Deduction, graphs: _Graphs) -> list[Term]:
    """Facts, by which the largest exponent is a grid's: some product counts, or else the guard would be 1."""
    form = graphs.form
    premises = [form.counts, form.largest_product.zext(_BITS).ule(form.top)]
    if form.floor > form.least:
        fact = ~form.top.ule(form.floor)
        proof.lemma("a larger grid", fact, [~form.guard, form.counts], cuts=[form.top, form.largest_product])
        premises.append(fact)
    return premises


def _conclude(proof: Deduction, graphs: _Graphs, word: Term, premises: Sequence[Term]) -> None:
    """From the word of a case to the results of both graphs."""
    form, output = graphs.form, graphs.model.trace.output
    nan, infinite, finite = _result(graphs)
    proof.lemma(
        "the result",
        form.result.eq(output),
        [word.eq(finite), ~nan & ~infinite, *premises],
        cuts=[form.counted, form.c_alone, finite, nan, infinite, form.largest_product],
    )


def _result(graphs: _Graphs) -> tuple[Term, Term, Term]:
    """Of the model's output: whether it is a NaN, whether it is infinite, and the word if it is neither."""
    output = graphs.model.trace.output
    if output.op != "ite" or output.args[2].op != "ite":
        raise NotDeduced("the output is not a NaN, an infinity or a number")
    nan, _, rest = output.args
    return nan, rest.args[0], rest.args[2]


def _grid(proof: Deduction, graphs: _Graphs) -> None:
    """That both grids are the same: by one exponent after the other."""
    form = graphs.form
    own = [lane.form.exponent for lane in graphs.lanes]
    theirs = [lane.entering for lane in graphs.lanes]
    for count in range(2, len(own) + 1):
        parts, lasts = zip(*((umax(*x[: count - 1]), x[count - 1]) for x in (own, theirs)), strict=True)
        pair = [umax(part, last) for part, last in zip(parts, lasts, strict=True)]
        wholes = [umax(*x[:count]) for x in (own, theirs)]
        premises = [graphs.alike(*parts), graphs.alike(*lasts)]
        what = "the largest exponent of products"
        proof.lemma(what, graphs.alike(*pair), premises, cuts=[*parts, *lasts])
        joined = _joined(proof, wholes, parts, lasts, pair)
        proof.lemma(what, graphs.alike(*wholes), [graphs.alike(*pair), *joined], cuts=[*wholes, *pair])
    largest, products = graphs.top.term, umax(*theirs)
    proof.joined(largest, products, graphs.c)
    premises = [
        graphs.alike(form.largest_product, products),
        graphs.alike(graphs.form.c_exponent, graphs.c),
        largest.eq(umax(products, graphs.c)),
        *_reached(proof, graphs),
    ]
    proof.lemma(
        "the largest exponent",
        form.top.eq(graphs.grid(largest)),
        premises,
        cuts=[form.largest_product, products, form.c_field, graphs.c, largest],
    )


def _joined(
    proof: Deduction,
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


def _aligned(graphs: _Graphs, lemmas: dict[Term, Obligation], grid: Term, largest: Term) -> Implication:
    """Of a lane: what both graphs sum is the same integer, of a known size."""
    form, lane, top = graphs.form, graphs.lanes[0], graphs.top.term
    own, theirs = substitute([lane.form.aligned, lane.aligned], {form.top: grid, top: largest})
    x = lane.product
    same, on_grid = grid.eq(graphs.grid(largest)), [grid.ult(form.limit), _in_reach(form, grid)]
    hypotheses = same, *on_grid, lane.entering.ule(largest), *_of_lane(graphs)
    proof = Deduction(hypotheses, lemmas)
    zero = _zero(proof, x)
    number, reach = _of_lane(graphs)
    counted = x.exponent.term.ule(x.exponent.high - x.exponent.low)
    proof.lemma("product: a number without its scales", _is_number(x), [number])
    proof.lemma("product: its exponent as it is counted", counted, [_is_number(x)])
    inside = x.significand.eq(0) | _below_limit(graphs, lane.scaled)
    proof.lemma("product: the reach of its exponent", inside, [reach, zero], cuts=[x.significand])
    word = _product_word(proof, graphs, [inside, counted])
    small = x.significand.ule(_largest_significand(graphs))
    proof.lemma("product: its size", small)
    entering = lane.entering.ule(largest)
    product = [x.significand, x.exponent.term, x.sign]
    proof.lemma(
        "product: on the grid",
        _same(own, theirs),
        [word, same, *on_grid, entering, zero, small, inside, counted, number],
        cuts=[lane.form.product, grid, largest, *product, x.zero],
    )
    proof.lemma(
        "product: its size on the grid",
        _within(theirs.sext(_BITS), _largest_aligned(graphs)),
        [entering, zero, small],
        cuts=[largest, *product, x.zero],
    )
    bound = _within(own, _largest_aligned(graphs))
    equal = _same(own, theirs)
    proof.lemma(
        "product: the integer's size",
        bound,
        [equal, _within(theirs.sext(_BITS), _largest_aligned(graphs))],
        cuts=[own, theirs],
    )
    return proof.theorem(equal, bound)


def _zero(proof: Deduction, x: Number) -> Term:
    """A fact: a zero has no significand."""
    fact = ~x.zero | x.significand.eq(0)
    proof.lemma("product: of a zero", fact)
    return fact


def _within(word: Term, most: int) -> Term:
    """Whether a two's complement word lies between -most and most."""
    return (word + most).ule(2 * most)


def _largest_significand(graphs: _Graphs) -> int:
    a, b = ((2 << fmt.fraction_bits) - 1 for fmt in graphs.model.factor_formats)
    return a * b


def _largest_aligned(graphs: _Graphs) -> int:
    places = graphs.fraction_bits - sum(fmt.fraction_bits for fmt in graphs.model.factor_formats)
    largest = _largest_significand(graphs)
    return largest << places if places >= 0 else largest >> -places


def _largest_sum(graphs: _Graphs) -> int:
    return _largest_aligned(graphs) * len(graphs.lanes) + (2 << graphs.fraction_bits)


# --- exact products


def _product_word(proof: Deduction, graphs: _Graphs, reach: Sequence[Term]) -> Term:
    """A fact: the product's word is the exact product's in binary32. reach: facts about its exponent."""
    lane, trace = graphs.lanes[0], graphs.model.trace
    x, number, model = lane.product, _is_number(lane.product), graphs.model
    formats, words = model.factor_formats, ((trace.a[0], model.a_format), (trace.b[0], model.b_format))
    sides = [dp.decode(fmt, widen(*word, fmt)) for fmt, word in zip(formats, words, strict=True)]
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
    proof: Deduction,
    graphs: _Graphs,
    sides: Sequence[Number],
    wide: Sequence[Number],
    zeros: Sequence[Term],
    exact: Number,
    conclusion: Term,
) -> None:
    """The product of significands, in cases: how many leading zeros the first factor has, then the second."""
    number = _is_number(graphs.lanes[0].product)
    cases, none = [], [side.significand.eq(0) for side in sides]
    for name, side, zero, empty in zip("ab", sides, zeros, none, strict=True):
        most = side.significand.width if zero.value is None else 1
        cases.append([*(zero.eq(count) for count in range(most)), empty])
        proof.lemma(f"product: leading zeros of {name}", any_of(cases[-1]))

    def of_a(within: Deduction, first: int) -> None:
        if first == len(cases[0]) - 1:
            within.lemma("product: a is zero", conclusion, [none[0], number])
            return
        _shifted(within, sides[0], wide[0], cases[0][first], first, number)
        within.by_cases(cases[1], conclusion, lambda inner, second: of_b(inner, first, second))

    def of_b(within: Deduction, first: int, second: int) -> None:
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


def _shifted(proof: Deduction, side: Number, wide: Number, case: Term, count: int, number: Term) -> None:
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


def _same(one: Term, other: Term) -> Term:
    """Whether two words are the same number in two's complement."""
    return one.sext(_ROOM).eq(other.sext(_ROOM))


def _sum(proof: Deduction, graphs: _Graphs) -> None:
    """That both graphs sum the same integers: one addend after the other, group by group, and c."""
    form, whole, most = graphs.form, graphs.sum, _largest_aligned(graphs)
    theirs = [lane.aligned.sext(whole.width) for lane in graphs.lanes]
    for lane, wide in zip(graphs.lanes, theirs, strict=True):
        mine, word = lane.form.aligned, lane.aligned
        proof.lemma("an addend", _same(mine, wide), [_same(mine, word)], cuts=[mine, word])
    size = len(graphs.lanes) // len(form.groups)
    for first in range(0, len(graphs.lanes), size):
        _sum_of_group(proof, graphs, range(first, first + size), theirs)
    lost = _lost(proof, graphs)
    of_groups = [total(*theirs[first : first + size]) for first in range(0, len(theirs), size)]
    before = of_groups[0]
    for number in range(1, len(of_groups)):
        group, last, after = form.groups[number], of_groups[number], total(*theirs[: (number + 1) * size])
        proof.joined(after, before, last)
        premises = [
            _same(form.totals[number - 1], before),
            _same(group, last),
            _within(group, size * most),
            after.eq(total(before, last)),
            lost[number - 1],
        ]
        cuts = [form.totals[number - 1], before, group, last, after]
        proof.lemma("the sum of groups", _same(form.totals[number], after), premises, cuts=cuts)
        before = after
    _sum_with_c(proof, graphs, before, lost)


def _sum_of_group(proof: Deduction, graphs: _Graphs, lanes: range, theirs: Sequence[Term]) -> None:
    """The same of the sums of some neighbouring lanes."""
    most = _largest_aligned(graphs)
    words = [graphs.lanes[lane].aligned for lane in lanes]
    both = [graphs.lanes[lane].form.aligned for lane in lanes], [theirs[lane] for lane in lanes]
    for count in range(2, len(lanes) + 1):
        parts, lasts = zip(*((total(*x[: count - 1]), x[count - 1]) for x in both), strict=True)
        pairs = [total(part, last) for part, last in zip(parts, lasts, strict=True)]
        wholes = [total(*x[:count]) for x in both]
        joined = _joined(proof, wholes, parts, lasts, pairs)
        premises = [
            _same(*parts),
            _same(*lasts),
            _within(parts[0], (count - 1) * most),
            _within(lasts[0], most),
        ]
        # an addend is extended in several places, to several widths: what is free is its own word
        cuts = [parts[0], words[0] if count == 2 else parts[1], lasts[0], words[count - 1]]
        for of_pairs, of_wholes in (
            (_same(*pairs), _same(*wholes)),
            (_within(pairs[0], count * most), _within(wholes[0], count * most)),
        ):
            proof.lemma(f"the sum of {count} products", of_pairs, premises, cuts=cuts)
            proof.lemma("a sum", of_wholes, [of_pairs, *joined], cuts=[*wholes, *pairs])


def _lost(proof: Deduction, graphs: _Graphs) -> list[Term]:
    """Facts: no sum is too large for its word."""
    form = graphs.form
    if form.overflow is None:
        return []
    fits = ~form.overflow[_BITS - 1]
    proof.lemma("no sum is too large", fits, [~form.guard], cuts=[form.overflow, form.top])
    facts = [~loss[_BITS - 1] for loss in form.losses]
    for fact in facts:
        proof.lemma("a sum is not too large", fact, [fits], cuts=form.overflow.args)
    return facts


def _sum_with_c(proof: Deduction, graphs: _Graphs, products: Term, lost: Sequence[Term]) -> None:
    form, whole = graphs.form, graphs.sum
    last = graphs.aligned_c.sext(whole.width)
    proof.joined(whole, products, last)
    size = 2 << graphs.fraction_bits
    fits = _within(graphs.aligned_c.sext(_BITS), size)
    proof.lemma("c: its size on the grid", fits, [graphs.c.ule(graphs.top.term)], cuts=[graphs.top.term])
    premises = [
        _same(form.totals[-1], products),
        _same(form.aligned_c, graphs.aligned_c),
        fits,
        whole.eq(total(products, last)),
        *lost[-1:],
    ]
    if len(form.groups) == 1:
        premises.append(_within(form.totals[0], len(graphs.lanes) * _largest_aligned(graphs)))
    cuts = [form.totals[-1], products, form.aligned_c, graphs.aligned_c, whole]
    proof.lemma("the sum", _same(form.sum, whole), premises, cuts=cuts)
    if form.overflow is None:
        proof.lemma("the sum's size", _within(form.sum, _largest_sum(graphs)), premises, cuts=cuts)


# --- where every product is zero


def _c_alone(proof: Deduction, graphs: _Graphs) -> None:
    form, largest = graphs.form, var("the model's grid", graphs.top.term.width)
    theorem = _vanished(graphs, proof.lemmas, largest)
    equal: dict[Term, Term] = {}
    for lane in graphs.lanes:
        own = lane.form.exponent
        premises = [~form.counts, own.ule(form.largest_product)]
        proof.lemma("no product counts", own.ult(form.least), premises, cuts=[own, form.largest_product])
        proof.apply(theorem, _lane_values(graphs, lane) | {largest: graphs.top.term})
        equal |= {lane.aligned: const(0, lane.aligned.width), lane.entering: _of_a_zero(graphs)}
    _, _, finite = _result(graphs)
    premises = [form.top.ult(form.limit), graphs.form.c_exponent.ule(form.top)]
    proof.lemma("c alone", form.c_alone.eq(finite), premises, equal=equal, cuts=[form.top])
    _conclude(proof, graphs, form.c_alone, [~form.counts])


def _vanished(graphs: _Graphs, lemmas: dict[Term, Obligation], largest: Term) -> Implication:
    """Of a lane whose exponent word says that its product is zero."""
    lane, form = graphs.lanes[0], graphs.form
    x = lane.product
    below, number = lane.form.exponent.ult(form.least), _is_number(lane.scaled)
    proof = Deduction((below, number), lemmas)
    empty, entering = x.significand.eq(0), lane.entering.eq(_of_a_zero(graphs))
    for what, conclusion in (("no significand", empty), ("its exponent", entering)):
        proof.lemma(f"zero product: {what}", conclusion, [below, number])
    (theirs,) = substitute([lane.aligned], {graphs.top.term: largest})
    vanished = theirs.eq(0)
    cuts = [x.significand, x.exponent.term, x.sign, largest]
    proof.lemma("zero product: nothing on the grid", vanished, [empty], cuts=cuts)
    return proof.theorem(vanished, entering)


def _of_a_zero(graphs: _Graphs) -> Term:
    """The exponent with which a product of zeros enters."""
    lane = graphs.lanes[0]
    zeros = {word: const(0, word.width) for word in variables([lane.entering])}
    (exponent,) = substitute([lane.entering], zeros)
    return exponent
