"""Traces of emulations, quantised products and functions: all losses together are the error, in fractions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tcsmt.matrix_units.arithmetic.conversion import QUIET
from tcsmt.matrix_units.arithmetic.formats import FORMATS, format_named
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.programs.recipes.emulation.named import emulation_named
from tcsmt.programs.steps.builder import Builder
from tcsmt.programs.steps.on_arrays import ArrayRules, of_rows
from tcsmt.programs.steps.on_traced import trace
from tcsmt.programs.steps.program import UnitProgram, read
from tcsmt.programs.steps.traced import TracedStep
from tcsmt.programs.written.grammar import program_of
from tests.oracles import emulations

F32, F64 = FORMATS["f32"], FORMATS["f64"]


def traced(program: UnitProgram, words: Mapping[str, Any]) -> tuple[list[TracedStep], Fraction]:
    """Return the steps, of which the last one has the arrays' word; and the result with all losses."""
    steps = trace(program, words, QUIET)
    given = {name: np.array([words[name]], unsigned(step.format)) for name, step in program.inputs.items()}
    (wanted,) = np.asarray(read(program, ArrayRules((1,), of_rows, QUIET), given)).reshape(-1)
    last = steps[-1]
    assert last.word == int(wanted)
    assert all(step.lost is not None for step in steps)
    lost = sum((step.share for step in steps if step.kind != "split"), Fraction(0))
    return steps, last.format.value(last.word) + lost


def words_of(numbers: Sequence[float], fmt: str) -> list[int]:
    dtype = {"f32": np.float32, "f64": np.float64}[fmt]
    return [int(np.asarray(x, dtype).view(f"u{np.dtype(dtype).itemsize}")) for x in numbers]


@pytest.mark.parametrize(
    "name", ["ozaki1-int8,slices=2", "ozaki1-e4m3,slices=2", "ozaki2-int8,moduli=3,bits=7"]
)
def test_emulations(name: str) -> None:
    """Exactly, their digits are multiplied and summed: by an emulation in fractions, without any rounding."""
    emulation, _ = emulation_named(name, "hopper" if "e4m3" in name else "turing")
    rng = np.random.default_rng(5)
    a, b, (c,) = (rng.standard_normal(n) * 2.0 ** rng.integers(-6, 6, n) for n in (3, 3, 1))
    words = {"A": words_of(a, "f64"), "B": words_of(b, "f64"), "c": words_of([c], "f64")[0]}
    steps, whole = traced(emulation.program(3), words)
    cut = emulation.slicing(3)
    (left, high), (right, higher) = (
        emulations.digits(cut, [Fraction(x) for x in side.tolist()]) for side in (a, b)
    )
    products = getattr(emulation, "products", ((0, 0),))
    exact = sum(
        Fraction(x[i] * y[j]) / 2 ** (cut.bits * (i + j + 2))
        for x, y in zip(left, right, strict=True)
        for i, j in products
    )
    assert whole == exact * Fraction(2) ** (high + higher) + Fraction(c)
    for lane, x in enumerate(a.tolist()):  # the digits and what the last one loses are the number
        own = [step for step in steps if step.kind == "split" and str(step.stage.block) == f"a{lane}"]
        parts = sum(step.format.value(step.word) * step.weight for step in own)
        assert parts + (own[-1].lost or 0) == Fraction(x)
        assert own[-1].lost


RECIPES = {
    "fp8-row": "hopper/wgmma.m64nNk32.f32.e4m3.e4m3",
    "fp8-block-torchao": "hopper/wgmma.m64nNk32.f32.e4m3.e4m3",
    "mxfp8": "blackwell/tcgen05.mMnNk32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0",
    "mxfp8-up": "blackwell/tcgen05.mMnNk32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0",
}


@pytest.mark.parametrize("recipe", RECIPES)
def test_quantised_products(recipe: str) -> None:
    """Exactly, scales cancel: the sum of products of the numbers as they were."""
    text, k = f"d = product({RECIPES[recipe]}, {recipe}, A·B)", 4
    formats = dict.fromkeys("ABc", format_named("f32"))
    program = program_of(text, k, formats, lambda name: row_named(name).model)
    rng = np.random.default_rng(len(recipe))
    a, b = ((rng.standard_normal(k) * 2.0 ** rng.integers(-9, 3, k)).astype(np.float32) for _ in "ab")
    words = {"A": words_of(a, "f32"), "B": words_of(b, "f32"), "c": 0}
    steps, whole = traced(program, {name: words[name] for name in program.inputs})
    assert whole == sum(Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a, b, strict=True))
    converted = [step for step in steps if step.name.endswith("converted")]
    assert {str(step.stage.block) for step in converted} >= {
        f"{side}{lane}" for side in "ab" for lane in range(k)
    }
    assert any(step.format.name == ("ue8m0" if "mxfp8" in recipe else "f32") for step in steps)


@pytest.mark.parametrize("up", [False, True])
@pytest.mark.parametrize(
    ("x", "y"), [(1.0, 2.0**-30), (-3.0, 2.0**-25), (2.0, -(2.0**-30)), (2.0**-140, 0.0)]
)
def test_magnitudes_and_powers_of_two_take_on_what_was_lost_before(x: float, y: float, up: bool) -> None:
    build = Builder()
    total = build.add(F32, build.input("x", F32), build.input("y", F32))
    power = build.convert(build.power_of_two(total, 1, up=up), F32)
    program = build.program(build.multiply(F32, build.absolute(F32, total), power))
    given = dict(zip("xy", words_of([x, y], "f32"), strict=True))
    exact, wanted = abs(Fraction(x) + Fraction(y)), Fraction(2) ** -127
    while wanted * 2 <= exact or (up and wanted < exact):
        wanted *= 2
    assert traced(program, given)[1] == exact * wanted * 2


def test_a_function_to_sixty_digits() -> None:
    build = Builder()
    total = build.add(F32, build.input("x", F32), build.input("y", F32))
    program = build.program(build.function("ex2", F32, total))
    x, y = 1.3, 2.0**-26
    _, whole = traced(program, dict(zip("xy", words_of([x, y], "f32"), strict=True)))
    with localcontext() as context:
        context.prec = 50
        number = Fraction(float(np.float32(x))) + Fraction(y)
        exact = Decimal(2) ** (Decimal(number.numerator) / Decimal(number.denominator))
    assert abs(whole - Fraction(exact)) < Fraction(1, 10**45)
    far = trace(program, dict(zip("xy", words_of([1e30, 0.0], "f32"), strict=True)), QUIET)
    assert far[-1].lost is None
