"""Sums of groups as integers are proved, and what is not the model's graph is not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from form_proofs.deduction import ProofFailed
from form_proofs.group_form_proof import derive_proof

from tcsmt.language.terms import Term, const, substitute, total, umax
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.simulate.forms.group_form import GroupForm, GroupOfForm, group_form
from tests.support.answers import refuted

UNITS = [
    f"blackwell/tcgen05.mMnNk64.kind::{kind}"
    for kind in ("mxf4.block32.f32.e2m1.e2m1.ue8m0", "mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3")
]


def form_of(name: str) -> tuple[FusedDotAdd, GroupForm]:
    """A unit's model, and its form."""
    model = row_named(name).model
    assert isinstance(model, FusedDotAdd)
    form = group_form(model)
    assert form is not None
    return model, form


def proved(model: FusedDotAdd, form: GroupForm) -> bool:
    """Whether the argument goes through, and no lemma has a solution."""
    try:
        lemmas = derive_proof(model, form).lemmas
    except ProofFailed:
        return False
    return all(map(refuted, lemmas))


@pytest.mark.slow
@pytest.mark.parametrize("name", UNITS)
def test_is_proved(name: str) -> None:
    assert proved(*form_of(name))


def of_first(form: GroupForm, **changes: object) -> tuple[GroupOfForm, ...]:
    """The groups, with changes in the first one."""
    return (replace(form.groups[0], **changes), *form.groups[1:])


def with_product(form: GroupForm, lane: int, change: Callable[[Term], Term]) -> tuple[GroupOfForm, ...]:
    """The groups, with another product in the first one."""
    products = list(form.groups[0].products)
    products[lane] = change(products[lane])
    return of_first(form, products=tuple(products), sum=total(*products), zero=umax(*products).eq(0))


#: A fault in each stage: the groups with it.
FAULTS: dict[str, Callable[[GroupForm], tuple[GroupOfForm, ...]]] = {
    "the first product is one more": lambda form: with_product(form, 0, lambda x: x + 1),
    "a product is twice as large": lambda form: with_product(form, 5, lambda x: x + x),
    "a product has the other sign": lambda form: with_product(form, 15, lambda x: -x),
    "a product is another lane's": lambda form: with_product(form, 3, lambda x: form.groups[1].products[3]),
    "a product is not in the sum": lambda form: of_first(form, sum=total(*form.groups[0].products[1:])),
    "the sum is one less": lambda form: of_first(form, sum=form.groups[0].sum - 1),
    "the sum loses a bit": lambda form: of_first(form, sum=form.groups[0].sum & 0x7FF),
    "a group is never zero": lambda form: of_first(form, zero=const(0, 1)),
    "a group is zero where its sum is": lambda form: of_first(form, zero=form.groups[0].sum.eq(0)),
    "a group is another one": lambda form: of_first(
        form, products=form.groups[1].products, sum=form.groups[1].sum, zero=form.groups[1].zero
    ),
}


@pytest.mark.parametrize("fault", list(FAULTS))
@pytest.mark.parametrize("name", UNITS)
def test_a_fault_is_refused(name: str, fault: str) -> None:
    model, form = form_of(name)
    groups = FAULTS[fault](form)
    values = {term: word for group in groups for term, word in group.values.items()}
    (result,) = substitute([model.trace.output], values)
    assert result is not form.result
    assert not proved(model, replace(form, groups=groups, result=result))


@pytest.mark.slow
@pytest.mark.parametrize("name", UNITS)
def test_a_fault_after_the_groups_is_refused(name: str) -> None:
    model, form = form_of(name)
    scale = (model.trace.operands.scale_b or ())[0]
    for result in (form.result ^ 1, substitute([form.result], {scale: scale ^ 1})[0]):
        assert not proved(model, replace(form, result=result))


@pytest.mark.slow
@pytest.mark.parametrize("changes", [
    {"scale_block": 16},
    pytest.param({"fraction_bits": 34}, marks=pytest.mark.long),
    pytest.param({"zero_exponent": -126}, marks=pytest.mark.long),
], ids=str)  # fmt: skip
def test_another_model_is_refused(changes: dict[str, object]) -> None:
    model, form = form_of(UNITS[0])
    assert not proved(model.replace(**changes), form)
