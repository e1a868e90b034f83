"""Orders of IEEE 754 operations held against the exact-rational oracle, parameter by parameter."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.models import IeeeDotAdd
from tests.support.model_rows import (
    MANY,
    ROWS,
    SEEDS,
    SOME,
    agree,
    as_the_oracle,
    drawn_agrees,
    ends,
    largest_rows,
    nans,
    unit_agrees,
)
from tests.support.sampling import mostly_long

INPUTS = sorted(FORMATS)
MODES = sorted(ROUNDINGS)


@st.composite
def ieee_models(draw: st.DrawFn) -> IeeeDotAdd:
    """Any valid IeeeDotAdd of at most 8 lanes."""
    method = draw(st.sampled_from(["sequential", "fma", "pairwise", "exact"]))
    lanes = st.sampled_from([1, 2, 4, 8]) if method == "pairwise" else st.integers(1, 6)
    k = draw(lanes)
    narrow = st.sampled_from(["f16", "bf16", "e5m2", "f32"])
    wide = st.sampled_from(["f16", "bf16", "e5m2", "f32", "f64"])
    inputs = wide if method != "exact" else narrow | st.sampled_from(INPUTS)
    output = draw(wide)
    fused = method in ("fma", "exact")
    return IeeeDotAdd.of(
        a_format=draw(inputs),
        b_format=draw(inputs),
        c_format=draw(inputs),
        d_format=output,
        k=k,
        method=method,
        order=draw(st.none() | st.permutations(range(k)).map(tuple)),
        c_first=draw(st.booleans()),
        product_format=None if fused else draw(st.none() | wide),
        product_rounding=draw(st.sampled_from(MODES)),
        sum_format=draw(wide),
        rounding=draw(st.sampled_from(MODES)),
        d_rounding=draw(st.sampled_from(MODES)),
        nan=draw(nans(output)),
        chains=draw(st.sampled_from([n for n in range(1, k + 1) if k % n == 0])) if method == "fma" else 1,
        product_exponent=draw(st.just(0) | st.integers(-20, 20)),
        **draw(ends()),
    )


@st.composite
def grouped_ieee_models(draw: st.DrawFn) -> IeeeDotAdd:
    """Trees and exact sums in chained blocks; subnormals flushed or not."""
    size, count = draw(st.sampled_from([1, 2, 4])), draw(st.integers(1, 3))
    exact = draw(st.booleans())
    operand = draw(st.sampled_from(["f16", "bf16", "tf32", "e5m2", "e4m3fnuz", "f32"]))
    return IeeeDotAdd.of(
        a_format=operand,
        b_format=operand if exact else draw(st.sampled_from(["f16", "bf16", operand])),
        c_format="f32",
        d_format="f32",
        sum_format="f32",
        k=size * count,
        n_fma=size,
        method="exact" if exact else "pairwise",
        product_format=None if exact else "f32",
        c_first=draw(st.booleans()),
        rounding=draw(st.sampled_from(["RNE", "RNE", "RTO"])),
        **draw(ends()),
        negative_zero=not exact or draw(st.booleans()),
    )


@settings(**SOME)
@given(data=st.data(), seed=SEEDS)
def test_drawn_models_agree_with_the_oracle(data: st.DataObject, seed: int) -> None:
    drawn_agrees(ieee_models(), data, seed, 64)


@pytest.mark.long
@settings(**MANY)
@given(data=st.data(), seed=SEEDS)
def test_many_drawn_models_agree_with_the_oracle(data: st.DataObject, seed: int) -> None:
    drawn_agrees(ieee_models(), data, seed, 64)


@settings(**SOME)
@given(data=st.data(), seed=SEEDS)
def test_drawn_trees_and_exact_sums_agree_with_the_oracle(data: st.DataObject, seed: int) -> None:
    drawn_agrees(grouped_ieee_models(), data, seed, 64)


@pytest.mark.long
@settings(**MANY)
@given(data=st.data(), seed=SEEDS)
def test_many_drawn_trees_and_exact_sums_agree_with_the_oracle(data: st.DataObject, seed: int) -> None:
    drawn_agrees(grouped_ieee_models(), data, seed, 64)


@pytest.mark.parametrize("operand", ["e4m3fnuz", "e4m3", "e5m2fnuz"])
def test_a_flushed_operand_keeps_its_sign_where_its_format_has_no_negative_zero(operand: str) -> None:
    fmt = FORMATS[operand]
    model = IeeeDotAdd.of(
        a_format=operand, b_format=operand, c_format="f32", d_format="f32", sum_format="f32", k=1,
        method="pairwise", product_format="f32", flush_inputs=True,
    )  # fmt: skip
    given = (np.arange(1 << fmt.width), [1, fmt.word(Fraction(1))], [0, 1 << 31, 1 << 31 | 1])
    a, b, c = (part.reshape(-1) for part in np.meshgrid(*given, indexing="ij"))
    agree(model, a[:, None], b[:, None], c)


def test_operands_beyond_the_sum_format_are_multiplied_as_they_are() -> None:
    """2^128·2^-10 is 2^118: numbers that the format of sums does not have are multiplied as they are."""
    model = IeeeDotAdd.of(
        a_format="e8m23fn", b_format="f16", c_format="f32", d_format="f32", sum_format="f32", k=1,
        method="pairwise", product_format="f32",
    )  # fmt: skip
    large, tiny, none = (
        np.array([[word]]) for word in (0x7F800000, FORMATS["f16"].word(Fraction(1, 1024)), 0)
    )
    agree(model, np.concatenate([large, large]), np.concatenate([tiny, none]), np.array([0, 0]))


#: Catalogue rows of this arithmetic.
UNITS = [
    "cdna1/v_mfma_f32_32x32x8f16",
    "cdna1/v_mfma_f32_32x32x4bf16",
    "cdna1/v_mfma_f32_16x16x4f32",
    "cdna2/v_mfma_f32_32x32x8f16",
    "cdna2/v_mfma_f32_32x32x4bf16",
    "cdna2/v_mfma_f32_32x32x8bf16_1k",
    "cdna2/v_mfma_f64_16x16x4f64",
    "ampere/mma.m8n8k4.f64.f64.f64.f64",
]


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("name", UNITS)
def test_units_agree_with_the_oracle(name: str, rows: int) -> None:
    """Catalogue rows as they are."""
    unit_agrees(name, rows)


IEEE = IeeeDotAdd.of(a_format="f16", b_format="f16", c_format="f32", d_format="f32", k=2, sum_format="f32")
IEEE_VARIANTS: dict[str, dict[str, Any]] = {
    "exact products": {},
    "rounded products": {"product_format": "f16", "sum_format": "f16"},
    "c last": {"c_first": False},
    "c last, wide products": {"c_first": False, "product_format": "f32", "sum_format": "f16"},
    "c last, exact products": {"c_first": False, "sum_format": "f16"},
    "another order": {"order": (1, 3, 0, 2), "sum_format": "f16"},
    "wide c": {"c_format": "f64", "sum_format": "f16", "d_format": "f16"},
    "fused": {"method": "fma"},
    "fused, wide c": {"method": "fma", "c_format": "f64", "sum_format": "bf16"},
    "binary64": {
        "method": "fma", "a_format": "f64", "b_format": "f64", "c_format": "f64",
        "d_format": "f64", "sum_format": "f64",
    },
    "pairwise": {"method": "pairwise", "sum_format": "f16"},
    "pairwise, rounded products": {"method": "pairwise", "product_format": "f16"},
    "exact": {"method": "exact"},
    "exact, rounded twice": {"method": "exact", "sum_format": "f32", "d_format": "f16"},
    "rounding down": {"rounding": "RTN", "d_rounding": "RTN"},
    "exact, rounding down": {"method": "exact", "rounding": "RTN"},
    "another NaN": {"nan": 0xFFC00001},
}  # fmt: skip


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("change", IEEE_VARIANTS.values(), ids=IEEE_VARIANTS)
def test_one_ieee_parameter_at_a_time(change: dict[str, Any], rows: int) -> None:
    """Known orders of IEEE 754 operations."""
    model = IEEE.replace(k=4, **change)
    as_the_oracle(model, 1, rows)


@pytest.mark.parametrize("name", mostly_long(["f16", "e5m2", "bf16"], ["f16"]))
@pytest.mark.parametrize("method", ["exact", "fma", "sequential", "pairwise"])
def test_sums_of_the_largest_numbers(name: str, method: str) -> None:
    wide = {f"{side}_format": name for side in "abc"}
    largest_rows(IEEE.replace(**wide, d_format="f64", k=16, method=method, sum_format="f64"))
