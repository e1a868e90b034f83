"""The reading of programs on lattices: what is exact is proved, and nothing else is."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tcsmt.analysis.exactness.lattice import Inexact, Lattice, integers_up_to
from tcsmt.analysis.exactness.on_lattices import LatticeRules
from tcsmt.analysis.exactness.programs import ProgramSubject
from tcsmt.analysis.exactness.units import ExactUnit
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.programs.steps.builder import Builder
from tcsmt.programs.steps.program import Indices, NoRule, ProductRun, Value, read
from tcsmt.programs.written.grammar import program_of
from tests.support.proofs import shared_proof

F16, BF16, F32 = (FORMATS[name] for name in ("f16", "bf16", "f32"))
UNIT = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model
K = 12


def read_with(parts: list[tuple[Indices, int]], limit: int = 8, out: str = "") -> str:
    """Return why a sum of chains, each over its indices and added times 2^-shift, is not proved exact."""
    build = Builder()
    operands = build.input("A", F16, "A"), build.input("B", F16, "B")
    total: Value | None = None
    for indices, shift in parts:
        part = build.chain(UNIT, operands, [ProductRun(indices)], None)
        total = part if total is None else build.add(F32, part, total, shift)
    assert total is not None
    if out:
        total = build.convert(total, FORMATS[out])
    proof = shared_proof()
    rules = LatticeRules(proof, lambda unit, low, high: ExactUnit(proof, unit))
    words = (integers_up_to(F16, limit),)
    try:
        result = read(build.program(total), rules, {"A": words, "B": words})
        rules.require_all(result, K)
    except Inexact as why:
        return str(why)
    return ""


@pytest.mark.slow
def test_all_products_once_are_exact() -> None:
    whole = np.arange(K)
    assert read_with([(whole, 0)]) == read_with([(whole[5:], 0), (whole[:5], 0)]) == ""
    assert "bf16 has 8" in read_with([(whole[::2], 0), (whole[1::2], 0)], 8, "bf16")
    assert read_with([(whole[::2], 0), (whole[1::2], 0)], 8, "f16") == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ([(np.arange(K - 1), 0)], "product 11 is added 0 times"),
        ([(np.arange(K), 0), (np.array([3]), 0)], "product 3 is added 2 times"),
        ([(np.arange(6), 0), (np.arange(6, K), 1)], "is multiplied by 1/2"),
    ],
)
def test_other_sums_are_refused(parts: list[tuple[Indices, int]], why: str) -> None:
    assert why in read_with(parts)


def test_a_step_without_a_rule_is_refused() -> None:
    build = Builder()
    x = build.input("c", F32)
    program = build.program(build.multiply_add(F32, x, x, x))
    proof = shared_proof()
    with pytest.raises(NoRule, match="multiply_add"):
        read(program, LatticeRules(proof, lambda unit, low, high: ExactUnit(proof, unit)), {"c": {}})


SPLIT = "A0, A1 = split(A, f16, 2, scale=1)\nB0, B1 = split(B, f16, 2)\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "why"),
    [
        # every product once, by words of two splits; with one scale; and as if both splits had that
        (
            "X0, X1 = split(A, f16, 2)\nY0, Y1 = split(A, f16, 2, RTZ)\nB0, B1 = split(B, f16, 2)\n"
            "d = add(chain(V, X0·B0, X0·B1 over K), chain(V, Y1·B0, Y1·B1 over K), f32)",
            "A is split in two ways",
        ),
        (
            f"{SPLIT}s = chain(V, A0·B0, A0·B1 over K)\n"
            "d = add(chain(V, A1·B0, A1·B1 over K), s, f32, shift=1)",
            "",
        ),
        (
            f"{SPLIT}s = chain(V, A0·B0 over K)\ns = add(chain(V, A1·B0, A0·B1 over K), s, f32, shift=1)\n"
            "d = add(chain(V, A1·B1 over K), s, f32, shift=2)",
            "is multiplied by 1/",
        ),
    ],
)
def test_words_of_splits_are_those_of_one_number(text: str, why: str) -> None:
    """Integers of 12 bits, so that second words are not zero."""
    program = program_of(
        text.replace("V", "volta/mma.m8n8k4.f32.f16.f16.f32"), 1,
        dict.fromkeys(("A", "B", "c"), F32), lambda name: row_named(name).model,
    )  # fmt: skip
    proof = shared_proof()
    subject = ProgramSubject(proof, lambda k: program, (F32, F32, F32), 1, at_one_k=True)
    found = subject.proved(2050, 1)
    assert why in found and bool(why) == bool(found), found


def test_lattices_times_powers_of_two() -> None:
    some = Lattice(Fraction(-3), Fraction(8), 0)
    assert some.multiplied(Fraction(-3, 2)) == Lattice(Fraction(-12), Fraction(9, 2), -1)
    assert some.multiplied(Fraction(6)) == Lattice(Fraction(-18), Fraction(48), 1)
    assert some.multiplied(Fraction(-1, 4)) == Lattice(Fraction(-2), Fraction(3, 4), -2)
    assert some.multiplied(Fraction(2)) == Lattice(Fraction(-6), Fraction(16), 1)
