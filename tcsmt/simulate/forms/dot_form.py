"""A sum of products in binary32, to which c is added as in the model: another graph of the same words.

The grid and the sum are those of :mod:`.product_grid`, as many as the model has; what comes after them is the
model's own graph.

Nothing here is trusted: a form is used where it is proved (:mod:`.proved_forms`).
"""

from __future__ import annotations

from dataclasses import dataclass

from tcsmt.language.terms import Term, any_of, const, substitute, total, umax
from tcsmt.matrix_units.arithmetic.datapath import Exponent
from tcsmt.matrix_units.models.base import Model
from tcsmt.matrix_units.models.dot_then_add import DotThenAdd
from tcsmt.matrix_units.models.stages import Kind, Stage
from tcsmt.simulate.forms.product_grid import (
    BIAS,
    WIDE,
    WIDTH,
    GridNumbers,
    ProductGrid,
    exact_products,
    to_width,
)
from tcsmt.support.invariants import checked_cast


@dataclass(frozen=True)
class GridOfForm(ProductGrid):
    """The products of some lanes. members: the model's lanes. whole: their sum.

    model_top, model_sum: the model's largest exponent and its sum; own_top, own_sum: what stands for them.
    """

    members: tuple[int, ...]
    whole: Term
    model_top: Term
    model_sum: Term
    own_top: Term
    own_sum: Term


@dataclass(frozen=True)
class DotForm:
    """The graph of a form. Where ``guard`` is 1, it says nothing: of c that is no number, too."""

    grids: tuple[GridOfForm, ...]
    result: Term
    guard: Term


def dot_form(model: Model) -> DotForm | None:
    """Return the form of a model of one block, or None where a sum or an exponent does not fit."""
    if not isinstance(model, DotThenAdd) or model.n_fma != model.k or not model.alignment.truncates:
        return None
    a, b = model.a_format, model.b_format
    n = GridNumbers.of(a, b, model.fraction_bits, scale=None, zero_exponent=None)
    if n is None or not exact_products(a, b) or model.c_format != WIDE:
        return None
    # all lanes of a grid at their largest: beyond that the sum in 32 bits wraps
    if model.k // model.lane_groups * n.largest_aligned >= 1 << (WIDTH - 1):
        return None
    words, count = model.trace, model.lane_groups
    tops, sums = words.of(Kind.LARGEST_EXPONENT), words.of(Kind.SUM_OF_PRODUCTS)
    grids = tuple(
        _grid(model, n, tuple(range(group, model.k, count)), top, sum_of_group)
        for group, (top, sum_of_group) in enumerate(zip(tops, sums, strict=True))
    )
    values = {grid.model_top: grid.own_top for grid in grids}
    values |= {grid.model_sum: grid.own_sum for grid in grids}
    (result,) = substitute([number_word(model)], values)
    special = ~words.c[WIDE.sign_bit - 1 : 0].ult(WIDE.infinity_word)
    return DotForm(grids, result, any_of([*(grid.unsure for grid in grids), special]))


def number_word(model: DotThenAdd) -> Term:
    """Return the word of a model's result, if that is neither a NaN nor an infinity."""
    _, _, no_nan = model.trace.output.args
    _, _, number = no_nan.args
    return number


def _grid(
    model: DotThenAdd, n: GridNumbers, members: tuple[int, ...], top_stage: Stage, sum_stage: Stage
) -> GridOfForm:
    words, (a, b) = model.trace, n.formats
    pairs = [(words.a[lane], words.b[lane]) for lane in members]
    exponents = [n.exponent(pair) for pair in pairs]
    largest = umax(*exponents)
    top = umax(largest.zext(WIDTH), const(n.floor, WIDTH))
    scale = n.scale(top)
    lanes = tuple(n.lane(pair, exponent, scale) for pair, exponent in zip(pairs, exponents, strict=True))
    aligned_sum = total(*(lane.aligned for lane in lanes))
    # no product is too large for binary32, or for the model
    largest_product = min(WIDE.e_max + 1, model.product_limit or WIDE.e_max + 1) - 1
    limit = n.bias + BIAS + min(a.e_max + b.e_max + 1, largest_product)
    grid = ProductGrid(lanes, largest, top, scale, n.bias, n.least, n.floor, limit)
    exponent, theirs = checked_cast(top_stage.value, Exponent), sum_stage.term
    own_top = to_width(top - (BIAS + n.bias + exponent.low), exponent.term.width)
    own_sum = aligned_sum.sext(max(WIDTH, theirs.width))[theirs.width - 1 : 0]
    return GridOfForm(
        **vars(grid),
        members=members,
        whole=aligned_sum,
        model_top=exponent.term,
        model_sum=theirs,
        own_top=grid.counts.ite(own_top, const(0, own_top.width)),
        own_sum=grid.counts.ite(own_sum, const(0, theirs.width)),
    )
