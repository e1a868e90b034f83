"""Sums of products in binary32, with c added as in the model: which models have a form, and its words."""

from __future__ import annotations

import pytest

from tcsmt.matrix_units.arithmetic.formats import float_format
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import DotThenAdd
from tcsmt.simulate.forms.dot_form import DotForm, dot_form
from tcsmt.simulate.forms.proved_forms import dot_block
from tests.oracles.of_forms import guarded_and_differing, missed_specials

UNITS = (
    "cdna3/v_mfma_f32_32x32x8_f16",
    "cdna3/v_mfma_f32_16x16x16_bf16",
    "cdna3/v_mfma_f32_32x32x4_xf32",
    "cdna3/v_mfma_f32_32x32x16_fp8_bf8",
    "cdna3/v_mfma_f32_32x32x16_bf8_bf8@paper",
)
KINDS = ("normal", "packed", "ties", "uniform")


def form_of(name: str) -> tuple[DotThenAdd, DotForm]:
    """The model of one of a unit's blocks, and its form."""
    model = row_named(name).model
    assert isinstance(model, DotThenAdd)
    block = dot_block(model)
    form = dot_form(block)
    assert form is not None
    return block, form


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", UNITS)
def test_gives_the_words_of_an_oracle_that_shares_no_code(name: str, kind: str) -> None:
    model, form = form_of(name)
    guarded, differing = guarded_and_differing(model, form, kind)
    narrow = float_format(model.a_format).exponent_bits < 8  # else many grids are near the ends of binary32
    assert guarded < (0.05 if narrow and kind != "uniform" else 0.8)
    assert differing == 0


@pytest.mark.parametrize("name", UNITS)
def test_the_guard_is_there_for_every_nan_and_infinity(name: str) -> None:
    """One of them in one place, among zeros and ordinary numbers."""
    assert missed_specials(*form_of(name)) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"n_fma": 4}, {"fraction_bits": 31, "dot_fraction_bits": 32}, {"alignment": "RNE"},
        {"a_format": "f32"}, {"c_format": "f16", "normalised_fraction_bits": None},
    ],
)  # fmt: skip
def test_what_has_no_form(changes: dict[str, object]) -> None:
    model, _ = form_of(UNITS[0])
    assert dot_form(model.replace(**changes)) is None
    assert dot_form(row_named("hopper/mma.m16n8k16.f32.f16.f16.f32").model) is None
