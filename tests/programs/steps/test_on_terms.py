"""The reading as terms agrees with the one on arrays, and calls its stages by their places."""

from __future__ import annotations

from typing import Any

import numpy as np

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import var
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.integer_format import INTEGERS
from tcsmt.matrix_units.arithmetic.nan_words import QUIET
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import Kind, Stage
from tcsmt.programs.steps.on_arrays import ArrayRules, of_rows
from tcsmt.programs.steps.on_terms import TermRules
from tcsmt.programs.steps.program import Builder, ProductRun, UnitProgram, read
from tcsmt.programs.steps.split import Split

F16, BF16, F32, E4M3 = (FORMATS[name] for name in ("f16", "bf16", "f32", "e4m3"))
UNIT = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model
K = 6


def every_step() -> UnitProgram:
    build = Builder()
    operands = [build.split(build.input(side, F32, side), Split(format=F16, words=2)) for side in "AB"]
    c, bias = build.input("c", F32), build.input("bias", F32)
    random = build.input("random", INTEGERS["u32"])
    runs = [ProductRun(np.array([5, 0, 1, 2, 3]), (1, 0)), ProductRun(np.array([4]), (0, 1))]
    first = build.chain(UNIT, operands, runs, c)
    second = build.note(
        build.chain(UNIT, operands, [ProductRun(np.arange(K), (0, 0))], None), Kind.SUM_OUTSIDE, 1
    )
    total = build.add(F32, first, build.negate(F32, second), 3, ROUNDINGS["RTP"])
    total = build.multiply_add(F32, build.add(F32, total, bias), build.constant(F32, 0x3FC00000), second)
    half = build.convert(total, BF16, ROUNDINGS["RTZ"])
    return build.program(build.convert_randomly(half, E4M3, random, 32, saturate=True))


def test_terms_and_arrays_are_one_program() -> None:
    program, rng = every_step(), np.random.default_rng(4)
    a, b = (rng.standard_normal((40, K)).astype(np.float32).view(np.uint32) for _ in "ab")
    c, bias = (rng.standard_normal(40).astype(np.float32).view(np.uint32) for _ in "ab")
    a[7, 2], b[9, 1], c[11] = 0x7F800000, 0x7FC00001, 0xFF800000
    random = rng.integers(0, 1 << 32, 40, np.uint32)
    given: dict[str, Any] = {"A": a, "B": b, "c": c, "bias": bias, "random": random}
    found = read(program, ArrayRules((40,), of_rows, QUIET), given)
    stages: list[Stage] = []
    terms = {
        "A": [var(f"a{n}", 32) for n in range(K)], "B": [var(f"b{n}", 32) for n in range(K)],
        **{name: var(name, 32) for name in ("c", "bias", "random")},
    }  # fmt: skip
    word = read(program, TermRules(stages, QUIET), terms)
    for row in range(40):
        values = {f"a{n}": int(a[row, n]) for n in range(K)} | {f"b{n}": int(b[row, n]) for n in range(K)}
        values |= {name: int(given[name][row]) for name in ("c", "bias", "random")}
        assert list(evaluate([word], values)) == [int(found[row])], row
    assert len({stage.place for stage in stages}) == len(stages)
    assert [stage.lane for stage in stages if stage.kind is Kind.SUM_OUTSIDE] == [1]
    instructions = [stage for stage in stages if stage.kind is Kind.INSTRUCTION]
    assert len(instructions) == 3 + 2
