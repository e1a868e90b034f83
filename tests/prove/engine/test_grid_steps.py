"""Certificates of sums on different alignment grids."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from tcsmt.language.terms import Term
from tcsmt.language.write.smtlib import script
from tcsmt.matrix_units.arithmetic import ieee
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Specials
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd, Operands
from tcsmt.prove.certificates.derivation import Cases, Equal, Fact, InvalidProof, Proof, check
from tcsmt.prove.engine.engine import Decision, decide
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import ComparedModel, Question, difference, difference_of_sides
from tcsmt.prove.statements.verdict import Equivalent
from tests.oracles import tiny
from tests.support import solving_here
from tests.support.certificates import certified, flaws


def converted(k: int) -> Question:
    """FP8 against the same numbers as FP16, whose products have another largest exponent."""
    unit = row_named("hopper/mma.m16n8k32.f32.e4m3.e4m3.f32").model
    assert isinstance(unit, FusedDotAdd)
    unit = unit.replace(k=k, n_fma=k, interleave=0, fraction_bits=25, operand_format=None)
    half, x = FORMATS["f16"], unit.trace
    left, right = ([ieee.widen(word, unit.a_format, half) for word in side] for side in (x.a, x.b))
    wide = unit.replace(a_format=half, b_format=half)
    trace = replace(wide.apply(Operands(left, right, x.c)), operands=x.operands)
    sides = (ComparedModel("FP8", unit, x), ComparedModel("FP16", wide, trace))
    return difference_of_sides("FP8 on FP16", sides, unit.input_formats, Domain(finite=False))


@pytest.mark.long
def test_sums_of_one_term_are_certified(tmp_path: Path) -> None:
    """Its word is the term's, extended, so that the room for a shift is part of the term."""
    pytest.importorskip("pysolvers", reason="the extra `certificates` is not installed")
    found = certified(tmp_path / "c", converted(1)).certified
    assert found is not None
    assert found.path is not None, found.why
    assert flaws(tmp_path / "c") == [""]


@pytest.mark.long
def test_certificates_of_two_grids_need_every_case(tmp_path: Path) -> None:
    """By cases of how far they are apart; without one of the cases it is none."""
    pytest.importorskip("pysolvers", reason="the extra `certificates` is not installed")
    found = certified(tmp_path / "c", converted(2)).certified
    assert found is not None
    assert found.path is not None, found.why
    assert flaws(tmp_path / "c") == [""]
    record = json.loads(found.path.read_text())
    outer = record["proof"][0]["proof"][-1]["otherwise"][-1]
    assert len(outer["cases"]) > 1
    del outer["cases"][0]
    found.path.write_text(json.dumps(record))
    assert flaws(tmp_path / "c") != [""]


# --- the steps, checked here by a solver in this process -------------------------------------------

NARROW = tiny.described(exponent_bits=2, fraction_bits=1, bias=1, specials=Specials.NONE)
RESULT = tiny.described(exponent_bits=3, fraction_bits=2, bias=3)


def zeros_apart(k: int) -> Question:
    """Zeros enter with 0 or with 1: grids that differ by up to one place, and cut nothing."""
    sides = [
        FusedDotAdd.of(
            a_format=NARROW, b_format=NARROW, c_format=RESULT, d_format=RESULT, k=k, n_fma=1,
            fraction_bits=8, alignment="RTZ", rounding="RNE", zero_exponent=zero,
        )
        for zero in (0, 1)
    ]  # fmt: skip
    return difference("zeros", ("0", sides[0]), ("1", sides[1]), Domain(finite=False))


@cache
def solved(formula: Term) -> bool:
    return solving_here.solve(script(formula), SolvingOptions()).answer != "unsat"


def refute(formula: Term) -> None:
    if solved(formula):
        raise InvalidProof("it has a solution")


def decided(k: int) -> Decision:
    found = decide(zeros_apart(k), Solving(SolvingOptions(steps=1_000_000)))
    assert isinstance(found.verdict, Equivalent), found.verdict
    assert found.derived is not None
    return found


def without_one(proof: Proof) -> Iterator[tuple[str, Proof]]:
    """The proof without one of its facts, replacements or cases, wherever it stands; what is missing."""
    for place, step in enumerate(proof):
        before, after = proof[:place], proof[place + 1 :]
        match step:
            case Fact() | Equal():
                yield type(step).__name__, before + after
                for what, inner in without_one(step.proof):
                    yield what, (*before, replace(step, proof=inner), *after)
            case Cases():
                for number, (case, inner) in enumerate(step.cases):
                    others = step.cases[:number], step.cases[number + 1 :]
                    yield "case", (*before, replace(step, cases=(*others[0], *others[1])), *after)
                    for what, shorter in without_one(inner):
                        cases = (*others[0], (case, shorter), *others[1])
                        yield what, (*before, replace(step, cases=cases), *after)
                for what, inner in without_one(step.rest):
                    yield what, (*before, replace(step, rest=inner), *after)


@pytest.mark.slow
def test_the_steps_follow_and_the_cases_are_needed(no_luck: None) -> None:
    """The checker accepts the proof; without one of the cases, or without some steps, it does not."""
    found = decided(1)
    goal, proof = found.question.goal, found.derived
    assert proof is not None
    check(goal, proof, refute)
    kept: dict[str, list[bool]] = {}
    for what, shorter in without_one(proof):
        try:
            check(goal, shorter, refute)
        except InvalidProof:
            kept.setdefault(what, []).append(False)
        else:
            kept.setdefault(what, []).append(True)
    assert kept.keys() == {"Fact", "Equal", "case"}
    assert not any(kept["case"])
    print({what: f"{some.count(False)} of {len(some)} needed" for what, some in kept.items()})
    assert all(some.count(False) >= 3 for some in kept.values())


@pytest.mark.long
def test_steps_of_a_chain(no_luck: None) -> None:
    """The second sum's c is the first one's result: a multiple of a power of two, and nothing else."""
    found = decided(2)
    assert found.derived is not None
    check(found.question.goal, found.derived, refute)
    assert any("an aligned term is a multiple" in step.what for step in found.steps)
