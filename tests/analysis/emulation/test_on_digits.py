"""Programs on digits that nobody meant: each is bounded or refused, and no error of any input is larger."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.emulation import on_digits
from tcsmt.analysis.emulation.budget import budget
from tcsmt.analysis.emulation.on_digits import cuts_digits
from tcsmt.analysis.emulation.subject import DigitSubject
from tcsmt.matrix_units.arithmetic.conversion import QUIET
from tcsmt.programs.recipes.emulation.schemes import Emulation, Residues, Slices
from tcsmt.programs.steps.on_arrays import ArrayRules, of_rows
from tcsmt.programs.steps.program import ProductRun, ProgramStep, UnitProgram, read
from tcsmt.programs.steps.slicing import Slicing
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tests.support.emulations import TINY, UNIT, everything, some_emulation

SOLVING = Solving()
VALUES = np.array([np.nan if TINY.is_special(w) else float(TINY.value(w)) for w in range(1 << TINY.width)])
DOMAIN = Domain(exponents=(0, 1), c_zero=True)
K = 2


def changed(step: ProgramStep, rng: Random) -> ProgramStep | None:
    """A step that says something else; None where there is nothing else for it to say."""
    how: dict[str, Any] = dict(step.how)
    match step.kind:
        case "accumulate" | "scale":
            how["shift"] += rng.choice((-1, 1, 2))
            if how["shift"] < 0 and step.kind == "accumulate":
                return None
        case "chain":
            (run,) = how["runs"]
            at = run.indices
            other = rng.choice((at[:1], at[1:], np.repeat(at, 2), at[::-1]))
            if not len(other):
                return None
            how["runs"] = (ProductRun(np.ascontiguousarray(other), run.words),)
        case "exact_sum":
            weights = [*how["weights"]]
            weights[rng.randrange(len(weights))] += rng.choice((1, -1, how["modulus"]))
            how["weights"] = tuple(weights)
        case "residue":
            how["modulus"] -= 1
        case _:
            return None
    return step._replace(how=how)


def some_program(emulation: Emulation, rng: Random) -> UnitProgram:
    """The emulation's program with one step that is another one."""
    program = emulation.program(K)
    while True:
        at = rng.randrange(len(program.steps))
        step = changed(program.steps[at], rng)
        if step is not None:
            steps = (*program.steps[:at], step, *program.steps[at + 1 :])
            return replace(program, steps=steps)


def errors(program: UnitProgram) -> tuple[Any, Any, Any]:
    """Errors of all inputs, and what they are relative to, by arrays and exact numbers of binary64."""
    a, b, c = everything(DOMAIN, K)
    words = read(program, ArrayRules((len(a),), of_rows, QUIET), {"A": a, "B": b, "c": c})
    left, right = VALUES[a], VALUES[b]
    error = np.abs(VALUES[words.astype(np.int64)] - (left * right).sum(axis=1))
    largest = K * np.abs(left).max(axis=1) * np.abs(right).max(axis=1)
    return error, np.abs(left * right).sum(axis=1), largest


def above(x: Fraction) -> float:
    """The smallest number of binary64 that is no smaller."""
    return float(x) if Fraction(float(x)) >= x else float(np.nextafter(float(x), np.inf))


def judged(seed: int) -> str:
    rng = Random(f"digits {seed}")
    program = some_program(some_emulation(rng), rng)
    try:
        spent = budget(StepwiseProof(SOLVING), program, DOMAIN, K)
    except Unbounded:
        return "refused"
    error, size, largest = errors(program)
    assert (error <= above(spent.total) * size).all(), seed
    assert (error <= above(spent.of_largest) * largest).all(), seed
    return "bounded"


@pytest.fixture(autouse=True)
def _lemmas(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lemmas about cuts and the unit are those of emulations, whose own tests prove them."""
    monkeypatch.setattr(on_digits, "prove", lambda chain, slicing: None)
    monkeypatch.setattr(on_digits, "exact_in_unit", lambda *given: None)


@pytest.mark.slow_cases("range(6, 250)")
@pytest.mark.parametrize("seeds", [range(6), range(6, 250)], ids=str)
def test_no_error_is_larger_than_the_bound_of_a_changed_program(seeds: range) -> None:
    counts = Counter(judged(seed) for seed in seeds)
    assert counts["bounded"] > len(seeds) / 4
    assert counts["refused"] > len(seeds) / 20


@pytest.mark.slow_cases("range(40, 250)")
@pytest.mark.parametrize("seeds", [range(40), range(40, 250)], ids=str)
def test_what_is_proved_exact_of_a_changed_program_is(seeds: range) -> None:
    proved = 0
    for seed in seeds:
        rng = Random(f"exact digits {seed}")
        program = some_program(some_emulation(rng), rng)
        subject = DigitSubject(StepwiseProof(SOLVING), {K: program}.__getitem__, (TINY,) * 3)
        limit = rng.choice((1, 1, 2, 3))
        if subject.proved(limit, K):
            continue
        proved += 1
        held = np.flatnonzero((VALUES % 1 == 0) & (np.abs(VALUES) <= limit)).astype(np.uint16)
        grid = np.stack(np.meshgrid(*[held] * (2 * K), indexing="ij"), -1).reshape(-1, 2 * K)
        a, b = grid[:, :K], grid[:, K:]
        given = {"A": a, "B": b, "c": np.zeros(len(a), np.uint16)}
        found = VALUES[read(program, ArrayRules((len(a),), of_rows, QUIET), given).astype(np.int64)]
        assert (found == (VALUES[a] * VALUES[b]).sum(axis=1)).all(), (seed, limit)
    assert proved > len(seeds) / 20


def slices(**changes: Any) -> UnitProgram:
    cut = Slicing(bits=3, count=2, wide=TINY)
    given: dict[str, Any] = {"cut": cut, "products": ((0, 0), (0, 1), (1, 0)), "wide": TINY, "unit": UNIT}
    return Slices(**given | changes).program(K)


def bounded(program: UnitProgram) -> Fraction:
    return budget(StepwiseProof(SOLVING), program, DOMAIN, K).total


def with_step(program: UnitProgram, kind: str, **how: Any) -> UnitProgram:
    """A program whose first step of a kind says something else."""
    at = next(number for number, step in enumerate(program.steps) if step.kind == kind)
    step = program.steps[at]
    other = step._replace(how={**step.how, **how})
    return replace(program, steps=(*program.steps[:at], other, *program.steps[at + 1 :]))


def test_what_is_left_out_counts() -> None:
    """Of a product that a chain leaves out at one index, all of it; and of twice as much, as much again."""
    whole = slices()
    half = with_step(whole, "chain", runs=(ProductRun(np.array([0]), (0, 0)),))
    twice = with_step(whole, "chain", runs=(ProductRun(np.array([0, 1, 1]), (0, 0)),))
    assert cuts_digits(whole)
    assert bounded(half) >= 1 > bounded(whole)
    assert bounded(twice) >= 1
    assert bounded(slices(products=((0, 0),))) > bounded(whole)


def test_steps_without_a_rule_are_refused_by_name() -> None:
    residues = Residues(unit=UNIT, wide=TINY, moduli=(256, 255), bits=3).program(K)
    other = with_step(residues, "exact_sum", weights=(2,))
    with pytest.raises(Unbounded, match="exact_sum: modulo 256, it is not the product of the residues"):
        bounded(other)
    program = with_step(slices(), "compare", relation="equal")
    with pytest.raises(Unbounded, match="compare: that an exponent is equal may be so or not"):
        bounded(program)
    last = program.steps[program.output]
    step = ProgramStep("negate", (program.output,), {"fmt": last.format}, last.format, last.axes)
    program = UnitProgram((*slices().steps, step), len(slices().steps))
    with pytest.raises(Unbounded, match="negate"):
        bounded(program)
