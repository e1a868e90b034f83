"""Graphs of strangers: what the engine says of two circuits holds on every input."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import TRUE, Term, operands_first, var
from tcsmt.language.write.smtlib import script
from tcsmt.matrix_units.arithmetic.formats import IntegerFormat
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models.circuit import Circuit
from tcsmt.prove.certificates.derivation import Close, check
from tcsmt.prove.engine.engine import Decision, compare_models, question_of_models
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.proof_steps import Lemmas, Proving
from tcsmt.prove.engine.sat_sweeping import Ranges
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.verdict import Distinguished, Equivalent
from tests.oracles import btor2
from tests.support.sampling import one_in
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


pytestmark = pytest.mark.usefixtures("no_luck")
WIDTH = 3
WORD = IntegerFormat(name=f"u{WIDTH}", bits=WIDTH, signed=False)


def circuit(text: str) -> Circuit:
    return Circuit(a_format=WORD, b_format=WORD, c_format=WORD, d_format=WORD, k=1, btor2=text)


def compared(one: str, two: str) -> Decision:
    solving = Solving(SolvingOptions("bitwuzla", 10, 2048))
    return compare_models(("one", circuit(one)), ("two", circuit(two)), Domain(finite=False), solving)


def table(text: str) -> list[int]:
    return [
        btor2.evaluate(text, {"a": a, "b": b, "c": c})["d"]
        for a, b, c in product(range(1 << WIDTH), repeat=3)
    ]


def held(one: str, two: str) -> bool:
    """The verdict is the exhaustive one; whether the circuits are equal."""
    found, same = compared(one, two), table(one) == table(two)
    if same:
        assert isinstance(found.verdict, Equivalent), found.verdict
    else:
        assert isinstance(found.verdict, Distinguished), found.verdict
        values = found.verdict.values
        at = {"a": values["a0"], "b": values["b0"], "c": values["c"]}
        assert btor2.evaluate(one, at) != btor2.evaluate(two, at)
    return same


def rewritten(rng: Random, text: str) -> str:
    """The same function, made otherwise: subtraction by addition, arguments swapped, and so on."""
    lines, more, number = [], [], 1000
    for line in text.splitlines():
        words = line.split()
        if words[1] == "sub" and rng.random() < 0.8:
            more = [f"{number} neg {words[2]} {words[4]}", f"{words[0]} add {words[2]} {words[3]} {number}"]
        elif words[1] in ("add", "mul", "and", "or", "xor", "eq") and rng.random() < 0.5:
            more = [" ".join([*words[:3], words[4], words[3]])]
        elif words[1] == "xor":
            more = [
                f"{number} or {words[2]} {words[3]} {words[4]}",
                f"{number + 1} nand {words[2]} {words[3]} {words[4]}",
                f"{words[0]} and {words[2]} {number} {number + 1}",
            ]
        elif words[1] == "ite":
            more = [" ".join([*words[:3], str(-int(words[3])), words[5], words[4]])]
        elif words[1] == "neg":
            more = [f"{number} not {words[2]} {words[3]}", f"{words[0]} inc {words[2]} {number}"]
        else:
            more = [line]
        number += 2
        lines += more
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("seed", one_in(3, range(8)))
def test_rewritten_and_mutated_circuits(seed: int) -> None:
    rng = Random(seed)
    text = btor2.program(rng, WIDTH, 14)
    other = rewritten(rng, text)
    assert table(text) == table(other)
    assert held(text, other)
    differ = [held(text, rewritten(rng, btor2.mutated(rng, text))) for _ in range(2)]
    assert len(differ) == 2


@pytest.mark.long
def test_many_mutants() -> None:
    rng = Random(99)
    found = [0, 0]
    for _ in range(150):
        text = btor2.program(rng, WIDTH, 20)
        for _ in range(3):
            found[held(text, rewritten(rng, btor2.mutated(rng, text)))] += 1
    assert min(found) > 30, found


#: Bits of (a + b) * (c - b), twice, made otherwise.
ONE = """1 sort bitvec 3
2 sort bitvec 6
3 input 1 a
4 input 1 b
5 input 1 c
6 add 1 3 4
7 sub 1 5 4
8 uext 2 6 3
9 sext 2 7 3
10 mul 2 8 9
11 slice 1 10 4 2
12 output 11 d
"""
TWO = """1 sort bitvec 3
2 sort bitvec 6
3 input 1 a
4 input 1 b
5 input 1 c
6 neg 1 4
7 add 1 5 6
8 not 1 6
9 inc 1 8
10 add 1 3 9
11 add 1 10 9
12 sub 1 11 9
13 uext 2 12 3
14 sext 2 7 3
15 mul 2 14 13
16 slice 1 15 4 2
17 output 16 d
"""


def test_words_are_merged() -> None:
    """The multiplication is one node once its operands are merged; no query has to know what it does."""
    found = compared(ONE, TWO)
    assert isinstance(found.verdict, Equivalent)
    assert [step.what for step in found.steps if "mul" in step.what] == []
    assert found.steps
    refuted: list[Term] = []
    check(found.question.goal, found.derived, refuted.append)
    assert refuted
    for formula in refuted:
        assert solve(script(formula), SolvingOptions("bitwuzla", 10, 2048)).answer == "unsat"


def test_a_word_that_looks_alike_is_not_merged() -> None:
    """Two words that differ on one input of 512, which no row has to show."""
    rare = ONE.replace("12 output 11 d", "")
    same = "20 constd 1 5\n21 sort bitvec 1\n22 eq 21 3 20\n23 eq 21 4 20\n24 eq 21 5 20\n25 and 21 22 23\n"
    two = f"{rare}{same}26 and 21 25 24\n27 uext 1 26 2\n28 xor 1 11 27\n29 output 28 d\n"
    assert not held(ONE, two)
    assert not held(two, ONE)
