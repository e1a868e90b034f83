"""Sums of integers that are proved exact: against Python's integers, and with planted errors."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.exactness.sums import exact_below, most_bits
from tcsmt.language.run.arrays import Program, storage
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import DotThenAdd, FusedDotAdd, Kind, Model
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tests.oracles import tiny
from tests.support.planted import put, rare, wrong_where
from tests.support.proofs import shared_proof

NARROW = tiny.described(exponent_bits=3, fraction_bits=1, bias=3)
WIDE = tiny.described(exponent_bits=4, fraction_bits=2, bias=7)
#: Formats of c and of the result; one has fewer bits than the other.
WIDES = ((WIDE, WIDE), (WIDE, WIDE), (tiny.described(exponent_bits=4, fraction_bits=3, bias=7), WIDE))


def proved(unit: Model) -> int:
    """The most bits that are proved."""
    solving = Solving(SolvingOptions(steps=1_000_000))
    for bits in range(most_bits(unit), 0, -1):
        try:
            exact_below(StepwiseProof(solving), unit, bits)
        except Unbounded:
            continue
        return bits
    return 0


def integers_of(fmt: Any, limit: int) -> dict[int, int]:
    """The integers of a format below a limit, by their words."""
    found = {}
    for word in range(1 << fmt.width):
        if fmt.is_nan(word) or fmt.is_infinite(word):
            continue
        value = fmt.value(word)
        if value.denominator == 1 and abs(value) < limit:
            found[word] = int(value)
    return found


def wrong_below(unit: Model, bits: int) -> tuple[int, ...] | None:
    """Words of integers with |c| + Σ |a·b| below 2^bits whose sum is not exact: all are tried."""
    limit = 1 << bits
    formats = unit.input_formats
    lists = [integers_of(formats[name], limit) for name in unit.input_names]
    rows = np.array(list(product(*lists))).T
    numbers = dict(
        zip(unit.input_names, np.array(list(product(*(one.values() for one in lists)))).T, strict=True)
    )
    products = [numbers[f"a{lane}"] * numbers[f"b{lane}"] for lane in range(unit.k)]
    small = abs(numbers["c"]) + sum(map(abs, products)) < limit
    sums, rows = (numbers["c"] + sum(products))[small], rows[:, small]
    columns = {
        name: words.astype(storage(formats[name].width))
        for name, words in zip(unit.input_names, rows, strict=True)
    }
    results = np.broadcast_to(Program([unit.trace.output]).run(columns)[0], len(sums))
    # a word that is no integer gets one that no sum is
    value = integers_of(unit.d_format, 1 << 62)
    given = np.array([value.get(word, 1 << 62) for word in range(1 << unit.d_format.width)])[results]
    wrong = np.flatnonzero(given != sums)
    return tuple(rows[:, wrong[0]].tolist()) if wrong.size else None


def some_unit(rng: Random, k: int = 1) -> Model:
    c, d = rng.choice(WIDES)
    given: dict[str, Any] = {"a_format": NARROW, "b_format": NARROW, "c_format": c, "d_format": d}
    if rng.random() < 0.2:
        return DotThenAdd(**given | {"k": k, "n_fma": k, "fraction_bits": rng.choice((2, 3)),
                                     "dot_fraction_bits": 3, "rounding": "RNE"})  # fmt: skip
    given |= {"k": k, "n_fma": k, "rounding": rng.choice(("RTZ", "RNE", "RTP", "RTN"))}
    given |= {"fraction_bits": rng.choice((1, 1, 2, 2, 3, 4)), "alignment": rng.choice(("RTZ", "RTN", "RNE"))}
    given |= {"zero_exponent": rng.choice((None, None, -2))}
    given["round_fraction_bits"] = rng.choice((None, None, 1))
    return FusedDotAdd.of(**given)


def grouped_unit(rng: Random) -> FusedDotAdd:
    """Two products that are summed on a grid of their own first; c with another exponent."""
    c, d = rng.choice(WIDES)
    return FusedDotAdd.of(
        a_format=NARROW, b_format=NARROW, c_format=c, d_format=d, k=2, n_fma=2, group=2,
        group_fraction_bits=rng.choice((1, 2, 2, 3, 4)), fraction_bits=rng.choice((2, 3, 3, 4)),
        alignment=rng.choice(("RTN", "RTN", "RTZ", "RNE")), c_exponent_offset=rng.choice((0, -1, -1)),
        zero_c=rng.choice(("fields", "zero_exponent")), zero_exponent=-20,
        c_dropped_above=rng.choice((None, -3)), rounding=rng.choice(("RNE", "RNE", "RTZ", "RTP")),
    )  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("seeds", [range(1), pytest.param(range(100, 118), marks=pytest.mark.long)], ids=str)
def test_sums_of_groups(seeds: range) -> None:
    """What is proved holds for all inputs, also with a planted error in some stage."""
    closed = wrong = 0
    kinds = Kind.GROUP_SUM, Kind.ALIGNED_PRODUCT, Kind.ALIGNED_C, Kind.RESULT
    for seed in seeds:
        rng = Random(f"groups {seed}")
        unit = grouped_unit(rng)
        bits = proved(unit)
        assert wrong_below(unit, bits) is None, (seed, unit, bits)
        closed += bits == most_bits(unit) or wrong_below(unit, bits + 1) is not None
        stage = rng.choice(list(unit.trace.of(*kinds)))
        row = {name: rng.choice(list(integers_of(fmt, 3))) for name, fmt in unit.input_formats.items()}
        found = replace(unit)
        found.__dict__["trace"] = put(unit.trace, stage, wrong_where(rng, stage, rare(rng, unit.trace, row)))
        still = proved(found)
        assert not still or wrong_below(found, still) is None, (seed, unit, stage.name)
        wrong += wrong_below(found, bits) is not None
    print(closed, wrong)
    assert closed >= len(seeds) / 2 and wrong >= len(seeds) / 4


@pytest.mark.slow
@pytest.mark.parametrize(
    "seeds",
    [
        range(3),
        pytest.param(range(5), marks=pytest.mark.long),
        pytest.param(range(100, 160), marks=pytest.mark.long),
    ],
    ids=str,
)
def test_proofs_about_tiny_units_hold_for_all_inputs(seeds: range) -> None:
    counts: Counter[str] = Counter()
    for seed in seeds:
        unit = some_unit(Random(f"integers {seed}"), k=1 + (seed % 5 == 4))
        bits = proved(unit)
        assert wrong_below(unit, bits) is None, (seed, unit, bits)
        closed = bits == most_bits(unit) or wrong_below(unit, bits + 1) is not None
        counts["the most bits" if closed else "fewer than hold"] += 1
    print(dict(counts))
    assert counts["the most bits"] >= len(seeds) / 3


def flushing_unit(rng: Random) -> FusedDotAdd:
    """A unit that reads subnormal numbers as zeros; some change signs by the complement."""
    flushes, complement = rng.random() < 0.5, rng.random() < 0.3
    return FusedDotAdd.of(
        a_format=NARROW, b_format=NARROW, c_format=WIDE, d_format=WIDE, k=1, n_fma=1,
        fraction_bits=rng.choice((1, 2, 2, 3, 4)), rounding=rng.choice(("RTZ", "RNE")),
        alignment_complement=complement, flush_inputs=rng.random() < 0.4, flush_c=True,
        flush_outputs=flushes, zero_exponent=rng.choice((None, -20)),
    )  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(100, 140), marks=pytest.mark.long)], ids=str)
def test_sums_with_a_c_that_is_flushed(seeds: range) -> None:
    some = 0
    for seed in seeds:
        unit = flushing_unit(Random(f"flushed {seed}"))
        bits = proved(unit)
        assert wrong_below(unit, bits) is None, (seed, unit, bits)
        some += bits > 0
    assert some >= len(seeds) / 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "seeds",
    [
        range(2, 4),
        pytest.param(range(4), marks=pytest.mark.long),
        pytest.param(range(100, 180), marks=pytest.mark.long),
    ],
    ids=str,
)
def test_planted_errors_are_not_proved_away(seeds: range) -> None:
    """A stage that is wrong on few inputs: what is proved still holds."""
    wrong = 0
    for seed in seeds:
        rng = Random(f"planted {seed}")
        unit = some_unit(rng)
        if not isinstance(unit, FusedDotAdd):
            unit = FusedDotAdd.of(
                a_format=NARROW, b_format=NARROW, c_format=WIDE, d_format=WIDE, k=1, n_fma=1,
                fraction_bits=3, rounding="RNE", zero_exponent=None,
            )  # fmt: skip
        before = proved(unit)
        trace = unit.trace
        kinds = Kind.ALIGNED_PRODUCT, Kind.ALIGNED_C, Kind.RESULT
        stage = rng.choice(list(trace.of(*kinds)))
        small = [word for word, value in integers_of(NARROW, 3).items() if value]
        row = {"a0": rng.choice(small), "b0": rng.choice(small), "c": rng.choice([0, WIDE.word(Fraction(1))])}
        found = replace(unit)
        found.__dict__["trace"] = put(trace, stage, wrong_where(rng, stage, rare(rng, trace, row)))
        bits = proved(found)
        refuted = wrong_below(found, before) is not None
        wrong += refuted
        # nothing at all is claimed of 0 bits
        assert not bits or wrong_below(found, bits) is None, (seed, unit, bits)
    assert wrong >= len(seeds) / 3


@pytest.mark.parametrize(
    ("name", "bits"),
    [
        pytest.param("volta/mma.m8n8k4.f32.f16.f16.f32", 24, marks=pytest.mark.long),
        ("x86/vdpbf16ps", 24),
        ("cdna2/v_mfma_f32_32x32x8f16", 24),
        pytest.param("hopper/mma.m16n8k8.f16.f16.f16.f16", 11, marks=pytest.mark.long),
        pytest.param("rdna4/v_dot2_f32_f16", 24, marks=pytest.mark.long),
    ],
)
def test_units(name: str, bits: int) -> None:
    unit = row_named(name).model
    assert most_bits(unit) == bits
    exact_below(shared_proof(), unit, bits)


def test_units_without_lemmas_are_refused() -> None:
    for name in ("x86/vpdpbusd", "blackwell/tcgen05.mMnNk64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0"):
        with pytest.raises(Unbounded):
            most_bits(row_named(name).model)
    with pytest.raises(Unbounded, match="25 bits: must be from 1 to 24"):
        exact_below(shared_proof(), row_named("x86/vdpbf16ps").model, 25)
