"""Programs and steps that a test writes as text."""

from __future__ import annotations

import pytest

from tcsmt.interface.api.units import side_of
from tcsmt.matrix_units.arithmetic.formats import FORMATS, format_named
from tcsmt.matrix_units.models import Model
from tcsmt.programs.steps.program import ProgramStep, UnitProgram
from tcsmt.programs.written.grammar import program_of
from tcsmt.programs.written.step_texts import StepTexts
from tcsmt.programs.written.tokens import Tokens

__all__ = ["H100", "last_step", "unit", "written"]

H100 = "hopper/mma.m16n8k16.f32.f16.f16.f32"


def unit(name: str) -> Model:
    return side_of(name).row.model


def written(text: str, k: int = 64, operands: str = "f16", **choices: int) -> UnitProgram:
    """Return the program of a text over A and B of a format, and c in f32."""
    inputs = {"A": operands, "B": operands, "c": "f32"}
    return program_of(text, k, {name: format_named(fmt) for name, fmt in inputs.items()}, unit, choices)


def last_step(text: str) -> ProgramStep:
    """Return the step that a call writes: of A, and of the numbers x and r, all f32."""
    steps = StepTexts(pytest.fail, {})
    for name, axes in (("A", "A"), ("x", ""), ("r", "")):
        steps.names[name] = steps.build.input(name, FORMATS["f32"], axes)
    tokens = Tokens.of(text)
    steps.value(tokens)
    assert not tokens.found
    return steps.build.steps[-1]
