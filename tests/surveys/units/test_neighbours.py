"""Neighbours of a unit: one parameter changed, and another graph."""

from __future__ import annotations

import pytest

from tcsmt.matrix_units.catalogue import row_named
from tcsmt.surveys.units.neighbours import neighbours
from tests.support.sampling import mostly_long

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    mostly_long(
        [VOLTA, "cdna3/v_mfma_f32_32x32x8_f16", "cdna2/v_mfma_f32_32x32x8f16", "ampere/mma.m8n8k4.f64"],
        [VOLTA],
    ),
)
def test_neighbours_differ_in_one_parameter(name: str) -> None:
    model = row_named(name).model
    found = list(neighbours(model))
    graphs = {model.trace.output, *(near.model.trace.output for near in found)}
    assert len(graphs) == len(found) + 1
    for near in found:
        assert near.model == model.replace(**{near.parameter: near.value})
        assert near.model.input_formats == model.input_formats


@pytest.mark.long
def test_neighbours_along_every_parameter() -> None:
    model = row_named("ampere/mma.m16n8k16.f32.f16.f16.f32").model
    names = {near.name for near in neighbours(model)}
    expected = {
        "n_fma = 4", "n_fma = 16", "fraction_bits = 23", "fraction_bits = 25", "products = normalised",
        "carry_bits = 3", "rounding = RNE", "zero_exponent = -126", "nan = 0x7fc00000", "interleave = 2",
    }  # fmt: skip
    assert expected <= names
    assert "carry_bits = 4" not in names  # enough: the same graph
