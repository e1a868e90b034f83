"""That sums of products in binary32 give a model's words: grid by grid.

From words on which the form's guard is 0, both graphs have the same largest exponent and the same sum
(:mod:`.product_grid_proof`), and no term is a NaN or an infinity. What comes after the sums is the same graph
on both sides.
"""

from __future__ import annotations

from dataclasses import dataclass

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
)
from tcsmt.language.terms import Term, any_of, total
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic.datapath import Exponent, Fixed, Number
from tcsmt.matrix_units.arithmetic.formats import float_format
from tcsmt.matrix_units.models import DotThenAdd, Kind
from tcsmt.simulate.forms.dot_form import DotForm, GridOfForm
from tcsmt.support.invariants import checked_cast

__all__ = ["derive_proof"]


def derive_proof(model: DotThenAdd, form: DotForm) -> FormDerivation:
    """That a form gives the model's words wherever its guard is 0.

    Raises :class:`.ProofFailed` where the argument does not go through.
    """
    proof, output = FormDerivation((~form.guard,)), model.trace.output
    tops, sums = model.trace.of(Kind.LARGEST_EXPONENT), model.trace.of(Kind.SUM_OF_PRODUCTS)
    if not len(tops) == len(sums) == len(form.grids):
        raise ProofFailed(f"{len(tops)} grids, {len(form.grids)} in the form")
    numbers: list[Term] = []
    equal: dict[Term, Term] = {}
    for grid, top, whole in zip(form.grids, tops, sums, strict=True):
        own = checked_cast(top.value, Exponent), checked_cast(whole.value, Fixed)
        if (own[0].term, own[1].word) != (grid.model_top, grid.model_sum):
            raise ProofFailed("a grid is not the model's")
        graphs = _Graphs.of(model, grid, *own)
        _grid(proof, graphs, form.guard)
        numbers += [is_number(lane.product) for lane in graphs.lanes]
        equal |= {grid.model_top: grid.own_top, grid.model_sum: grid.own_sum}
    c = is_number(dp.decode(float_format(model.c_format), model.trace.c))
    proof.lemma("c is a number", c, [~form.guard], cuts=[grid.top for grid in form.grids])
    if output.op != "ite" or output.args[2].op != "ite":
        raise ProofFailed("the output is not a NaN, an infinity or a number")
    nan, infinite = output.args[0], output.args[2].args[0]
    proof.lemma("the result is a number", ~nan & ~infinite, [*numbers, c])
    result = form.result.eq(output)
    # with these in their places, the word of a number is the form's, node for node
    cuts = [nan, infinite, form.result]
    proof.lemma("the result", result, [~nan & ~infinite], equal=equal, cuts=cuts)
    proof.theorem(result)
    return proof


@dataclass(frozen=True)
class _Graphs(GridGraphs):
    """The products of a grid in both graphs. whole: the model's sum."""

    form: GridOfForm
    whole: Term

    @classmethod
    def of(cls, model: DotThenAdd, form: GridOfForm, top: Exponent, whole: Fixed) -> _Graphs:
        """Of the model's largest exponent and sum."""
        trace, lanes = model.trace, []
        products = trace.of(Kind.PRODUCT)
        for own, number, aligned in zip(form.lanes, form.members, whole.addends, strict=True):
            inputs = trace.a[number], trace.b[number]
            product = checked_cast(products[number].value, Number)
            lanes.append(Lane(inputs, own, product, product, entering(top.term, inputs), aligned.word))
        formats = float_format(model.a_format), float_format(model.b_format)
        return cls(
            form=form,
            top=top,
            lanes=tuple(lanes),
            formats=(formats, formats),
            fraction_bits=whole.fraction_bits,
            whole=whole.word,
        )


def _grid(proof: FormDerivation, graphs: _Graphs, guard: Term) -> None:
    """Facts: both graphs have the same largest exponent and the same sum."""
    form = graphs.form
    same_exponents(proof, graphs, guard)
    cases = (form.counts, ~form.counts)
    proof.lemma("some product counts, or none does", any_of(cases))
    tops, sums = form.model_top.eq(form.own_top), form.model_sum.eq(form.own_sum)

    def within(case: FormDerivation, number: int) -> None:
        if number == 0:
            _counted(case, graphs, guard, tops, sums)
            return
        equal = vanished(case, graphs)
        case.lemma("no exponent", tops, [~form.counts], equal=equal, cuts=[form.top, form.largest_product])
        case.lemma("no sum", sums, [~form.counts], equal=equal, cuts=[form.whole, form.largest_product])

    proof.by_cases(cases, tops & sums, within)
    for what, conclusion in (("one grid", tops), ("one sum", sums)):
        proof.lemma(what, conclusion, [tops & sums])


def _counted(proof: FormDerivation, graphs: _Graphs, guard: Term, tops: Term, sums: Term) -> None:
    """Where some product counts."""
    form, largest = graphs.form, graphs.top.term
    products, reach = same_largest_products(proof, graphs), reached(proof, graphs, guard)
    if largest is not products:
        raise ProofFailed("the largest exponent is not that of the products")
    grids = form.top.eq(graphs.grid(largest))
    alike = graphs.alike(form.largest_product, products)
    cuts = [form.top, form.largest_product, largest]
    proof.lemma("the largest exponent", grids, [alike, *reach], cuts=[form.largest_product, largest])
    proof.lemma("the grid is in reach", in_reach(form, form.top), reach, cuts=cuts[:2])
    same_aligned(proof, graphs)
    theirs = same_addends(proof, graphs, graphs.whole.width)
    own, words = zip(*((lane.form.aligned, lane.aligned) for lane in graphs.lanes), strict=True)
    same_sum(proof, graphs.largest_aligned, own, words, theirs)
    if total(*theirs) is not graphs.whole:
        raise ProofFailed("the model's sum is not that of its products")
    limits = [grids, form.top.ult(form.limit), form.counts]
    proof.lemma("the model's largest exponent", tops, limits, cuts=cuts)
    proof.lemma("the model's sum", sums, [same(form.whole, graphs.whole), form.counts], cuts=[
        form.whole, graphs.whole, form.largest_product,
    ])  # fmt: skip
