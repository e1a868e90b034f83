"""Forms in floating-point operations are proved, and what is not the model's graph is not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest
from form_proofs.deduction import FormDerivation
from form_proofs.float_form_proof import derive_last_addition, derive_proof

from tcsmt.language.terms import Term, const, substitute, total, umax
from tcsmt.matrix_units.arithmetic import native
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.simulate.forms.float_form import FloatForm, LastAdditionForm, float_form, last_addition_form
from tcsmt.simulate.forms.proved_forms import fused_block, proved_form
from tests.support import answers
from tests.support.answers import refuted
from tests.support.sampling import mostly_long
from tests.support.term_fields import with_node

F16, E4M3 = "hopper/mma.m16n8k16.f32.f16.f16.f32", "hopper/wgmma.m64nNk32.f32.e4m3.e4m3"
BF16 = "hopper/mma.m16n8k16.f32.bf16.bf16.f32"
TO_F16 = "hopper/mma.m16n8k16.f16.f16.f16.f16"
SCALED = "blackwell/tcgen05.mMnNk32.kind::mxf8f6f4.block32.f32.e2m1.e4m3.ue8m0"
LAST, LAST_F16 = (f"hopper/mma.m16n8k32.{fmt}.e4m3.e4m3.{fmt}" for fmt in ("f32", "f16"))


def form_of(name: str, k: int | None = None) -> tuple[FusedDotAdd, FloatForm]:
    """The model of a unit's fused sums, or one alike of so many lanes, and its form."""
    model = fused_block(row_named(name).model)
    assert model is not None
    if k is not None:
        model = model.replace(k=k, n_fma=k, **({"scale_block": k} if model.scales else {}))
    form = float_form(model)
    assert form is not None
    return model, form


def open_lemmas(deduction: FormDerivation) -> list[str]:
    """What solvers do not refute."""
    return [lemma.what for lemma in deduction.lemmas.values() if not refuted(lemma.goal)]


@pytest.mark.slow
@pytest.mark.parametrize("name", mostly_long([E4M3, BF16, F16, TO_F16, SCALED, LAST, LAST_F16], [E4M3]))
def test_is_proved(name: str) -> None:
    model, form = form_of(name, k=4)
    assert not open_lemmas(derive_proof(model, form))


def exponents(form: FloatForm) -> list[Term]:
    """The exponent words of all lanes."""
    return [lane.exponent for lane in form.lanes]


#: A fault in each stage: the node, and what is there instead.
FAULTS: dict[str, Callable[[FloatForm], tuple[Term, Term]]] = {
    "a factor is another number": lambda form: (form.lanes[0].factors[0], form.lanes[0].factors[0] ^ 1),
    "one lane's factor alone": lambda form: (form.lanes[3].factors[1], form.lanes[3].factors[1] ^ 1 << 31),
    "a product is not exact": lambda form: (form.lanes[0].product, form.lanes[0].product | 1),
    "an exponent is one more": lambda form: (form.lanes[0].exponent, form.lanes[0].exponent + 1),
    "a lane is not in the largest exponent": lambda form: (
        form.largest_product, umax(*exponents(form)[1:])
    ),
    "c is not in the largest exponent": lambda form: (
        form.top, umax(form.largest_product.zext(32), const(form.least, 32))
    ),
    "the grid is twice as fine": lambda form: (form.scale, form.scale + (1 << 23)),
    "an aligned term is one more": lambda form: (form.lanes[0].aligned, form.lanes[0].aligned + 1),
    "c is one more": lambda form: (form.aligned_c, form.aligned_c + 1),
    "a lane is not in the sum": lambda form: (
        form.totals[0], total(*(lane.aligned for lane in form.lanes[1:]))
    ),
    "the sum is one less": lambda form: (form.sum, form.sum - 1),
    "the result is rounded to nearest": lambda form: (
        form.counted, native.multiply(native.from_integer(form.sum), (form.top - 13) << 23)
    ),
    "the result is one more": lambda form: (form.counted, form.counted + 1),
    "c alone is not cut": lambda form: (form.c_alone, form.c_alone ^ 1),
}  # fmt: skip


#: The same in what other families have besides.
OTHER_FAULTS: dict[str, tuple[str, Callable[[FloatForm], tuple[Term, Term]]]] = {
    "the last bits of a sum are forgotten": (
        TO_F16, lambda form: (form.sum, form.sum & ~const(0xFF, 32))
    ),
    "a result is rounded twice": (
        TO_F16,
        lambda form: (form.counted, form.counted & ~const(1, 16)),
    ),
    "c's exponent is one more": (TO_F16, lambda form: (form.c_field, form.c_field + 1)),
    "c is another number": (TO_F16, lambda form: (form.c, form.c ^ (1 << 31))),
    "a zero's exponent can be the largest": (TO_F16, lambda form: (form.guard, ~form.top.ult(form.limit))),
    "a scale is twice as large": (
        SCALED, lambda form: (form.lanes[0].scale, form.lanes[0].scale + (1 << 23))
    ),
    "a scale is not in the exponent": (
        SCALED, lambda form: (form.lanes[0].exponent, total(*form.lanes[0].exponent.args[1:]))
    ),
    "grids below binary32": (SCALED, lambda form: (form.guard, ~form.top.ult(form.limit))),
    "a converted factor is another number": (
        LAST, lambda form: (form.lanes[1].factors[0], form.lanes[1].factors[0] ^ 1)
    ),
}  # fmt: skip


@cache
def usual(model: FusedDotAdd) -> frozenset[Term]:
    """The lemmas that the model's right form has."""
    right = float_form(model)
    return frozenset() if right is None else frozenset(derive_proof(model, right).lemmas)


def refused(model: FusedDotAdd, form: FloatForm) -> bool:
    """Whether it is not proved; the lemmas that the right form has are asked last."""
    return answers.refused(lambda: derive_proof(model, form), usual(model))


@pytest.mark.parametrize("fault", list(FAULTS))
@pytest.mark.slow_cases("c is one more", "the grid is twice as fine")
def test_a_fault_in_a_stage_is_refused(fault: str) -> None:
    model, form = form_of(E4M3, k=4)
    faulty = with_node(form, *FAULTS[fault](form))
    assert isinstance(faulty, FloatForm)
    assert (faulty.result, faulty.guard) != (form.result, form.guard)
    assert refused(model, faulty)


@pytest.mark.slow
@pytest.mark.parametrize("fault", list(OTHER_FAULTS))
def test_a_fault_in_a_stage_of_another_family_is_refused(fault: str) -> None:
    name, node = OTHER_FAULTS[fault]
    model, form = form_of(name, k=4)
    faulty = with_node(form, *node(form))
    assert isinstance(faulty, FloatForm)
    assert (faulty.result, faulty.guard) != (form.result, form.guard)
    assert refused(model, faulty)


def last_of(name: str) -> LastAdditionForm:
    """The form of a unit's last addition."""
    model = row_named(name).model
    assert isinstance(model, FusedDotAdd)
    form = last_addition_form(model)
    assert form is not None
    return form


@pytest.mark.parametrize("name", mostly_long([LAST, LAST_F16], [LAST]))
def test_a_last_addition_is_proved(name: str) -> None:
    assert not open_lemmas(derive_last_addition(last_of(name)))


@pytest.mark.parametrize("name", [LAST, LAST_F16])
def test_a_fault_in_a_last_addition_is_refused(name: str) -> None:
    """Another number, a -0, no guard."""
    form = last_of(name)
    width = form.c.width
    zero = form.result[width - 2 : 0].eq(0).ite(const(1 << (width - 1), width), form.result)
    for faulty in (
        replace(form, result=form.result ^ 1),
        replace(form, result=zero),
        replace(form, result=substitute([form.result], {form.c: form.c ^ 1})[0]),
        replace(form, guard=const(0, 1)),
    ):
        assert open_lemmas(derive_last_addition(faulty))


@pytest.mark.slow
def test_a_guard_that_looks_away_is_refused() -> None:
    model, form = form_of(E4M3, k=4)
    assert refused(model, replace(form, guard=const(0, 1)))
    assert refused(model, replace(form, guard=~form.top.ult(256), limit=256))  # c may be a NaN


@pytest.mark.long
def test_a_sum_that_overflows_is_refused() -> None:
    model, form = form_of(F16, k=16)
    assert form.overflow is not None
    assert refused(model, replace(form, guard=~form.top.ult(form.limit)))


@pytest.mark.long
def test_products_too_small_for_binary32_need_the_floor() -> None:
    model, form = form_of(BF16, k=4)
    assert refused(model, replace(form, guard=~form.top.ult(form.limit)))
    assert refused(model, replace(form, floor=form.floor - 8))


@pytest.mark.slow
def test_another_model_is_refused() -> None:
    """Of other fraction bits, or other lanes."""
    model, form = form_of(E4M3, k=4)
    for changes in ({"fraction_bits": 14}, {"round_fraction_bits": 12}, {"zero_exponent": None}):
        assert refused(model.replace(**changes), form)
    assert proved_form(model.replace(fraction_bits=14)) is None
