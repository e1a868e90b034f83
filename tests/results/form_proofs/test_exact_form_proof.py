"""Exact sums in binary64 are proved, and what is not the model's graph is not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from form_proofs.exact_form_proof import derive_proof

from tcsmt.language.terms import any_of, const
from tcsmt.matrix_units.arithmetic import native
from tcsmt.simulate.forms.exact_form import ExactForm, ExactNumbers, odd_last_bit
from tcsmt.support.invariants import not_none
from tests.support.answers import refuted
from tests.support.exact_forms import FIRST, HALF, LAST, Fault, first, form_of, refused, with_fault
from tests.support.term_fields import with_node

WIDE = "arm/bfdot.ebf1"
OTHERS = (
    "arm/fdot.f16.e5m2.e5m2", "arm/fdot.f16.e5m2.e4m3.lscale5.osm1", "arm/bfmmla.ebf1",
    "cdna1/v_mfma_f32_32x32x4bf16", "cdna1/v_mfma_f32_32x32x8f16",
)  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("name", [LAST, FIRST, HALF, WIDE, *OTHERS])
def test_is_proved(name: str) -> None:
    lemmas = derive_proof(*form_of(name)).lemmas
    assert [lemma.what for goal, lemma in lemmas.items() if not refuted(goal)] == []


#: A fault in each stage after the sum.
FAULTS: dict[str, Fault] = {
    "the number is the next one": lambda step: (step.number, step.number + 1),
    "a sum of negative zeros is positive": lambda step: (step.signs, const(0, 32)),
    "the result is one more": lambda step: (step.word, step.word + 1),
}


#: The same where binary16 is by way of binary32.
OF_HALF: dict[str, Fault] = {
    "what is lost is forgotten": lambda step: (
        native.to_single(odd_last_bit(step.number)), native.to_single(step.number)
    ),
    "c in binary32 is the next number": lambda step: (not_none(step.c).single, not_none(step.c).single + 1),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "fault"), [*((LAST, fault) for fault in FAULTS), *((HALF, fault) for fault in OF_HALF)]
)
def test_a_fault_is_refused(name: str, fault: str) -> None:
    assert refused(name, with_fault(name, (FAULTS | OF_HALF)[fault]))


@pytest.mark.slow
@pytest.mark.parametrize("name", [LAST, FIRST, HALF])
def test_a_guard_that_looks_away_is_refused(name: str) -> None:
    """From one step or the other: from terms that lie too far apart, and from what is added last."""
    _, form = form_of(name)
    assert len(form.steps) == 2
    for step in form.steps:
        assert refused(name, replace(form, guard=step.unsure))


def with_guard(form: ExactForm, numbers: ExactNumbers) -> ExactForm:
    """A form that leaves less to the model: what these numbers say."""
    step = first(form)
    unsure = ~(step.sizes + step.places).ult(numbers.spread + 1)
    for word, most in ((step.sizes, numbers.limit), (step.places, numbers.depth)):
        unsure |= const(0, 1) if most is None else ~word.ult(most)
    changed: ExactForm = with_node(form, step.unsure, unsure)
    guard = any_of(other.unsure for other in changed.steps)
    return replace(changed, numbers=numbers, guard=guard)


@pytest.mark.slow
def test_a_sum_that_is_too_large_is_left_to_a_model_that_saturates() -> None:
    name = "arm/fdot.f32.e4m3.e4m3.lscale5.osm1"
    _, form = form_of(name)
    assert refused(name, with_guard(form, form.numbers))


@pytest.mark.slow
def test_terms_that_lie_farther_apart_are_refused() -> None:
    _, form = form_of(LAST)
    numbers = form.numbers
    wider = replace(numbers, spread=numbers.spread + 3, bits=numbers.bits + 3)
    assert refused(LAST, with_guard(form, wider))


@pytest.mark.parametrize("changes", [{"depth": None}, {"limit": None}], ids=str)
@pytest.mark.slow_cases("{'depth': None}")
def test_products_that_binary32_has_not_are_refused(changes: dict[str, None]) -> None:
    """Those that are too small, and those that are too large."""
    _, form = form_of(WIDE)
    assert refused(WIDE, with_guard(form, replace(form.numbers, **changes)))


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        *((LAST, {"rounding": "RTZ"}), (LAST, {"negative_zero": False}), (LAST, {"c_first": True})),
        *((LAST, {"flush_outputs": True}), (FIRST, {"product_exponent": -1}), (FIRST, {"order": (1, 0)})),
    ],
)
@pytest.mark.slow_cases("arm/fdot.f32.e4m3.e4m3-changes4", "arm/fmopa.f32.f16.f16-changes3")
def test_another_model_is_refused(name: str, changes: dict[str, object]) -> None:
    model, form = form_of(name)
    assert refused(name, form, model.replace(**changes))
