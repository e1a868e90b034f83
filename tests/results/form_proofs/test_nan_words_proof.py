"""A unit whose NaNs follow a rule, beside a processor's: proved to differ in the words of NaNs alone."""

from __future__ import annotations

from typing import Any

import pytest
from form_proofs.deduction import ProofFailed
from form_proofs.nan_words_proof import derive_proof

from tcsmt.matrix_units.catalogue import row_named, rows
from tcsmt.matrix_units.models import IeeeDotAdd
from tcsmt.prove.engine.solving import Solving
from tcsmt.simulate.forms.proved_forms import single_step


def both(name: str = "hopper/mma.m8n8k4.f64.f64.f64.f64") -> tuple[IeeeDotAdd, IeeeDotAdd]:
    steps = single_step(row_named(name).model)
    assert steps is not None
    return steps


def answers(model: IeeeDotAdd, plain: IeeeDotAdd) -> set[str]:
    """What a solver says of the lemmas."""
    solving = Solving()
    return {solving.ask(lemma.goal).answer for lemma in derive_proof(model, plain).lemmas.values()}


def test_every_such_unit_of_the_catalogue_is_proved() -> None:
    pairs = {steps for row in rows(claims=True) if (steps := single_step(row.model)) is not None}
    assert pairs == {both()}
    assert answers(*both()) == {"unsat"}


def test_any_other_rule_can_be_proved() -> None:
    model, plain = both()
    assert answers(model.replace(nan="signalling c, a: 0x7ff8000000000001, 0xfff8000000000000"), plain) == {
        "unsat"
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {"rounding": "RTZ", "d_rounding": "RTZ"},
        {"flush_inputs": True},
        {"flush_outputs": True},
        {"method": "sequential", "product_format": "f64"},
    ],
)
def test_another_operation_is_refused(changes: dict[str, Any]) -> None:
    """Also where the fault is in what stands beside the unit."""
    model, plain = both()
    with_fault = model.replace(**changes | {"nan": None})
    assert "sat" in answers(with_fault, plain)
    assert "sat" in answers(model, with_fault)


def test_units_that_cannot_be_chained_so_are_refused() -> None:
    model, plain = both()
    for pair in (
        (model.replace(k=2), plain),
        (model, plain.replace(k=2)),
        (plain.replace(c_format="f32"),) * 2,
    ):
        with pytest.raises(ProofFailed):
            derive_proof(*pair)
