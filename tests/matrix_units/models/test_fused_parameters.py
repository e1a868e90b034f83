"""The flat parameters of fused sums."""

from __future__ import annotations

from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd, FusedParameters


def test_a_list_of_lanes_becomes_a_tuple() -> None:
    """So that models can be keys."""
    volta = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model.parameters
    table = FusedParameters(**vars(volta) | {"order": [3, 2, 1, 0]})
    assert table.order == (3, 2, 1, 0)
    assert hash(FusedDotAdd.of(**vars(table))) == hash(FusedDotAdd.of(**vars(table)))


def test_a_unit_has_them_all() -> None:
    volta = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model
    p = volta.parameters
    assert isinstance(p, FusedParameters)
    assert (p.n_fma, p.fraction_bits, p.zero_exponent, p.rounding.name) == (4, 23, -131, "RTZ")
    assert FusedDotAdd.of(**vars(p)) == volta
