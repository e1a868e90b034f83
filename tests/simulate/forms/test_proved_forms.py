"""What is kept of proved forms is of the graphs that are there now, and of no other."""

from __future__ import annotations

import json

import pytest

from tcsmt.language.terms import const
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.simulate.forms.float_form import FloatForm, float_form
from tcsmt.simulate.forms.proved_forms import (
    PROVED,
    digests,
    proved_block,
    proved_form,
    simulation,
    with_canonical_nan,
)

ENTRIES = json.loads(PROVED.read_text(encoding="utf-8"))["forms"]


@pytest.mark.parametrize("name", sorted({entry["unit"] for entry in ENTRIES}))
def test_each_unit_that_has_an_entry_runs_on_it(name: str) -> None:
    """What is stale is named by ``tests/results/form_proofs/test_form_proofs.py``."""
    assert simulation(row_named(name).model)["form"] in ("floats", "groups", "processor")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("volta/mma.m8n8k4.f32.f16.f16.f32@fasi", "rounding = RTZ"),
        ("wormhole/mvmul.f32.bf16.phase0", "groups of products on grids of their own, alignment = RNA"),
        ("rdna4/v_dot2_f32_f16", "group = 2, group_fraction_bits = 24, zero_c = fields"),
        ("ampere/mma.m16n8k32.s32.s8.s8.s32", "an exact sum of integer products and c"),
    ],
)
def test_other_units_say_why_they_have_no_form(name: str, reason: str) -> None:
    how = simulation(row_named(name).model)
    assert how["form"] == "integers" and how["reason"].startswith(reason)


def test_another_model_or_form_is_not_taken() -> None:
    model = row_named(ENTRIES[0]["unit"]).model
    assert isinstance(model, FusedDotAdd)
    form = float_form(model)
    assert isinstance(form, FloatForm)
    kept = {(entry["model"], entry["form"]) for entry in ENTRIES}
    assert digests(model, form.result, const(0, 1)) not in kept
    other = model.replace(fraction_bits=model.sum.fraction_bits - 1)
    assert float_form(other) is not None
    assert proved_form(other) is None


@pytest.mark.parametrize(
    "name", ["ampere/mma.m16n8k16.f32.f16.f16.f32", "ampere/mma.m16n8k8.f32.tf32.tf32.f32"]
)
def test_a_chain_of_blocks_has_the_form_of_one(name: str) -> None:
    model = row_named(name).model
    assert isinstance(model, FusedDotAdd)
    block = proved_block(model)
    assert block is not None
    assert (block.model.k, block.lanes) == (model.lanes.n_fma, tuple(range(model.k)))
    dealt = model.replace(interleave=2)
    other = proved_block(dealt)
    assert other is not None and other.model == block.model
    assert list(other.lanes) == [lane for lanes in dealt.blocks for lane in lanes] != list(range(model.k))


def test_a_chain_that_is_more_than_its_blocks_has_none() -> None:
    model = row_named("ampere/mma.m16n8k16.f32.f16.f16.f32").model
    assert isinstance(model, FusedDotAdd)
    for changes in ({"c_position": "summed"}, {"n_fma": 2}):
        assert proved_block(model.replace(**changes)) is None


def test_nans_by_a_rule_are_apart_where_one_link_of_the_chain_is_proved() -> None:
    """Of so many links as there are, in any order; not of another rule."""
    model = row_named("hopper/mma.m8n8k4.f64.f64.f64.f64").model
    for chain in (model.replace(k=3), model.replace(order=(2, 0, 3, 1))):
        plain = with_canonical_nan(chain)
        assert plain is not None and plain.is_native
    for changes in ({"nan": "a, b, c, 0x7ff8000000000000"}, {"rounding": "RTZ"}, {"nan": None}):
        assert with_canonical_nan(model.replace(**changes)) is None
