"""Pictures: what is drawn is what the evaluator says."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.interface.api.units import side_of
from tcsmt.interface.pictures.build import draw, exact_sum
from tcsmt.interface.pictures.drawing import BitFate, BitGrid, Listing
from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.arithmetic.datapath import Fixed, Number
from tcsmt.matrix_units.arithmetic.formats import Format, float_format
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd, Model
from tcsmt.prove.statements.explain import fixed_value, known_words, number_value
from tests.support.drawn import MODELS, VOLTA, notes, only_grid, picture, results, row
from tests.support.sampling import one_in


@st.composite
def inputs(draw_one: st.DrawFn, model: Model, *, near: bool) -> dict[str, int]:
    """Words of any pattern, or numbers of exponents near each other."""
    values = {}
    for name, any_format in model.input_formats.items():
        fmt = float_format(any_format)
        word = draw_one(st.integers(0, (1 << fmt.width) - 1))
        if near:
            middle = (1 << (fmt.exponent_bits - 1)) - draw_one(st.integers(0, 4))
            sign, _, fraction = fmt.fields(word)
            word = (sign << fmt.sign_bit) | (middle << fmt.fraction_bits | fraction) << fmt.ignored_low_bits
        values[name] = draw_one(st.sampled_from((word, word, 0)))
    return values


def check(model: Model, values: dict[str, int]) -> None:
    known = known_words(model.trace, values)
    named: dict[str, Any] = {s.name: s.value for s in model.trace.stages}
    shown = draw("model", model, values)
    for panel in shown.panels:
        if not isinstance(panel, BitGrid):
            continue
        kept = Fraction()
        for term in panel.terms:
            drawn = term.value(BitFate.KEPT, BitFate.CHANGED)
            kept += drawn
            for stage in term.stages:
                match named[stage]:
                    case Number() as x:  # kept + cut is the exact product
                        assert term.value() == number_value(x, known)
                    case Fixed() as x if not x.addends:
                        assert drawn == fixed_value(x, known)
                    case Fixed() as x if not any(c.fate is BitFate.CHANGED for c in term.cells):
                        assert term.value() == fixed_value(x, known)
            assert all(c.weight >= panel.unit for c in term.cells if c.fate is BitFate.KEPT)
            assert all(c.weight < panel.unit for c in term.cells if c.fate is BitFate.CUT)
        total, *others = panel.sums
        assert total.value() == kept == fixed_value(named[total.stages[0]], known)
        for other in others:
            (last_stage,) = (s for s in model.trace.stages if s.name == other.stages[0])
            match last_stage.value:
                case Fixed() as x:
                    assert other.value() == fixed_value(x, known)
                case Format() as fmt if not fmt.is_infinite(known[last_stage.term]):
                    assert other.value(BitFate.ROUNDED) == fmt.value(known[last_stage.term])
    last = next(note.text for note in shown.results if note.label == "result")
    assert last.startswith(model.d_format.hex(evaluate([model.trace.output], values)[0]))


@pytest.mark.parametrize("name", one_in(2, MODELS))
@pytest.mark.parametrize("near", [True, False])
@pytest.mark.parametrize("examples", [3, pytest.param(12, marks=pytest.mark.long)])
def test_bits(name: str, near: bool, examples: int) -> None:
    model = row_named(name).model

    @settings(max_examples=examples, deadline=None)
    @given(inputs(model, near=near))
    def holds(values: dict[str, int]) -> None:
        check(model, values)

    holds()


@pytest.mark.parametrize("near", [True, False])
def test_losses_add_up(near: bool) -> None:
    """Alignment and final rounding are all that one fused sum loses."""
    model = row_named(VOLTA).model

    @settings(max_examples=50, deadline=None)
    @given(inputs(model, near=near))
    def holds(values: dict[str, int]) -> None:
        text = results(draw("model", model, values))
        assert "steps without a grid" not in text.get("lost by", "")
        exact = exact_sum(model, values)
        if "error" in text and text["error"].startswith("none"):
            assert model.d_format.value(evaluate([model.trace.output], values)[0]) == exact

    holds()


def test_rounded_alignment() -> None:
    volta = row_named(VOLTA).model
    shown = only_grid(picture(volta.replace(alignment="RNE"), a0="1.5", b0="1.5", c="0x1.fffffep-4"))
    c = row(shown, "c")
    assert c.value(BitFate.KEPT, BitFate.CHANGED) == Fraction(1, 8)
    assert any(cell.fate is BitFate.CHANGED for cell in c.cells)
    assert "the sum changes by 2^-27" in notes(shown)


def test_truncation() -> None:
    shown = picture(row_named("ampere/mma.m16n8k8.f32.f16").model, a0="1.5", b0="1.5", c="0x1.fffffep-4")
    grid = only_grid(shown)
    assert (grid.top, grid.unit, grid.carry_bits) == (0, -24, 4)
    assert row(grid, "c").value(BitFate.CUT) == Fraction(7, 1 << 27)
    assert "the sum changes by -1.75·2^-25" in notes(grid)
    assert "7 terms are zero (in the maximum with exponent -132)" in notes(grid)
    assert "largest exponent 2^0 (of a0·b0)" in notes(grid)
    assert results(shown)["lost by"].startswith("alignment -0.2188 ulp")


def test_carry_bits() -> None:
    volta = row_named(VOLTA).model
    given_lanes = {f"{side}{lane}": "1.5" for side in "ab" for lane in range(4)}
    grid = only_grid(picture(volta, **given_lanes))
    carry = [c for c in row(grid, "sum").cells if c.weight > grid.top + 1]
    assert [(c.weight, c.bit, c.fate) for c in carry] == [(3, 1, BitFate.LEADING), (2, 0, BitFate.CARRY)]
    assert "2 of 3 carry bits used; leading bit 2^3: normalisation shift 3 to the right" in notes(grid)
    wrapped = picture(volta.replace(carry_bits=0), **given_lanes)
    assert "does not fit 0 carry bits and wraps to 1" in notes(only_grid(wrapped))
    assert "carry bits" in results(wrapped)["lost by"]


def test_final_rounding() -> None:
    f16 = row_named("volta/mma.m8n8k4.f16.f16.f16.f16").model
    text = notes(only_grid(picture(f16, a0="1.5", b0="0x3c01", a1="0x1p-12", b1="1")))
    assert "f16 (RNE, nearest, ties to even): 11 bits kept, down to 2^-10" in text
    assert "1.5·2^-11 dropped, magnitude raised by one unit" in text
    assert "as the result is subnormal" in notes(only_grid(picture(f16, a0="0x1p-12", b0="0x1.8p-10")))
    over = picture(f16, a0="65504", b0="2")
    assert "overflow to infinity" in notes(only_grid(over))
    assert "error" not in results(over)
    fp8 = row_named("hopper/wgmma.m64nNk32.f32.e4m3.e4m3").model
    assert "14 bits kept, down to 2^-13" in notes(only_grid(picture(fp8, a0="1", b0="1")))
    assert "result 0" in notes(only_grid(picture(f16)))


def test_special_values() -> None:
    volta = row_named(VOLTA).model
    for texts, rule in [
        ({"a0": "inf", "b0": "0"}, "infinity times zero"),
        ({"a0": "inf", "b0": "1", "c": "-inf"}, "infinity minus infinity is NaN"),
        ({"a0": "inf", "b0": "1"}, "an infinity among the terms is the result"),
        ({"c": "nan"}, "a NaN among the terms"),
    ]:
        (panel,) = picture(volta, **texts).panels
        assert isinstance(panel, Listing)
        assert rule in notes(panel) + "".join(n.text for n in panel.notes)

    last = picture(row_named("cdna3/v_mfma_f32_32x32x8_f16").model, a0="1", b0="1", c="inf").panels[-1]
    assert isinstance(last, Listing)
    assert "c: not finite" in notes(last)


def test_rounding_down() -> None:
    """MMA-Sim's example: 2048·2048 - 2048·2048 - 10^-6 is -0.25 on CDNA3."""
    cdna3 = row_named("cdna3/v_mfma_f32_32x32x8_f16").model
    shown = picture(cdna3, a0="2048.0", b0="2048.0", a1="-2048.0", b1="2048.0", c="0xb58637bd")
    last = shown.panels[-1]
    assert isinstance(last, BitGrid)
    c = row(last, "c")
    assert c.value(BitFate.CHANGED) == Fraction(-1, 4) and not c.value(BitFate.KEPT)
    assert "alignment rounds c" in notes(last)
    assert results(shown)["value"] == "-2^-2 = -0.25"


def test_chain_and_last_c() -> None:
    shown = picture(
        row_named("hopper/mma.m16n8k32.f32.e4m3.e4m3.f32").model, a0="1.5", b0="1", a2="7", b2="9", c="2"
    )
    first, second, last = shown.panels
    assert isinstance(first, BitGrid) and isinstance(second, BitGrid) and isinstance(last, Listing)
    assert [r.label for r in second.terms] == ["a2·b2", "c ← block 0"]
    assert last.notes[0].label == "c added"


def test_without_grid() -> None:
    shown = picture(row_named(f"{VOLTA}@fasi").model, a0="1.5", b0="24576", c="-0.111328125")
    (panel,) = shown.panels
    assert isinstance(panel, Listing)
    assert [n.label for n in panel.notes] == ["sum 1", "sum 2", "sum 3", "sum 4", "result"]
    special = picture(row_named(f"{VOLTA}@fasi").model, a0="inf", b0="1")
    assert results(special)["special"].startswith("a0: not finite")
    volta = row_named(VOLTA).model
    for changes in ({"normalisation": "every"}, {"c_position": "summed"}):
        other = volta.replace(**changes)
        assert isinstance(other, FusedDotAdd)
        assert any(isinstance(p, BitGrid) for p in picture(other, a0="1.5", b0="2", c="1").panels)


def test_losses_of_a_kernel_are_those_of_its_steps() -> None:
    """Each step is named as in the picture; together they are the error."""
    model = side_of(f"{VOLTA}+split-k:2,parts=bf16+out=f16@8").row.model
    shown = picture(model, a0="1.5", b0="1.5", a7="0x1.7p-3", b7="0x1.358p-5", c="0x1.99999ap-4")
    lost = [part.rsplit(" ", 2) for part in results(shown)["lost by"].split("; ")]
    listed = {note.label for panel in shown.panels for note in panel.notes}
    assert {name for name, _, _ in lost} <= listed
    assert {"converted 3", "converted 7"} <= {name for name, _, _ in lost}
    (error,) = re.findall(r"= (\S+) ulp", results(shown)["error"])
    assert sum(float(part) for _, part, _ in lost) == pytest.approx(float(error), abs=1e-3)


def test_a_loss_counts_as_often_as_its_sum(tmp_path: Path) -> None:
    """Times 3 and 2^-1 after the chain; what is not computed is left out."""
    lines = [
        'a_format = "f16"', 'b_format = "f16"', 'nan = "quiet"', 'program = """',
        f"p = chain({VOLTA}, A·B over K[0:4], +0)", "d = multiply(p, 1.5:f32, f32)", '"""',
    ]  # fmt: skip
    path = tmp_path / "three.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    given = {"a0": "1.5", "b0": "1", "a1": "0x1.554p-10", "b1": "0x1.554p-14"}
    (single,) = re.findall(
        r"alignment (\S+) ulp", results(picture(row_named(VOLTA).model, **given))["lost by"]
    )
    scaled = results(picture(side_of(f"{path}@5").row.model, **given, a4="1", b4="2"))["lost by"]
    # 1.5 times, and one unit in the last place of the result is twice as large
    (ours,) = re.findall(r"instruction 0: alignment (\S+) ulp", scaled)
    assert float(ours) == pytest.approx(float(single) * 1.5 / 2, rel=1e-3)
    assert re.search(r"left out -\S+ ulp$", scaled)
