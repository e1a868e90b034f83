"""Findings: what is shown of a verdict."""

from __future__ import annotations

from dataclasses import replace

from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd, Model
from tcsmt.prove.statements.finding import Finding, cause_text
from tcsmt.prove.statements.question import ComparedModel, difference
from tcsmt.prove.statements.verdict import Distinguished
from tcsmt.surveys.properties.investigation import one_block

NAME = "volta/mma.m8n8k4.f32.f16.f16.f32"
VOLTA = row_named(NAME).model
assert isinstance(VOLTA, FusedDotAdd)


def side(model: Model) -> ComparedModel:
    return ComparedModel("unit", model, model.trace)


def words(**given: int) -> dict[str, int]:
    return dict.fromkeys(VOLTA.input_names, 0) | given


def test_the_parameter_that_decides_is_named() -> None:
    """1·1 - (2^-1 + 2^-24): with one alignment bit more c keeps its last bit."""
    other = VOLTA.replace(fraction_bits=24, overflow="saturate")
    lost = words(a0=0x3C00, b0=0x3C00, c=0xBF000001)
    text = cause_text(side(VOLTA), side(other), lost)
    assert text == "the cause, with all else equal: alignment fraction bits F (23 against 24)"


def test_two_parameters_of_which_neither_alone_is_the_cause() -> None:
    """c's last bit is kept by a longer alignment, and shows in the result if that is not truncated."""
    other = VOLTA.replace(fraction_bits=26, rounding=ROUNDINGS["RTP"])
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


def test_a_witness_is_reported_as_it_is() -> None:
    """Worked by hand: 1·1 − (2^-1 + 2^-24), where the last bit of c is aligned away or is kept."""
    row = one_block(row_named(NAME).model)
    question = difference("F", ("F = 23", row), ("F = 24", row.replace(fraction_bits=24)))
    words = dict.fromkeys(row.input_names, 0) | {"a0": 0x3C00, "b0": 0x3C00, "c": 0xBF000001}
    witness = Distinguished(values=words, solver="by hand", version="", seconds=0.0)
    data = Finding(question, witness, ("F = 23",)).as_json()
    assert {n: int(v["word"], 16) for n, v in data["inputs"].items()} == words
    # 1 - 2^-1 = 2^-1, and 1 - 2^-1 - 2^-24, which is two units in the last place below it
    assert [(r["side"], r["word"], r["value"]) for r in data["results"]] == [
        ("F = 23", "0x3f000000", "2^-1"), ("F = 24", "0x3efffffe", "1.9999997615814208984375·2^-2"),
    ]  # fmt: skip
    assert data["first_difference"] == {
        "stage": "aligned c",
        "F = 23": "-2^-1  (unit 2^-23)",
        "F = 24": "-1.00000011920928955078125·2^-1  (unit 2^-24)",
    }
    assert data["supported"] == ["F = 23"]
