"""AMD's matrix cores: words whose result is known from the sources."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.catalogue import row_named, rows
from tcsmt.matrix_units.models import DotThenAdd, IeeeDotAdd, IntegerDotAdd
from tcsmt.simulate.measured.datasets import explaining_row, find_datasets, replay
from tests.support.catalogue_words import result, word_of

CDNA = ("cdna1", "cdna2", "cdna3")
#: How many of how many measured results each other reading of an instruction misses.
MISSED = {
    "cdna1/v_mfma_f32_32x32x4f16@chain": (221, 236),
    "cdna1/v_mfma_f32_32x32x2bf16@chain": (490, 493),
    "cdna2/v_mfma_f32_32x32x4f16@chain": (5, 11),
    "cdna3/v_mfma_f32_32x32x8_f16@paper": (4, 141),
    "cdna3/v_mfma_f32_32x32x8_f16@chain": (78, 141),
    "cdna3/v_mfma_f32_32x32x8_bf16@paper": (0, 49),
    "cdna3/v_mfma_f32_32x32x8_bf16@chain": (40, 49),
    "cdna3/v_mfma_f32_32x32x4_xf32@paper": (0, 8),
    "cdna3/v_mfma_f32_32x32x16_fp8_bf8@paper": (0, 1),
    "cdna3/v_mfma_f32_32x32x16_bf8_bf8@paper": (0, 125),
    "cdna3/v_mfma_f32_32x32x16_bf8_bf8@chain": (44, 125),
}


def test_every_measured_result_is_the_models(cdna_data: Path) -> None:
    """All 1,233 words, bit for bit; each other reading of these instructions misses as many as we say."""
    total, held, missed = 0, {}, {}
    for dataset in find_datasets([cdna_data]):
        row = explaining_row(dataset)
        found = replay(dataset, row.model)
        assert (found.mismatches, found.examples) == (0, ()), dataset.name
        total += found.rows
        held[row.name] = dataset.name
        for other in rows(row.architecture):
            if other.instruction.startswith(f"{row.instruction}@"):
                tried = replay(dataset, other.model)
                missed[other.name] = (tried.mismatches, tried.rows)
    assert (len(held), total) == (23, 1233)
    assert missed == MISSED
    for architecture in CDNA:
        for row in rows(architecture):
            assert row.measured == ((held[row.name],) if row.name in held else ()), row.name
            assert (row.evidence == "measured") == (row.name in held), row.name


def test_readings_that_measured_results_contradict_are_refuted() -> None:
    """And only those; what no result tells apart is disputed."""
    for architecture in CDNA:
        for row in rows(architecture):
            if "@" in row.instruction:
                wrong, _ = MISSED.get(row.name, (0, 0))
                assert row.status == ("refuted" if wrong else "disputed"), row.name
                assert not wrong or f"{wrong} of " in row.note, row.name


def test_cdna3_rounds_the_papers_example_down() -> None:
    """2048·2048 - 2048·2048 - 10^-6 on CDNA3 gives -0.25 (MMA-Sim, V-C); the others give c."""
    small = -(2.0**-20)
    a, b = [2048.0, 2048.0], [2048.0, -2048.0]
    for types in ("f16", "bf16", "xf32"):
        assert result(
            f"cdna3/v_mfma_f32_{'32x32x4' if types == 'xf32' else '32x32x8'}_{types}", a, b, small
        ) == (Fraction(-1, 4))
    for exact in ("cdna1/v_mfma_f32_32x32x8f16", "cdna2/v_mfma_f32_32x32x8f16"):
        assert result(exact, a, b, small) == Fraction(small)


def test_cdna2_flushes_subnormal_numbers() -> None:
    """MMA-Sim, V-B: a subnormal FP16 operand is zero on CDNA2, and counts on CDNA1 and CDNA3."""
    tiny = 2.0**-20
    assert result("cdna2/v_mfma_f32_32x32x8f16", [tiny], [1.0], 0.0) == 0
    assert result("cdna1/v_mfma_f32_32x32x8f16", [tiny], [1.0], 0.0) == Fraction(tiny)
    assert result("cdna3/v_mfma_f32_32x32x8_f16", [tiny], [1.0], 0.0) == Fraction(tiny)


def test_kinds() -> None:
    """CDNA2 adds with IEEE operations; CDNA3 sums products, then adds c."""
    assert isinstance(row_named("mi300x").model, DotThenAdd)
    assert isinstance(row_named("mi250x").model, IeeeDotAdd)


@pytest.mark.parametrize("name", ["cdna1/v_mfma_i32_32x32x8i8", "cdna3/v_mfma_i32_16x16x32_i8"])
def test_integers_wrap(name: str) -> None:
    """(-128)^2 is 2^14: beside the largest c, bits are carried out of the word."""
    last = row_named(name).model.k - 1
    assert word_of(name, **{f"a{last}": 0x80, f"b{last}": 0x80}, c=0x7FFFFFFF) == 0x80003FFF
    assert word_of(name, a0=0x80, b0=0x7F) == (-128 * 127) % 2**32


def test_integer_rows_say_k() -> None:
    integers = [row for row in rows() if row.instruction.startswith("v_mfma_i32")]
    assert {row.architecture for row in integers} == {*CDNA, "cdna4"}
    for row in integers:
        model = row.model
        assert isinstance(model, IntegerDotAdd)
        evidence = "conjectured" if row.architecture == "cdna4" else "published"
        assert (row.evidence, model.n_fma, model.overflow) == (evidence, None, "wrap")
        assert f"x{model.k}" in row.instruction


def test_nothing_is_known_of_cdna4() -> None:
    """Every row is conjectured, and says so."""
    for row in rows("cdna4"):
        assert row.evidence == "conjectured" and row.note.startswith("conjectured: "), row.name


@pytest.mark.parametrize(("unit", "expected"), [("cdna2", 0), ("cdna4", 0xAC800000)])
def test_both_readings_of_dot2_give_the_public_results(unit: str, expected: int) -> None:
    """llvm-project, pull request 205101: a subnormal operand is a zero on gfx90a and counts on gfx950."""
    for reading in ("", "@chain"):
        assert word_of(f"{unit}/v_dot2_f32_f16{reading}", a0=0x8001, b0=0x0400) == expected
    assert float(np.uint32(0xAC800000).view(np.float32)) == -(2.0**-38)


def test_integer_wmma_of_gfx11() -> None:
    """Four pairs of signs, of eight or four bits; clamped once or not at all."""
    name = "rdna3/v_wmma_i32_16x16x16_iu8_w32"
    assert word_of(f"{name}.s8.u8", a0=0x80, b0=0xFF) == (-128 * 255) % 2**32
    assert word_of(f"{name}.u8.s8", a0=0x80, b0=0xFF) == (128 * -1) % 2**32
    assert word_of("rdna3/v_wmma_i32_16x16x16_iu4_w64.s4.u4", a3=0x8, b3=0xF) == (-8 * 15) % 2**32
    top, row = 2**31 - 1, {"a0": 1, "b0": 1, "a15": 0xFF, "b15": 1}
    assert word_of(f"{name}.s8.s8.clamp", **row, c=top) == top
    assert word_of(f"{name}.s8.s8.clamp", a0=1, b0=1, c=top) == top
    assert word_of(f"{name}.s8.s8", a0=1, b0=1, c=top) == 2**31
    parts = row_named(f"{name}.s8.s8.clamp").model.replace(n_fma=4)
    values = dict.fromkeys(parts.input_names, 0) | row | {"c": top}
    assert evaluate([parts.trace.output], values) == [top - 1]  # what clamping after parts would give
