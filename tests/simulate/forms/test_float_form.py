"""Forms in floating-point operations: which models have one, and that they give the models' words."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.arithmetic.formats import float_format
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import Model
from tcsmt.simulate.forms.float_form import FloatForm, float_form
from tests.oracles.of_forms import guarded_and_differing, missed_specials

UNITS = (
    "hopper/mma.m16n8k16.f32.f16.f16.f32",
    "hopper/wgmma.m64nNk32.f32.e4m3.e4m3",
    "hopper/mma.m16n8k16.f32.bf16.bf16.f32",
    "hopper/mma.m16n8k8.f32.tf32.tf32.f32",
)
KINDS = ("normal", "packed", "ties", "uniform")


def form_of(name: str) -> tuple[Model, FloatForm]:
    """A unit's model and form."""
    model = row_named(name).model
    form = float_form(model)
    assert form is not None
    return model, form


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", UNITS)
def test_gives_the_words_of_an_oracle_that_shares_no_code(name: str, kind: str) -> None:
    model, form = form_of(name)
    guarded, differing = guarded_and_differing(model, form, kind)
    narrow = float_format(model.a_format).exponent_bits < 8  # else many grids are near the ends of binary32
    assert guarded < (0.05 if narrow and kind != "uniform" else 1)
    assert differing == 0


@pytest.mark.parametrize("name", UNITS)
@pytest.mark.slow_cases("hopper/mma.m16n8k16.f32.bf16.bf16.f32", "hopper/mma.m16n8k16.f32.f16.f16.f32")
def test_the_guard_is_there_for_every_nan_and_infinity(name: str) -> None:
    """One of them in one place, among zeros and ordinary numbers."""
    assert missed_specials(*form_of(name)) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"products": "normalised"}, {"zero_c": "fields"}, {"n_fma": 8}, {"fraction_bits": 40},
        {"alignment_sticky": True}, {"a_format": "f32"}, {"negative_zero": True}, {"carry_bits": 3},
    ],
)  # fmt: skip
def test_what_has_no_form(changes: dict[str, object]) -> None:
    model, _ = form_of(UNITS[0])
    assert float_form(model.replace(**changes)) is None


@pytest.mark.parametrize("name", UNITS[2:])
def test_products_too_small_for_binary32_are_left_to_the_model_unless_nothing_is_left_of_them(
    name: str,
) -> None:
    """One lane's product decides the grid; another's is as small as can be."""
    model, form = form_of(name)
    assert form.floor > form.least
    fmt = float_format(model.a_format)
    one, tiny = fmt.word(Fraction(1)), 1 << fmt.ignored_low_bits
    for size in (one, fmt.word(Fraction(1, 1 << 48)), fmt.word(Fraction(1, 1 << 52)), tiny):
        words = [0] * (2 * model.k + 1)
        words[0] = words[model.k] = size
        words[1] = words[model.k + 1] = tiny
        values = dict(zip(model.input_names, words, strict=True))
        guard, result, expected = evaluate([form.guard, form.result, model.trace.output], values)
        assert guard == (size in (fmt.word(Fraction(1, 1 << 52)), tiny))
        assert guard or result == expected
