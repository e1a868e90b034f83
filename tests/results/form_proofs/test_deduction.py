"""Every rule of a deduction looks at what it needs, and what it adds is true."""

from __future__ import annotations

from itertools import product

import pytest
from form_proofs.deduction import FormDerivation, ProofFailed
from hypothesis import given
from hypothesis import strategies as st

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import FALSE, TRUE, Term, any_of, const, total, umax, var
from tcsmt.matrix_units.arithmetic import native
from tcsmt.prove.engine.solving import Solving

A, B, C, X = var("a", 4), var("b", 4), var("c", 4), var("x", 32)


def holds(deduction: FormDerivation) -> bool:
    """Whether solvers refute every lemma."""
    return all(Solving().ask(lemma.goal).answer == "unsat" for lemma in deduction.lemmas.values())


def test_a_lemma_without_its_premise_is_refused() -> None:
    with pytest.raises(ProofFailed, match="not among the facts"):
        FormDerivation(()).lemma("below", A.ult(9), [A.ult(8)])


def test_a_lemma_that_does_not_hold_has_a_solution() -> None:
    for premise, right in ((A.ult(8), True), (A.ult(10), False)):
        proof = FormDerivation((premise,))
        proof.lemma("below", A.ult(9), [premise])
        assert holds(proof) == right


def test_what_is_cut_is_free() -> None:
    """A + B is even where it is twice B: not of any word that stands for it."""
    whole = A + B
    facts = (A.eq(B), ~whole[0])
    for cuts, right in (([], True), ([whole], False)):
        proof = FormDerivation(facts[:1])
        proof.lemma("even", facts[1], facts[:1], cuts=cuts)
        assert holds(proof) == right


@pytest.mark.parametrize("name", ["cut 0", "open0"])
def test_a_word_with_the_name_of_a_free_one_is_refused(name: str) -> None:
    """A + 1 is not any word: but it would be the one that is put in its place."""
    whole, other = A + 1, var(name, 4)
    with pytest.raises(ProofFailed, match=name):
        FormDerivation(()).lemma("any word", whole.eq(other), cuts=[whole])


def test_what_is_equal_has_to_be_a_fact() -> None:
    proof = FormDerivation(())
    with pytest.raises(ProofFailed):
        proof.lemma("nothing", (A & B).eq(0), equal={A: const(0, 4)})
    proof = FormDerivation((A.eq(0),))
    proof.lemma("nothing", (A & B).eq(0), equal={A: const(0, 4)})
    assert not proof.lemmas  # the rest is arithmetic of constants
    with pytest.raises(ProofFailed, match="not so"):
        proof.lemma("something", (A & B).ne(0), equal={A: const(0, 4)})


def test_a_lemma_holds_whatever_is_left_open() -> None:
    """Out of range the definition says one word, a processor any: no fact may rest on it."""
    large = X.eq(0x4F000000)  # 2^31
    proof = FormDerivation((large,))
    proof.lemma("the definition's word", native.to_integer(X).eq(1 << 31), [large])
    assert not holds(proof)


def test_the_parts_of_a_hypothesis_are_facts() -> None:
    proof = FormDerivation((A.ult(8) & B.ult(8), ~(A.eq(1) | B.eq(1))))
    for fact in (A.ult(8), B.ult(8), ~A.eq(1), ~B.eq(1)):
        proof.lemma("the same", fact, [fact])
    assert not proof.lemmas


@given(st.lists(st.integers(0, 15), min_size=3, max_size=3))
def test_joined_words_are_what_the_whole_is(words: list[int]) -> None:
    values = dict(zip("abc", words, strict=True))
    for join in (total, umax):
        proof = FormDerivation(())
        proof.joined(join(A, B, C), join(A, B), C)
        (fact,) = proof.facts
        assert evaluate([fact], values) == [1]


def test_other_words_do_not_join() -> None:
    for join in (total, umax):
        for part, last in ((join(A, B), B), (A, C), (join(A, B, C), C)):
            with pytest.raises(ProofFailed):
                FormDerivation(()).joined(join(A, B, C), part, last)
    with pytest.raises(ProofFailed):
        FormDerivation(()).joined(any_of([A[0], B[0], C[0]]), A[0] | B[0], C[0])


def test_at_most_is_about_largest_words() -> None:
    proof = FormDerivation(())
    proof.at_most(umax(A, B))
    assert proof.facts == {A.ule(umax(A, B)), B.ule(umax(A, B))}
    with pytest.raises(ProofFailed):
        proof.at_most(total(A, B))


def test_cases_have_to_be_all_and_each_to_say_it() -> None:
    cases, conclusion = [A.ult(8), A.eq(8), ~A.ule(8)], A.ne(3) | A.ult(4)

    def deduce(within: FormDerivation, number: int) -> None:
        if number != 2 or len(within.facts):
            within.lemma("each", conclusion, [cases[number]])

    with pytest.raises(ProofFailed):
        FormDerivation(()).by_cases(cases, conclusion, deduce)
    proof = FormDerivation(())
    proof.lemma("one of them", any_of(cases))
    with pytest.raises(ProofFailed):
        proof.by_cases(cases, conclusion, lambda within, number: None)
    proof.by_cases(cases, conclusion, deduce)
    assert conclusion in proof.facts and holds(proof)
    assert not {*cases} & proof.facts  # a case is over with it


def test_a_theorem_needs_its_hypotheses_for_the_values_that_it_is_given() -> None:
    inner = FormDerivation((A.ult(4),))
    inner.lemma("twice", (A + A).ult(8), [A.ult(4)])
    theorem = inner.theorem((A + A).ult(8))
    proof = FormDerivation((B.ult(4),))
    with pytest.raises(ProofFailed):
        proof.apply(theorem, {A: C})
    with pytest.raises(ProofFailed, match="width"):
        proof.apply(theorem, {A: X})
    with pytest.raises(ProofFailed, match="variable"):
        proof.apply(theorem, {A + A: B})
    proof.apply(theorem, {A: B})
    assert (B + B).ult(8) in proof.facts


def test_a_theorem_of_a_case_has_the_case_among_its_hypotheses() -> None:
    proof, theorems = FormDerivation(()), []

    def deduce(within: FormDerivation, number: int) -> None:
        within.lemma("any", TRUE)
        theorems.append(within.theorem(A.ult(8) if number == 0 else TRUE))

    proof.lemma("one of them", any_of([A.ult(8), ~A.ult(8)]))
    proof.by_cases([A.ult(8), ~A.ult(8)], TRUE, deduce)
    assert A.ult(8) in theorems[0].hypotheses
    with pytest.raises(ProofFailed):
        proof.apply(theorems[0], {A: B})


def test_goals_that_differ_in_names_alone_are_asked_once() -> None:
    proof = FormDerivation(())
    for word in (A, B, C):
        proof.lemma("half", (word >> 1).ult(8))
    assert len(proof.lemmas) == 1


@pytest.mark.parametrize(("first", "second"), list(product([TRUE, FALSE], repeat=2)))
def test_constants_need_no_solver(first: Term, second: Term) -> None:
    proof = FormDerivation(())
    if first is FALSE or second is FALSE:
        with pytest.raises(ProofFailed):
            proof.lemma("both", first & second)
    else:
        proof.lemma("both", first & second)
        assert not proof.lemmas
