"""Sums of products in binary32 to which c is added are proved, and what is not the model's graph is not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest
from form_proofs.dot_form_proof import derive_proof

from tcsmt.language.terms import Term, const, substitute, total, umax
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import DotThenAdd
from tcsmt.simulate.forms.dot_form import DotForm, GridOfForm, dot_form
from tcsmt.simulate.forms.product_grid import LaneOfForm
from tests.support import answers
from tests.support.answers import refuted
from tests.support.sampling import mostly_long
from tests.support.term_fields import with_node

F16, BF16, FP8 = (
    f"cdna3/v_mfma_f32_32x32x{kind}" for kind in ("8_f16", "8_bf16", "16_fp8_bf8")
)  # fmt: skip
XF32 = "cdna3/v_mfma_f32_32x32x4_xf32"


def form_of(name: str, k: int) -> tuple[DotThenAdd, DotForm]:
    """A model like a unit's, of so many lanes, and its form."""
    model = row_named(name).model
    assert isinstance(model, DotThenAdd)
    model = model.replace(k=k, n_fma=k)
    form = dot_form(model)
    assert form is not None
    return model, form


@pytest.mark.slow
@pytest.mark.parametrize("name", mostly_long([F16, BF16, FP8, XF32], [FP8]))
def test_is_proved(name: str) -> None:
    lemmas = derive_proof(*form_of(name, 4)).lemmas
    assert [lemma.what for goal, lemma in lemmas.items() if not refuted(goal)] == []


def first(form: DotForm) -> tuple[GridOfForm, LaneOfForm]:
    """A form's first grid, and the first lane of it."""
    return form.grids[0], form.grids[0].lanes[0]


def words(grid: GridOfForm) -> list[Term]:
    """The exponent words of all lanes of a grid."""
    return [lane.exponent for lane in grid.lanes]


#: A fault in each stage: the node, and what is there instead.
FAULTS: dict[str, Callable[[DotForm], tuple[Term, Term]]] = {
    "a factor is another number": lambda form: (first(form)[1].factors[0], first(form)[1].factors[0] ^ 1),
    "one lane's factor alone": lambda form: (
        form.grids[0].lanes[1].factors[1], form.grids[0].lanes[1].factors[1] ^ 1 << 31
    ),
    "a product is not exact": lambda form: (first(form)[1].product, first(form)[1].product | 1),
    "an exponent is one more": lambda form: (first(form)[1].exponent, first(form)[1].exponent + 1),
    "a lane is not in the largest exponent": lambda form: (
        first(form)[0].largest_product, umax(*words(first(form)[0])[1:])
    ),
    "the grid is twice as fine": lambda form: (
        first(form)[0].scale, first(form)[0].scale + (1 << 23)
    ),
    "an aligned term is one more": lambda form: (first(form)[1].aligned, first(form)[1].aligned + 1),
    "a lane is not in the sum": lambda form: (
        first(form)[0].whole, total(*(lane.aligned for lane in first(form)[0].lanes[1:]))
    ),
    "the sum is one less": lambda form: (first(form)[0].whole, first(form)[0].whole - 1),
    "the exponent that c is aligned to is one more": lambda form: (
        first(form)[0].own_top, first(form)[0].own_top + 1
    ),
    "the sum that c is added to is one more": lambda form: (
        first(form)[0].own_sum, first(form)[0].own_sum + 1
    ),
    "the second grid's sum is the first one's": lambda form: (form.grids[1].own_sum, form.grids[0].own_sum),
    "the result is one more": lambda form: (form.result, form.result + 1),
}  # fmt: skip


@cache
def usual(model: DotThenAdd) -> frozenset[Term]:
    """The lemmas that the model's right form has."""
    right = dot_form(model)
    return frozenset() if right is None else frozenset(derive_proof(model, right).lemmas)


def refused(model: DotThenAdd, form: DotForm) -> bool:
    """Whether it is not proved; the lemmas that the right form has are asked last."""
    return answers.refused(lambda: derive_proof(model, form), usual(model))


@pytest.mark.parametrize("fault", list(FAULTS))
@pytest.mark.slow_cases("the result is one more")
def test_a_fault_in_a_stage_is_refused(fault: str) -> None:
    model, form = form_of(FP8, 4)
    old, new = FAULTS[fault](form)
    faulty = with_node(form, old, new)
    assert isinstance(faulty, DotForm)
    assert (faulty.result, faulty.guard) != (form.result, form.guard)
    assert refused(model, faulty)


@pytest.mark.slow
@pytest.mark.parametrize("name", mostly_long([FP8, BF16], [FP8]))
def test_a_guard_that_looks_away_is_refused(name: str) -> None:
    """Of NaNs and infinities among the products, of c's, and of products too small for binary32."""
    model, form = form_of(name, 4)
    special = ~model.trace.c[30:0].ult(0x7F800000)
    (no_c,) = substitute([form.guard], {special: const(0, 1)})
    for guard in (const(0, 1), special, no_c):
        assert refused(model, replace(form, guard=guard))
    if name == BF16:
        grid = replace(form.grids[0], floor=form.grids[0].floor - 8)
        assert refused(model, replace(form, grids=(grid,)))


def test_a_product_too_large_needs_the_limit() -> None:
    """In a unit that makes an infinity of it."""
    model, form = form_of(BF16, 2)
    grid = replace(form.grids[0], limit=form.grids[0].limit + 1)
    guard = grid.unsure | ~model.trace.c[30:0].ult(0x7F800000)
    assert refused(model, replace(form, grids=(grid,), guard=guard))


@pytest.mark.slow
def test_another_model_is_refused() -> None:
    model, form = form_of(FP8, 4)
    for changes in ({"fraction_bits": 23}, {"lane_groups": 1}, {"c_reach": 24}, {"dot_fraction_bits": 31}):
        assert refused(model.replace(**changes), form)
