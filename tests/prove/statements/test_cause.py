"""The sentence that says why two units differ on an input."""

from __future__ import annotations

from dataclasses import replace

from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd, Model
from tcsmt.prove.statements.cause import cause_text
from tcsmt.prove.statements.question import Side

VOLTA = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model
assert isinstance(VOLTA, FusedDotAdd)


def side(model: Model) -> Side:
    return Side("unit", model, model.trace)


def words(**given: int) -> dict[str, int]:
    return dict.fromkeys(VOLTA.input_names, 0) | given


def test_the_parameter_that_decides_is_named() -> None:
    """1·1 - (2^-1 + 2^-24): with one alignment bit more c keeps its last bit."""
    other = VOLTA.varied(fraction_bits=24, overflow="saturate")
    lost = words(a0=0x3C00, b0=0x3C00, c=0xBF000001)
    text = cause_text(side(VOLTA), side(other), lost)
    assert text == "the cause, with all else equal: alignment fraction bits F (23 against 24)"


def test_two_parameters_of_which_neither_alone_is_the_cause() -> None:
    """c's last bit is kept by a longer alignment, and shows in the result if that is not truncated."""
    other = VOLTA.varied(fraction_bits=26, rounding=ROUNDINGS["RTP"])
    text = cause_text(side(VOLTA), side(other), words(a0=0x3C00, b0=0x3C00, c=0x32800000))
    assert text.startswith(
        "no parameter alone is the cause; the units differ in alignment fraction bits F (23"
    )
    assert "final rounding (RTZ against RTP)" in text


def test_other_kinds_and_the_same_model() -> None:
    cdna = row_named("cdna2/v_mfma_f32_32x32x8f16").model
    assert cause_text(side(VOLTA), side(cdna), words()).startswith(
        "the units are of different kinds: one fused"
    )
    assert cause_text(side(VOLTA), side(replace(VOLTA)), words()) == ""
