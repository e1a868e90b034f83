"""Fused dot-adds held against the exact-rational oracle, parameter by parameter."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.support.errors import TcsmtError
from tests.oracles import exact
from tests.support.model_rows import (
    AMPERE,
    MANY,
    ROWS,
    SEEDS,
    SOME,
    agree,
    as_the_oracle,
    drawn_agrees,
    largest_rows,
    make_rows,
    nans,
    unit_agrees,
)
from tests.support.sampling import mostly_long

INPUTS = sorted(FORMATS)
OUTPUTS = sorted(name for name, fmt in FORMATS.items() if fmt.has_infinity)
MODES = sorted(ROUNDINGS)


@st.composite
def fused_models(draw: st.DrawFn, **fixed: Any) -> FusedDotAdd:
    """Any valid FusedDotAdd of at most 8 lanes."""
    k = draw(st.integers(1, 8))
    n_fma = draw(st.sampled_from([n for n in range(1, k + 1) if k % n == 0]))
    divisors = [g for g in range(1, n_fma + 1) if n_fma % g == 0] if n_fma < k else []
    output = draw(st.sampled_from(OUTPUTS))
    every = draw(st.sampled_from([False, False, True]))
    sticky = not every and draw(st.booleans())
    floors = st.integers(-160, -10) | st.integers(-20, 20) | st.sampled_from([-4096, 4096])
    parameters: dict[str, Any] = {
        "a_format": draw(st.sampled_from(INPUTS)),
        "b_format": draw(st.sampled_from(INPUTS)),
        "c_format": draw(st.sampled_from([*OUTPUTS, *INPUTS])),
        "d_format": output,
        "k": k,
        "n_fma": n_fma,
        "interleave": draw(st.sampled_from([0, *divisors])),
        "fraction_bits": draw(st.integers(1, 30) | st.integers(1, 64) | st.just(600)),
        "products": draw(st.sampled_from(["unnormalised", "normalised"])),
        "alignment": "RTZ" if sticky else draw(st.sampled_from(["RTZ", "RTN", "RNE", *MODES])),
        "alignment_sticky": sticky,
        "carry_bits": None if every else draw(st.none() | st.integers(0, 6)),
        "normalisation": "every" if every else "once",
        "c_position": "aligned" if every else draw(st.sampled_from(["aligned", "summed", "last"])),
        "c_rounding": draw(st.sampled_from(MODES)),
        "zero_exponent": draw(floors if every else st.none() | floors),
        "rounding": draw(st.sampled_from(MODES)),
        "round_fraction_bits": draw(st.none() | st.integers(1, FORMATS[output].fraction_bits)),
        "overflow": draw(st.sampled_from(["infinity", "saturate", "ieee"])),
        "flush_inputs": draw(st.booleans()),
        "flush_outputs": draw(st.booleans()),
        "negative_zero": draw(st.booleans()),
        "nan": draw(nans(output)),
    }
    return FusedDotAdd.of(**parameters | fixed)


@st.composite
def scaled_models(draw: st.DrawFn) -> FusedDotAdd:
    """Any valid FusedDotAdd with block scales, of at most 8 lanes."""
    block = draw(st.sampled_from([1, 2, 4]))
    k = block * draw(st.integers(1, 8 // block))
    n_fma = draw(st.sampled_from([n for n in range(1, k + 1) if k % n == 0]))
    shared = min(n_fma, block)
    narrow = st.sampled_from(["e2m1", "e2m3", "e3m2"])
    group = draw(st.sampled_from([g for g in range(1, shared + 1) if block % g == 0 and n_fma % g == 0]))
    wide = st.sampled_from(["e2m1", "e4m3", "e5m2", "e3m2", "f16"])
    return draw(
        fused_models(
            a_format=draw(narrow if group > 1 else wide),
            b_format=draw(narrow if group > 1 else wide),
            k=k,
            n_fma=n_fma,
            interleave=0,
            products="unnormalised",
            normalisation="once",
            c_position="aligned",
            carry_bits=None,
            flush_inputs=False,
            scale_format=draw(st.sampled_from(["ue8m0", "ue4m3"])),
            scale_block=block,
            group=group,
        )
    )


@pytest.mark.slow
@settings(**SOME)
@given(data=st.data(), seed=SEEDS)
def test_drawn_models_agree_with_the_oracle(data: st.DataObject, seed: int) -> None:
    drawn_agrees(fused_models(), data, seed)


@pytest.mark.long
@settings(**MANY)
@given(data=st.data(), seed=SEEDS)
def test_many_drawn_models_agree_with_the_oracle(data: st.DataObject, seed: int) -> None:
    drawn_agrees(fused_models(), data, seed)


@pytest.mark.slow
@settings(**SOME)
@given(data=st.data(), seed=SEEDS)
def test_drawn_models_with_block_scales_agree_with_the_oracle(data: st.DataObject, seed: int) -> None:
    drawn_agrees(scaled_models(), data, seed)


@pytest.mark.long
@settings(**MANY)
@given(data=st.data(), seed=SEEDS)
def test_many_drawn_models_with_block_scales_agree_with_the_oracle(data: st.DataObject, seed: int) -> None:
    drawn_agrees(scaled_models(), data, seed)


#: Catalogue rows of this arithmetic.
UNITS = [
    "rtx-blackwell/mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e2m1.f32.ue8m0",
    "rtx-blackwell/mma.m16n8k64.kind::mxf4.block32.f32.e2m1.e2m1.f32.ue8m0",
    "blackwell/tcgen05.mMnNk64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3",
]


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("name", UNITS)
def test_units_agree_with_the_oracle(name: str, rows: int) -> None:
    """Catalogue rows as they are."""
    unit_agrees(name, rows)


#: One change at a time of a unit as it is built, so that each parameter is seen to matter alone.
VARIANTS: dict[str, dict[str, Any]] = {
    "Ampere": {},
    "Volta": {"k": 4, "n_fma": 4, "fraction_bits": 23, "zero_exponent": -131},
    "Hopper": {"k": 16, "n_fma": 16, "fraction_bits": 25, "zero_exponent": -133},
    "chained": {"n_fma": 4},
    "interleaved": {"n_fma": 4, "interleave": 2},
    "single products": {"n_fma": 1},
    "half output": {"c_format": "f16", "d_format": "f16", "rounding": "RNE", "zero_exponent": -20},
    "bfloat inputs": {"a_format": "bf16", "b_format": "bf16"},
    "tf32 inputs": {"a_format": "tf32", "b_format": "tf32", "k": 4, "n_fma": 4},
    "fp8 inputs": {
        "a_format": "e4m3", "b_format": "e5m2", "fraction_bits": 13, "round_fraction_bits": 13,
    },
    "normalised": {"products": "normalised"},
    "normalised, own zeros": {"products": "normalised", "zero_exponent": None},
    "own zeros": {"zero_exponent": None},
    "sticky": {"alignment_sticky": True, "rounding": "RNE"},
    "aligned down": {"alignment": "RTN"},
    "aligned to nearest": {"alignment": "RNE"},
    "no carry bits": {"carry_bits": 0},
    "enough carry bits": {"carry_bits": 4},
    "c summed": {"c_position": "summed", "alignment": "RTN", "rounding": "RNE"},
    "c last": {"c_position": "last", "n_fma": 4, "interleave": 1},
    "every addition": {"normalisation": "every"},
    "saturating": {"overflow": "saturate", "a_format": "bf16", "b_format": "bf16"},
    "flushing": {"flush_inputs": True, "flush_outputs": True},
    "negative zero": {"negative_zero": True},
    "another NaN": {"nan": 0xFFC00001},
}  # fmt: skip


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("change", VARIANTS.values(), ids=VARIANTS)
def test_one_parameter_at_a_time(change: dict[str, Any], rows: int) -> None:
    """A known unit with one change."""
    model = AMPERE.replace(**change)
    as_the_oracle(model, 1, rows)


@pytest.mark.parametrize("name", mostly_long(["f16", "e5m2", "bf16"], ["f16"]))
def test_sums_of_the_largest_numbers(name: str) -> None:
    wide = {f"{side}_format": name for side in "abc"}
    largest_rows(AMPERE.replace(**wide, d_format="f64", k=16, n_fma=16, rounding="RNE", alignment="RA"))


@pytest.mark.long
def test_every_pair_of_input_formats() -> None:
    """Decoding and multiplying, for all combinations of a and b."""
    for a in INPUTS:
        for b in INPUTS:
            model = AMPERE.replace(a_format=a, b_format=b, k=2, n_fma=2)
            agree(model, *make_rows(model, 2, 24, model.parameters.fraction_bits))


@pytest.mark.parametrize("name", ["e4m3", "e5m2", "e2m1", "e3m2", "e4m3fnuz", "ue4m3", "ue8m0"])
def test_all_products_of_a_small_format(name: str) -> None:
    """One lane: every word of a, by a spread of words of b."""
    fmt = FORMATS[name]
    model = AMPERE.replace(a_format=name, b_format=name, k=1, n_fma=1)
    words = np.arange(1 << fmt.width, dtype=np.uint64)
    a, b = np.repeat(words, 4), np.tile(words[:: max(1, len(words) // 16)], len(words) * 4)
    agree(model, a[:, None], b[: len(a), None], np.zeros(len(a), np.uint64))


def test_results_are_misplaced_on_one_grid() -> None:
    """A sum that is normalised after every addition has no grid in whose units it could be shifted."""
    allowed = "subnormal_results = 'misplaced': must be rounded when normalisation = every"
    with pytest.raises(TcsmtError, match=allowed):
        AMPERE.replace(subnormal_results="misplaced", normalisation="every", zero_exponent=-132)


def values(name: str) -> set[tuple[bool, bool, bool, Fraction | bool]]:
    """What the words of a format stand for, by the oracle; a NaN is the same with either sign."""
    fmt = FORMATS[name]
    numbers = exact.Format.of(fmt).decode(np.arange(1 << fmt.width))
    rows = zip(numbers.nan, numbers.inf, numbers.sign, numbers.mag, numbers.lsb, strict=True)
    found: set[tuple[bool, bool, bool, Fraction | bool]] = set()
    for nan, infinite, sign, mag, lsb in rows:
        size = False if nan or infinite else Fraction(int(mag)) * Fraction(2) ** int(lsb)
        found.add((bool(nan), bool(infinite), not nan and bool(sign), size))
    return found


NARROW = sorted(name for name, fmt in FORMATS.items() if fmt.width <= 8)


@pytest.mark.parametrize("narrow", NARROW)
def test_an_operand_format_has_every_value_of_the_operands(narrow: str) -> None:
    """No sign, NaN, infinity or negative zero gets lost: all pairs of formats of 8 bits at most."""
    base = AMPERE.replace(a_format=FORMATS[narrow], b_format=FORMATS[narrow])
    for wide in NARROW:
        try:
            base.replace(operand_format=FORMATS[wide])
            taken = True
        except TcsmtError:
            taken = False
        assert taken == (values(narrow) <= values(wide)), (narrow, wide)
