"""Sums in binary64, exact ones and those of two words: which models have a form, and its words against exact
ones.
"""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.language.run.arrays import Program
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import IeeeDotAdd
from tcsmt.simulate.forms.exact_form import ExactForm, exact_form
from tcsmt.simulate.forms.odd_form import OddForm, odd_form
from tests.oracles.of_forms import guarded_and_differing, missed_specials
from tests.support.sampling import mostly_long

UNITS = (
    "arm/bfdot.ebf1",
    "arm/bfmmla.ebf1",
    "arm/fmopa.f32.f16.f16",
    "arm/fdot.f32.e4m3.e4m3",
    "arm/fdot.f32.e5m2.e5m2.lscale5.osm1",
    "arm/fdot.f16.e4m3.e4m3",
    "arm/fdot.f16.e5m2.e5m2.lscale5.osm1",
    "cdna1/v_mfma_f32_32x32x8f16",
    "cdna1/v_mfma_f32_32x32x4bf16",
    "arm/bfdot.ebf0",
    "arm/bfmmla.ebf0",
)
KINDS = ("normal", "packed", "ties", "mixed", "uniform")


def form_of(name: str) -> tuple[IeeeDotAdd, ExactForm | OddForm]:
    """A unit's model, and its form."""
    model = row_named(name).model
    assert isinstance(model, IeeeDotAdd)
    form = exact_form(model) or odd_form(model)
    assert form is not None
    return model, form


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", UNITS)
def test_gives_the_words_of_an_oracle_that_shares_no_code(name: str, kind: str) -> None:
    """Wherever its guard says so: of exponents that lie near each other, for most rows."""
    guarded, differing = guarded_and_differing(*form_of(name), kind)
    assert differing == 0
    assert kind not in ("packed", "ties") or guarded < 0.6


@pytest.mark.parametrize("name", mostly_long(UNITS, [UNITS[0], UNITS[3]]))
def test_the_guard_is_there_for_every_nan_and_infinity(name: str) -> None:
    """One of them in one place, among zeros and ordinary numbers."""
    assert missed_specials(*form_of(name)) == []


@pytest.mark.parametrize("name", UNITS)
def test_zeros_are_not_left_to_the_model(name: str) -> None:
    """Of either sign, all of them or all but some: they fill up most matrices."""
    model, form = form_of(name)
    rng, columns = np.random.default_rng(7), {}
    for word, fmt in model.input_formats.items():
        one = fmt.word(1) if word != "c" else 0
        zeros = np.where(rng.random(2048) < 0.1, one, 0)
        columns[word] = zeros | rng.integers(0, 2, 2048) << (fmt.width - 1)
    guard, result, expected = Program([form.guard, form.result, model.trace.output]).run(columns)
    assert not guard.any()
    assert np.array_equal(result, expected)


@pytest.mark.parametrize(
    "changes",
    [
        {"rounding": "RTZ"}, {"d_rounding": "RTZ"}, {"a_format": "f32"}, {"flush_inputs": True},
        {"flush_outputs": True}, {"c_format": "f16"}, {"sum_format": "f64"},
    ],
)  # fmt: skip
def test_what_has_no_form(changes: dict[str, object]) -> None:
    model = row_named("cdna1/v_mfma_f32_32x32x8f16").model
    assert exact_form(model.replace(**changes)) is None


def test_other_kinds_have_no_form() -> None:
    for name in ("hopper/mma.m16n8k16.f32.f16.f16.f32", "x86/tdpbf16ps", "arm/bfdot.ebf0"):
        assert exact_form(row_named(name).model) is None
