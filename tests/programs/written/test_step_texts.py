"""Steps of a text: their options, and what each takes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.programs.steps.program import ProgramStep
from tcsmt.programs.written.step_texts import StepTexts
from tcsmt.programs.written.tokens import Tokens, Wrong
from tcsmt.support.errors import TcsmtError

F16, F32 = FORMATS["f16"], FORMATS["f32"]


def last(text: str) -> ProgramStep:
    """Return the step that a call writes."""
    steps = StepTexts(pytest.fail, {})
    steps.names["A"] = steps.build.input("A", F32, "A")
    steps.names["x"] = steps.build.input("x", F32)
    steps.names["r"] = steps.build.input("r", F32)
    tokens = Tokens.of(text)
    steps.value(tokens)
    assert not tokens.found
    return steps.build.steps[-1]


@pytest.mark.parametrize(
    ("text", "kind", "how"),
    [
        ("add(x, 1:f32, f32, RTZ, shift=5)", "add", {"shift": 5, "rounding": "RTZ", "fmt": "f32"}),
        ("convert(x, f16, RTP, saturate)", "convert", {"rounding": "RTP", "saturate": True, "target": "f16"}),
        ("convert(x, e4m3, saturate, random=r, bits=8)", "convert_randomly", {"bits": 8, "saturate": True}),
        ("multiply_add(x, x, x, f32)", "multiply_add", {"fmt": "f32"}),
        ("negate(x)", "negate", {"fmt": "f32"}),
        ("-x", "negate", {"fmt": "f32"}),
        ("convert(A, f16)", "convert", {"target": "f16"}),
    ],
)
def test_steps(text: str, kind: str, how: dict[str, Any]) -> None:
    step = last(text)
    assert step.kind == kind and step.axes == ("A" if "A" in text else "")
    for name, value in how.items():
        assert getattr(step.how[name], "name", step.how[name]) == value


def test_constants() -> None:
    for text, value in (("1.5:f16", Fraction(3, 2)), ("-2^-3:f32", Fraction(-1, 8)), ("0x3c00:f16", 1)):
        step = last(text)
        assert step.how["fmt"].value(step.how["word"]) == value
    assert last("-0:f32").how["word"] == 1 << 31


def test_a_split_has_its_parameters() -> None:
    split = last("split(A, bf16, 3, RTZ, residual=RNA, scale=8)").how["split"]
    assert (split.words, split.scale, split.rounding.name, split.residual.name) == (3, 8, "RTZ", "RNA")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("multiply_add(x, x, x, f32, RTZ)", "to nearest even"),
        ("split(x, bf16, 2)", "A or B is split"),
        ("convert(x, f16, f32)", "one format is needed"),
        ("add(x, A, f32)", "numbers of the element"),
        ("add(x, x, f32", "expected"),
    ],
)
def test_what_a_step_does_not_take(text: str, why: str) -> None:
    with pytest.raises((Wrong, TcsmtError), match=why):
        last(text)
