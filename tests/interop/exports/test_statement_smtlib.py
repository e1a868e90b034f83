"""Scripts of statements: read by Z3, they say what is checked; all solvers answer them alike."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
import z3

from tcsmt.interop.exports.statement_smtlib import (
    StageNames,
    lemma_script,
    refuted_formulas,
    statement_script,
    steps_of,
)
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, const, operands_first, substitute, umax, var, variables
from tcsmt.prove.certificates.derivation import Cases, Close, Equal, Fact, Proof, check
from tcsmt.prove.certificates.files import opened, record_of
from tcsmt.prove.certificates.parts import statement_files
from tcsmt.prove.certificates.statement import Statement
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import difference
from tests.oracles import terms
from tests.support.certificates import two_products
from tests.support.scripts import SOLVERS, ask_bitwuzla
from tests.support.statements import stated

x, y = var("x", 4), var("y", 4)
LARGEST = umax(x, y)
PLAIN = (Close(),)


def value(term: Term, words: Mapping[str, int]) -> int:
    columns = {name: np.array([word], np.uint64) for name, word in words.items()}
    return int(terms.values([term], columns)[0][0])


def test_free_words_and_maxima_stand_for_nodes() -> None:
    """A formula has a solution wherever the goal has one: with the nodes' own values."""
    goal = LARGEST.ult(3) & (x + y).eq(3)
    (refuted,) = refuted_formulas(goal, (Close(free=(x + y,)),))
    assert set(refuted.stands_for.values()) == {LARGEST, x + y}
    assert {str(word.data) for word in variables([refuted.formula])} - {"x", "y"} == {"free 0", "maximum 0"}
    (again,) = substitute([refuted.formula], dict(refuted.stands_for))
    for a in range(16):
        for b in range(16):
            assert value(again, {"x": a, "y": b}) == value(goal, {"x": a, "y": b})


def test_every_kind_of_step_in_order() -> None:
    goal = x.ult(3) & y.eq(x + 4) & y.ult(x)
    small, sums = y.ult(9), (x + 4).eq(y)
    split = Cases(((x.eq(0), PLAIN), (x.eq(1), PLAIN)), PLAIN)
    proof = (Fact(small, PLAIN), Equal(y, x + 4, PLAIN), split)
    derived: list[Term] = []
    check(goal, proof, derived.append)
    assert [one.formula for one in refuted_formulas(goal, proof)] == derived
    assert len(derived) >= 4
    kinds = [(kind, term) for kind, term in steps_of(proof)]
    assert [kind for kind, _ in kinds] == ["a fact", "an equality", "one of the cases, or none"]
    assert [term for _, term in kinds] == [small, sums, x.eq(0) | x.eq(1)]


def test_what_needs_no_lemma_is_left_out() -> None:
    assert refuted_formulas(const(0, 1), PLAIN) == []
    goal = x.ult(3)
    assert len(refuted_formulas(goal & y.ult(2), (Fact(goal, (Close(using=(goal,)),)), Close()))) == 1


def read(folder: Path) -> list[tuple[Statement, Proof]]:
    return [opened(path, record_of(path)) for path in statement_files(folder)]


def meaning(text: str) -> z3.BoolRef:
    """What a script asserts."""
    found = z3.And(z3.parse_smt2_string(text))
    assert isinstance(found, z3.BoolRef)
    return found


def points(statement: Statement, count: int = 30) -> Iterator[dict[str, int]]:
    """Inputs: at random, and with most lanes zero."""
    rng = random.Random(4)
    for number in range(count):
        yield {
            name: rng.getrandbits(width) if number % 3 or rng.random() < 0.4 else 0
            for name, width in statement.widths.items()
        }


def values(formulas: Sequence[z3.BoolRef], words: Mapping[str, int], widths: Mapping[str, int]) -> list[bool]:
    """Of formulas without other variables, by Z3's simplifier."""
    pairs = []
    for name, word in words.items():
        wide = widths[name] > 1
        pairs.append(
            (z3.BitVec(name, widths[name]), z3.BitVecVal(word, widths[name]))
            if wide
            else (z3.Bool(name), z3.BoolVal(bool(word)))
        )
    found = [z3.simplify(z3.substitute(formula, *pairs)) for formula in formulas]
    assert all(z3.is_true(value) or z3.is_false(value) for value in found)
    return [z3.is_true(value) for value in found]


def test_a_script_asserts_the_goal(certificates: Path) -> None:
    """Of questions about outputs and others, of cases and of chains: the same truth value at each input."""
    false = difference("t", ("", two_products()), ("", two_products(fraction_bits=3)), Domain())
    seen = []
    for statement, proof in [*read(certificates), (stated(false), (Close(),))]:
        text = statement_script(statement, proof, ["a comment"])
        assert "\n; a comment\n" in text
        said = meaning(text)
        for words in points(statement):
            (value,) = values([said], words, statement.widths)
            assert value == bool(evaluate([statement.goal], words)[0]), statement.title
            seen.append(value)
    assert {True, False} == set(seen)


def test_lemmas_are_defined_and_not_asserted(certificates: Path) -> None:
    counts, seen = [], []
    for statement, proof in read(certificates):
        text = statement_script(statement, proof, [])
        steps = list(steps_of(proof))
        alone = re.sub(r"\(assert [a-z_0-9]+\)\n", "", text)
        lemmas = [
            meaning(alone.replace("(check-sat)", f"(assert lemma_{number})\n(check-sat)"))
            for number in range(1, len(steps) + 1)
        ]
        for words in points(statement, 10):
            found = values(lemmas, words, statement.widths)
            assert found == [bool(value) for value in evaluate([term for _, term in steps], words)]
            seen += found
        assert f"lemma_{len(steps) + 1} " not in text
        counts.append(len(steps))
    assert max(counts) > 1 and {True, False} == set(seen)


@pytest.mark.parametrize("solver", SOLVERS)
def test_solvers(solver: str, certificates: Path) -> None:
    """Of a small statement and its lemmas; and of one that is false, of which there is an example."""
    ask = SOLVERS[solver]
    (statement, proof), *_ = [part for part in read(certificates) if part[0].title == "a NaN stays"]
    assert ask(statement_script(statement, proof, [])) == "unsat"
    for refuted in refuted_formulas(statement.goal, proof):
        assert ask(lemma_script(refuted, StageNames(statement), [])) == "unsat"
    false = stated(difference("t", ("", two_products()), ("", two_products(fraction_bits=3)), Domain()))
    text = statement_script(false, (Close(),), []).replace("(set-info :status unsat)\n", "")
    assert ask(text) == "sat"  # cvc5 says that the status is wrong


@pytest.mark.slow
def test_the_lemmas_of_every_statement(certificates: Path) -> None:
    for statement, proof in read(certificates):
        for refuted in refuted_formulas(statement.goal, proof):
            assert ask_bitwuzla(lemma_script(refuted, StageNames(statement), [])) == "unsat"


def test_a_lemma_is_the_formula_in_other_words(certificates: Path) -> None:
    """And the comment says which word of the certificate's script each of them is."""
    for statement, proof in read(certificates):
        names = StageNames(statement)
        for refuted in refuted_formulas(statement.goal, proof):
            text = lemma_script(refuted, names, [])
            said = dict(re.findall(r"^;   (x\d+) is (\S+)$", text, re.MULTILINE))
            words = [node for node in operands_first([refuted.formula]) if node.op == "var"]
            called = {str(word.data): said[f"x{number}"] for number, word in enumerate(words)}
            widths = {called[str(word.data)]: word.width for word in words}
            assert set(re.findall(r"\(declare-const (\S+) ", text)) == widths.keys() == set(said.values())
            assert not any(name.startswith(("free", "maximum")) for name in widths)
            assert {names[node] for node in refuted.stands_for.values() if node in names} <= widths.keys()
            rng = random.Random(2)
            for _ in range(5):
                point = {name: rng.getrandbits(width) for name, width in widths.items()}
                (value,) = values([meaning(text)], point, widths)
                own = {name: point[other] for name, other in called.items()}
                assert value == bool(evaluate([refuted.formula], own)[0])


def test_stages_have_the_names_of_their_models(certificates: Path) -> None:
    """A stage that both models share has no number."""
    statement = stated(difference("t", ("", two_products()), ("", two_products(carry_bits=3))))
    names = set(StageNames(statement).values())
    assert {"largest_exponent", "product_0", "aligned_product_1", "m1_sum", "m2_sum"} <= names
    assert len(names) == len(StageNames(statement))


def test_inputs_that_nothing_reads_are_declared() -> None:
    """Both sides are one graph, of which nothing is left to ask."""
    statement = stated(difference("t", ("", two_products()), ("", two_products()), Domain(finite=False)))
    text = statement_script(statement, (Close(),), [])
    assert set(re.findall(r"\(declare-const (\S+) ", text)) == {"a0", "a1", "b0", "b1", "c"}
