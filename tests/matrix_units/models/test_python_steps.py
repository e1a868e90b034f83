"""The steps that are printed of a unit run, and give the unit's words."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from tcsmt.matrix_units.catalogue import row_named, rows, sequences_of
from tcsmt.matrix_units.models.python_steps import NAMES, names_used, python_steps
from tests.oracles import exact, tiny
from tests.oracles.steps import agree, differing


def kinds() -> list[str]:
    """One row of each way of computing; the others differ in numbers alone."""
    found: dict[Any, str] = {}
    for row in rows():
        text = "\n".join(python_steps(row.model))
        shape = (row.model.kind, "".join(c for c in text if not c.isdigit()))
        found.setdefault(shape, row.name)
    return list(found.values())


@pytest.mark.slow_cases("x86/tdpfp16ps@guide")
@pytest.mark.parametrize("name", kinds())
def test_steps_of_a_unit_give_its_words(name: str) -> None:
    model = row_named(name).model
    assert agree(model, 1, 24 if model.k < 64 else 2 * model.k) >= 6  # of more lanes, fewer rows are finite


@pytest.mark.long
@pytest.mark.parametrize("row", list(rows()), ids=lambda row: row.name)
def test_steps_of_every_unit_give_its_words(row: Any) -> None:
    assert agree(row.model, 2, 96) >= 8


@pytest.mark.parametrize("seed", range(12))
def test_steps_of_drawn_models_give_their_words(seed: int) -> None:
    rng = Random(seed)
    ran = 0
    for _ in range(5):
        model = tiny.some_model(rng)
        if exact.describes(model):
            ran += agree(model, rng.randrange(1 << 30), 24)
    assert ran


@pytest.mark.parametrize("name", ["wormhole", "blackhole"])
def test_a_sequence_runs_its_instructions(name: str) -> None:
    for row in sequences_of(name)[:2]:
        assert agree(row.model, 3, 16) >= 6


def test_a_wrong_number_in_the_steps_is_noticed() -> None:
    """The comparison can fail: with one fraction bit less, some row differs."""
    model = row_named("hopper/mma.m16n8k16.f32.f16.f16.f32").model
    steps = "\n".join(python_steps(model))
    assert differing(model, steps.replace("top - 25", "top - 24"), 1, 64)[1]


def test_every_name_is_explained() -> None:
    lines = python_steps(row_named("cdna3/v_mfma_f32_32x32x8_f16").model)
    told = "\n".join(names_used(lines))
    assert "grid(x, e, MODE)" in told and "RTN" in told and "RNA" not in told
    assert all(name in meaning for name, meaning in NAMES.items())


@pytest.mark.parametrize(
    ("name", "section"),
    [
        ("hopper/mma.m16n8k16.f32.f16.f16.f32", "III-C"),
        ("blackwell/tcgen05.mMnNk64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3", "III-E"),
        ("cdna2/v_mfma_f32_32x32x8f16", "III-B"),
        ("cdna3/v_mfma_f32_16x16x32_bf8_bf8", "III-H"),
        ("ampere/mma.m8n8k4.f64.f64.f64.f64", "III-A"),
        ("riscv/rvbna.n32.f32.e5m2.e5m2", ""),
        ("x86/vdpbf16ps", ""),
        ("arm/bfdot.ebf0", ""),
    ],
)
def test_comments_cite_the_paper_on_units_that_it_describes(name: str, section: str) -> None:
    row = row_named(name)
    lines = python_steps(row.model, row.source)
    cited = [line for line in [*lines, *names_used(lines)] if "MMA-Sim" in line]
    assert all(section in line for line in cited) and bool(cited) == bool(section)
    assert section or not any(word.rstrip(":").isdigit() for line in lines for word in line.split("# ")[1:2])
