"""Sums rounded to odd by way of binary64: their words at every boundary, and which models have a form.

``test_exact_form.py`` compares them on random words, special ones and zeros.
"""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.language.run.arrays import Program
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import IeeeDotAdd
from tcsmt.simulate.forms.odd_form import odd_form
from tests.oracles import cpus
from tests.support.odd_forms import form_of

UNITS = ("arm/bfdot.ebf0", "arm/bfmmla.ebf0")


def columns_of(model: IeeeDotAdd, fields: dict[str, list[int]], count: int, seed: int) -> dict[str, object]:
    """Words of any sign and fraction, of which exponent fields are drawn. fields: of a's, b's, and c."""
    rng, columns = np.random.default_rng(seed), {}
    for word, fmt in model.input_formats.items():
        bits = fmt.width - 9
        fraction = rng.integers(0, 1 << bits, count) & rng.choice([-1, -1 << (bits - 3), 1, 0], count)
        field = rng.choice(fields[word[0]], count)
        columns[word] = rng.integers(0, 2, count) << (fmt.width - 1) | field << bits | fraction
    return columns


@pytest.mark.parametrize("name", UNITS)
@pytest.mark.parametrize(
    "fields",
    [
        {"a": [0], "b": [0, 127], "c": [0, 1]},
        {"a": [1, 63, 64], "b": [64, 65], "c": [1, 2, 3]},
        {"a": [127, 128], "b": [127, 140], "c": [127 - 30, 127 - 29, 127 - 28, 127, 127 + 29, 127 + 30]},
        {"a": [99, 127], "b": [127, 126], "c": [0, 127]},
        {"a": [190, 191], "b": [190, 191], "c": [253, 254]},
        {"a": [1, 254], "b": [1, 127, 254], "c": [1, 254]},
    ],
    ids=["zeros", "smallest", "far apart", "products apart", "largest", "both ends"],
)
def test_at_every_boundary(name: str, fields: dict[str, list[int]]) -> None:
    """Of sums that cancel or come out subnormal or too large, and of words as far apart as may be."""
    model, form = form_of(name)
    columns = columns_of(model, fields, 2048, 9)
    guard, result, expected = Program([form.guard, form.result, model.trace.output]).run(columns)
    assert np.array_equal(result[guard == 0], expected[guard == 0])
    names = [*model.input_names]
    for row in np.flatnonzero(guard == 0)[:200]:
        words = [int(columns[own][row]) for own in names]  # type: ignore[index]
        a, b, (c,) = words[: model.k], words[model.k : 2 * model.k], words[2 * model.k :]
        assert cpus.bfdot_ebf0(a, b, c) == result[row]


@pytest.mark.parametrize(
    "changes",
    [
        {"rounding": "RNE"}, {"rounding": "RTZ"}, {"flush_inputs": False},
        {"a_format": "f32"}, {"product_format": None}, {"overflow": "saturate"}, {"product_exponent": 1},
        {"flush_to_positive": True}, {"n_fma": 1}, {"method": "sequential", "n_fma": None},
        {"flush_outputs": False, "tininess": "result"},
    ],
    ids=str,
)  # fmt: skip
def test_what_has_no_form(changes: dict[str, object]) -> None:
    model = row_named(UNITS[0]).model
    assert odd_form(model.replace(**changes)) is None


def test_other_kinds_have_no_form() -> None:
    for name in ("hopper/mma.m16n8k16.f32.f16.f16.f32", "x86/tdpbf16ps", "arm/bfdot.ebf1"):
        assert odd_form(row_named(name).model) is None
