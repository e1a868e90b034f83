"""That a form in floating-point operations gives the model's words: the lemmas, and how they compose.

From words on which the form's guard is 0, stage by stage: the products on their grid
(:mod:`.product_grid_proof`); c alike; the largest exponent; the sum; the result. Where every product is zero,
c alone is the result.

:func:`derive_proof` returns the derivation; the form gives the model's words if no lemma has a solution.
Every step is checked by :mod:`.deduction`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from form_proofs.deduction import FormDerivation, ProofFailed
from form_proofs.product_grid_proof import (
    GridGraphs,
    Lane,
    entering,
    in_reach,
    is_number,
    reached,
    same,
    same_addends,
    same_aligned,
    same_exponents,
    same_largest_products,
    same_sum,
    vanished,
    within,
)
from tcsmt.language.terms import Term, any_of, total, umax
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic.datapath import Exponent, Fixed, Number
from tcsmt.matrix_units.arithmetic.formats import FORMATS, float_format
from tcsmt.matrix_units.models import FusedDotAdd, Kind, Stage
from tcsmt.simulate.forms.float_form import FloatForm, LastAdditionForm
from tcsmt.support.invariants import checked_cast

__all__ = ["derive_last_addition", "derive_proof"]

_WIDE = FORMATS["f32"]
_BITS = _WIDE.width


@dataclass(frozen=True)
class _Graphs(GridGraphs):
    """A model's graph and a form's."""

    model: FusedDotAdd
    form: FloatForm

    @classmethod
    def of(cls, model: FusedDotAdd, form: FloatForm) -> _Graphs:
        """Raises :class:`.ProofFailed` where the model has not the stages of one sum."""
        trace = model.trace
        top = checked_cast(_one(model, Kind.LARGEST_EXPONENT).value, Exponent)
        products, aligned = trace.of(Kind.PRODUCT), trace.of(Kind.ALIGNED_PRODUCT)
        scaled = trace.of(Kind.SCALED_PRODUCT) or products
        lanes = []
        for number, (own, *stages) in enumerate(zip(form.lanes, products, scaled, aligned, strict=True)):
            inputs = _inputs(model, number)
            product, with_scales, word = stages
            values = checked_cast(product.value, Number), checked_cast(with_scales.value, Number)
            lanes.append(Lane(inputs, own, *values, entering(top.term, inputs), word.term))
        formats = (float_format(model.a_format), float_format(model.b_format)), model.factor_formats
        fraction_bits = checked_cast(_one(model, Kind.ALIGNED_C).value, Fixed).fraction_bits
        return cls(
            form=form, top=top, lanes=tuple(lanes), formats=formats, fraction_bits=fraction_bits, model=model
        )

    @property
    def sum(self) -> Term:
        """The sum's word."""
        return _one(self.model, Kind.SUM).term

    @property
    def aligned_c(self) -> Term:
        """c on the grid."""
        return _one(self.model, Kind.ALIGNED_C).term

    @cached_property
    def c(self) -> Term:
        """c's exponent in the largest one."""
        return entering(self.top.term, [self.model.trace.c])

    @property
    def c_is_number(self) -> Term:
        """Whether c is neither a NaN nor an infinity."""
        return is_number(dp.decode(float_format(self.model.c_format), self.model.trace.c))


def _one(model: FusedDotAdd, kind: Kind) -> Stage:
    stages = model.trace.of(kind)
    if len(stages) != 1:
        raise ProofFailed(f"{len(stages)} stages of the kind {kind.value!r}")
    return stages[0]


def _inputs(model: FusedDotAdd, lane: int) -> tuple[Term, ...]:
    """The words of a lane: of a, of b, and its scales."""
    words, of_all = model.trace.operands, [model.trace.a[lane], model.trace.b[lane]]
    for side in (words.scale_a, words.scale_b):
        of_all += [side[lane * len(side) // model.k]] if side else []
    return tuple(of_all)


def derive_proof(model: FusedDotAdd, form: FloatForm) -> FormDerivation:
    """That a form gives the model's words wherever its guard is 0.

    Raises :class:`.ProofFailed` where the argument does not go through.
    """
    graphs = _Graphs.of(model, form)
    proof = FormDerivation((~form.guard,))
    _exponents_and_numbers(proof, graphs)
    counts = form.counts
    cases = (counts, ~counts)
    proof.lemma("some product counts, or none does", any_of(cases))
    equal = form.result.eq(model.trace.output)
    proof.by_cases(cases, equal, lambda case, number: (_counted, _c_alone)[number](case, graphs))
    proof.theorem(equal)
    return proof


def derive_last_addition(form: LastAdditionForm) -> FormDerivation:
    """That the form of a last addition gives the model's words wherever its guard is 0."""
    proof = FormDerivation((~form.guard,))
    equal = form.result.eq(form.expected)
    proof.lemma("the last addition", equal, [~form.guard])
    proof.theorem(equal)
    return proof


# --- exponents


def _exponents_and_numbers(proof: FormDerivation, graphs: _Graphs) -> None:
    """What holds in both cases: no NaNs and infinities; exponents of all lanes and of c."""
    form, top = graphs.form, graphs.form.top
    same_exponents(proof, graphs, form.guard)
    limits = [top.ult(form.limit), graphs.form.c_exponent.ule(top)]
    proof.lemma("c is a number", graphs.c_is_number, limits, cuts=[top])
    proof.lemma("c's exponent", graphs.alike(graphs.form.c_exponent, graphs.c), limits, cuts=[top])
    numbers = [is_number(lane.scaled) for lane in graphs.lanes]
    nan, infinite, _ = _result(graphs)
    proof.lemma("the result is a number", ~nan & ~infinite, [*numbers, graphs.c_is_number])


# --- where some product counts


def _counted(proof: FormDerivation, graphs: _Graphs) -> None:
    form = graphs.form
    _grid(proof, graphs)
    top, largest = form.top, graphs.top.term
    proof.lemma(
        "the grid is in reach",
        in_reach(form, top),
        reached(proof, graphs, form.guard),
        cuts=[top, form.largest_product],
    )
    same_aligned(proof, graphs)
    grids = top.eq(graphs.grid(largest))
    reach = [top.ult(form.limit), in_reach(form, top)]
    proof.lemma(
        "c on the grid",
        same(form.aligned_c, graphs.aligned_c),
        [grids, *reach, graphs.c.ule(largest), graphs.c_is_number],
        cuts=[top, largest],
    )
    _sum(proof, graphs)
    _, _, finite = _result(graphs)
    sums = same(form.sum, graphs.sum)
    bound = within(form.sum, _largest_sum(graphs)) if form.overflow is None else ~form.overflow[_BITS - 1]
    parts = [] if form.overflow is None else [*form.totals, *form.groups, form.aligned_c]
    proof.lemma(
        "the rounded sum",
        form.counted.eq(finite),
        [grids, *reach, sums, bound],
        cuts=[form.sum, top, graphs.sum, largest, *parts],
    )
    _conclude(proof, graphs, form.counted, [form.counts])


def _conclude(proof: FormDerivation, graphs: _Graphs, word: Term, premises: Sequence[Term]) -> None:
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
        raise ProofFailed("the output is not a NaN, an infinity or a number")
    nan, _, rest = output.args
    return nan, rest.args[0], rest.args[2]


def _grid(proof: FormDerivation, graphs: _Graphs) -> None:
    """That both grids are the same: by one exponent after the other."""
    form, largest = graphs.form, graphs.top.term
    products = same_largest_products(proof, graphs)
    proof.joined(largest, products, graphs.c)
    premises = [
        graphs.alike(form.largest_product, products),
        graphs.alike(graphs.form.c_exponent, graphs.c),
        largest.eq(umax(products, graphs.c)),
        *reached(proof, graphs, form.guard),
    ]
    proof.lemma(
        "the largest exponent",
        form.top.eq(graphs.grid(largest)),
        premises,
        cuts=[form.largest_product, products, form.c_field, graphs.c, largest],
    )


def _largest_sum(graphs: _Graphs) -> int:
    return graphs.largest_aligned * len(graphs.lanes) + (2 << graphs.fraction_bits)


# --- sums


def _sum(proof: FormDerivation, graphs: _Graphs) -> None:
    """That both graphs sum the same integers: one addend after the other, group by group, and c."""
    form, whole, most = graphs.form, graphs.sum, graphs.largest_aligned
    theirs = same_addends(proof, graphs, whole.width)
    size = len(graphs.lanes) // len(form.groups)
    for first in range(0, len(graphs.lanes), size):
        group = graphs.lanes[first : first + size]
        own, words = zip(*((lane.form.aligned, lane.aligned) for lane in group), strict=True)
        same_sum(proof, most, own, words, theirs[first : first + size])
    lost = _lost(proof, graphs)
    of_groups = [total(*theirs[first : first + size]) for first in range(0, len(theirs), size)]
    before = of_groups[0]
    for number in range(1, len(of_groups)):
        word, last, after = form.groups[number], of_groups[number], total(*theirs[: (number + 1) * size])
        proof.joined(after, before, last)
        premises = [
            same(form.totals[number - 1], before),
            same(word, last),
            within(word, size * most),
            after.eq(total(before, last)),
            lost[number - 1],
        ]
        cuts = [form.totals[number - 1], before, word, last, after]
        proof.lemma("the sum of groups", same(form.totals[number], after), premises, cuts=cuts)
        before = after
    _sum_with_c(proof, graphs, before, lost)


def _lost(proof: FormDerivation, graphs: _Graphs) -> list[Term]:
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


def _sum_with_c(proof: FormDerivation, graphs: _Graphs, products: Term, lost: Sequence[Term]) -> None:
    form, whole = graphs.form, graphs.sum
    last = graphs.aligned_c.sext(whole.width)
    proof.joined(whole, products, last)
    size = 2 << graphs.fraction_bits
    fits = within(graphs.aligned_c.sext(_BITS), size)
    proof.lemma("c: its size on the grid", fits, [graphs.c.ule(graphs.top.term)], cuts=[graphs.top.term])
    premises = [
        same(form.totals[-1], products),
        same(form.aligned_c, graphs.aligned_c),
        fits,
        whole.eq(total(products, last)),
        *lost[-1:],
    ]
    if len(form.groups) == 1:
        premises.append(within(form.totals[0], len(graphs.lanes) * graphs.largest_aligned))
    cuts = [form.totals[-1], products, form.aligned_c, graphs.aligned_c, whole]
    proof.lemma("the sum", same(form.sum, whole), premises, cuts=cuts)
    if form.overflow is None:
        proof.lemma("the sum's size", within(form.sum, _largest_sum(graphs)), premises, cuts=cuts)


# --- where every product is zero


def _c_alone(proof: FormDerivation, graphs: _Graphs) -> None:
    form, equal = graphs.form, vanished(proof, graphs)
    _, _, finite = _result(graphs)
    premises = [form.top.ult(form.limit), graphs.form.c_exponent.ule(form.top)]
    proof.lemma("c alone", form.c_alone.eq(finite), premises, equal=equal, cuts=[form.top])
    _conclude(proof, graphs, form.c_alone, [~form.counts])
