"""Ranges of words are facts that the rest of a proof shows."""

from __future__ import annotations

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import TRUE, Term, operands_first, var
from tcsmt.language.write.smtlib import script
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.prove.certificates.derivation import Close, check
from tcsmt.prove.engine.asked_lemmas import Lemmas
from tcsmt.prove.engine.engine import question_of_models
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.proof_steps import Proving
from tcsmt.prove.engine.ranges import Ranges
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tests.support.solving_here import solve

A, B = var("a", 4), var("b", 4)
PRODUCT = A.zext(8) * B.zext(8)
SHIFTED = PRODUCT.zext(12) << 2
NUMBER = A[0].ite(-SHIFTED, SHIFTED)


def proving() -> Proving:
    solving = Solving(SolvingOptions("bitwuzla", 10, 2048))
    model = row_named("volta").model
    question = question_of_models(("one", model), ("two", model), Domain(finite=False))
    return Proving(question, solving, Lemmas(solving))


def test_ranges_are_proved_and_true() -> None:
    course = proving()
    facts = Ranges(course).of([PRODUCT, NUMBER, A])
    assert len(facts) == 2  # a word of four bits may be any
    refuted: list[Term] = []
    goal = PRODUCT.eq(NUMBER[7:0])
    check(goal, (*course.derived, Close(tuple(facts))), refuted.append)
    assert len(refuted) > 2
    for formula in refuted[:-1]:
        assert solve(script(formula), SolvingOptions("bitwuzla", 10, 2048)).answer == "unsat"
    for a in range(16):
        for b in range(16):
            assert evaluate(facts, {"a": a, "b": b}) == [1, 1]
            for word, low, high in ((PRODUCT, 0, 225), (NUMBER, -900, 900)):
                value = evaluate([word], {"a": a, "b": b})[0]
                assert (
                    low <= value - (value >> (word.width - 1) << word.width if word is NUMBER else 0) <= high
                )


def test_what_is_not_proved_is_no_fact() -> None:
    """Bounds that are wrong are refused by the solver."""
    course = proving()
    ranges = Ranges(course)
    ranges.bounds._unsigned = dict.fromkeys(operands_first([PRODUCT]), (1, 7))
    assert ranges.of([PRODUCT]) == []
    assert not course.derived
    assert ranges.proved[PRODUCT] is TRUE


def test_the_same_operation_is_asked_once() -> None:
    course = proving()
    words = [var(f"x{n}", 4).zext(8) * var(f"y{n}", 4).zext(8) for n in range(9)]
    assert len(Ranges(course).of(words)) == 9
    assert len(course.lemmas.first) <= 3
