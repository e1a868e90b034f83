"""Sums to which c is added after a second alignment, held against the exact-rational oracle."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import DotThenAdd
from tcsmt.support.errors import TcsmtError
from tests.support.model_rows import (
    MANY,
    ROWS,
    SEEDS,
    SOME,
    drawn_agrees,
    unit_agrees,
)

MODES = sorted(ROUNDINGS)


@st.composite
def dot_then_add_models(draw: st.DrawFn) -> DotThenAdd:
    """Any valid DotThenAdd of at most 8 lanes."""
    k = draw(st.integers(1, 8))
    n_fma = draw(st.sampled_from([n for n in range(1, k + 1) if k % n == 0]))
    bits = draw(st.integers(1, 30))
    operands = st.sampled_from(["f16", "bf16", "tf32", "e4m3fnuz", "e5m2fnuz", "e4m3", "e2m1"])
    a, b = (FORMATS[draw(operands)] for _ in "ab")
    beyond = max(a.e_min + b.e_max, a.e_max + b.e_min) + 1  # products of subnormal numbers
    output = draw(st.sampled_from(["f32", "f32", "f16", "bf16"]))
    normalised = draw(st.none() | st.integers(1, 40))
    return DotThenAdd(
        a_format=a,
        b_format=b,
        c_format=output if normalised else draw(st.sampled_from([output, "f32", "f16"])),
        d_format=output,
        k=k,
        n_fma=n_fma,
        lane_groups=draw(st.sampled_from([g for g in range(1, n_fma + 1) if n_fma % g == 0])),
        fraction_bits=bits,
        alignment=draw(st.sampled_from(["RTZ", "RTZ", *MODES])),
        product_limit=draw(st.none() | st.integers(beyond, max(beyond, a.e_max + b.e_max + 2))),
        dot_fraction_bits=bits + draw(st.integers(0, 10)),
        realignment=draw(st.sampled_from(["RTN", "RTN", *MODES])),
        c_reach=draw(st.none() | st.integers(1, 30) | st.just(1000)),
        normalised_fraction_bits=normalised,
        rounding=draw(st.sampled_from(MODES)),
    )


@settings(**SOME)
@given(data=st.data(), seed=SEEDS)
def test_drawn_models_agree_with_the_oracle(data: st.DataObject, seed: int) -> None:
    drawn_agrees(dot_then_add_models(), data, seed)


@pytest.mark.long
@settings(**MANY)
@given(data=st.data(), seed=SEEDS)
def test_many_drawn_models_agree_with_the_oracle(data: st.DataObject, seed: int) -> None:
    drawn_agrees(dot_then_add_models(), data, seed)


#: Catalogue rows of this arithmetic.
UNITS = [
    "cdna3/v_mfma_f32_16x16x16_f16",
    "cdna3/v_mfma_f32_32x32x8_bf16",
    "cdna3/v_mfma_f32_16x16x8_xf32",
    "cdna3/v_mfma_f32_16x16x32_fp8_bf8",
    "cdna3/v_mfma_f32_32x32x8_f16@paper",
]


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("name", UNITS)
def test_units_agree_with_the_oracle(name: str, rows: int) -> None:
    """Catalogue rows as they are."""
    unit_agrees(name, rows)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_fma": 5}, "n_fma = 5: must be a divisor of k = 8"),
        ({"lane_groups": 3}, "lane_groups = 3: must be a divisor of n_fma = 8"),
        ({"dot_fraction_bits": 3}, "dot_fraction_bits = 3: must be fraction_bits or more"),
        ({"product_limit": 0}, "product_limit = 0: must be None or from"),
        ({"c_reach": 0}, "c_reach = 0: must be None or from 1 to 1024"),
        ({"c_format": "e2m1", "d_format": "e2m1"}, "d_format = e2m1: must be a format with infinities"),
    ],
)
def test_contradictory_parameters_are_refused(change: dict[str, Any], message: str) -> None:
    unit = row_named("cdna3/v_mfma_f32_16x16x16_f16").model
    assert isinstance(unit, DotThenAdd)
    unit = unit.replace(k=8, n_fma=8)
    with pytest.raises(TcsmtError, match=message):
        unit.replace(**change)
