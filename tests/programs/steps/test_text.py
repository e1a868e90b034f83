"""Texts of programs; that they read back is tested where they are read (``tests/programs/written``)."""

from __future__ import annotations

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.programs.steps.builder import Builder
from tcsmt.programs.steps.program import ProductRun
from tcsmt.programs.steps.split import Split
from tcsmt.programs.steps.text import text_of

F16, F32 = FORMATS["f16"], FORMATS["f32"]
UNIT = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model


def test_every_step_says_all_of_itself() -> None:
    build = Builder()
    operands = [build.split(build.input(side, F32, side), Split(format=F16, scale=11)) for side in "AB"]
    c = build.input("c", F32)
    runs = [ProductRun(np.arange(4), (0, 0)), ProductRun(np.array([5, 4]), (1, 0))]
    total = build.add(F32, build.chain(UNIT, operands, runs, None), c, 11, ROUNDINGS["RTZ"])
    total = build.multiply_add(F32, total, build.constant(F32, 0x40000000), build.negate(F32, c))
    build.convert(total, F16, saturate=True)
    program = build.program(build.convert(total, F16, ROUNDINGS["RTP"]))
    assert text_of(program, lambda unit: "volta").splitlines() == [
        "A0, A1 = split(A, f16, 2, RNE, residual=RNE, scale=11)",
        "B0, B1 = split(B, f16, 2, RNE, residual=RNE, scale=11)",
        "v2 = chain(volta, A0·B0 over K[0:4]; A1·B0 over K[5 4], +0)",
        "v3 = add(v2, c, f32, RTZ, shift=11)",
        "v4 = negate(c)",
        "v5 = multiply_add(v3, 0x40000000:f32, v4, f32)",
        "v6 = convert(v5, f16, saturate)",
        "d = convert(v5, f16, RTP)",
    ]


def test_an_input_may_be_the_result() -> None:
    build = Builder()
    assert text_of(build.program(build.input("c", F32)), lambda unit: "volta") == "d = c\n"
