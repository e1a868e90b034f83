"""The rules of certificates: no proof that passes is of a goal that some input satisfies."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.language.terms import (
    FALSE,
    TRUE,
    Term,
    all_of,
    any_of,
    const,
    operands_first,
    substitute,
    umax,
    var,
)
from tcsmt.prove.certificates.derivation import (
    Cases,
    Close,
    Equal,
    Fact,
    InvalidProof,
    Proof,
    Step,
    characterised,
    check,
    conjuncts,
    cut,
)
from tests.oracles.assignments import MOST, bits_of, columns, satisfiable, values

A, B, C, D = var("a", 1), var("b", 2), var("c", 2), var("d", 1)
INPUTS = (A, B, C, D)
EVERY = columns(INPUTS)


def refute(formula: Term) -> None:
    """By trying all assignments."""
    assert formula.width == 1
    if bits_of([formula]) > MOST:
        raise InvalidProof("too many bits to try")
    if satisfiable(formula):
        raise InvalidProof("there is a solution")


def accepted(goal: Term, *proof: Step) -> bool:
    try:
        check(goal, proof, refute)
    except InvalidProof:
        return False
    return True


# --- an attack on all rules at once ------------------------------------------------------------------


def random_terms(rng: random.Random, steps: int) -> list[Term]:
    """Small words and truth values of the inputs."""
    found: list[Term] = [*INPUTS, const(1, 2), TRUE]
    for _ in range(steps):
        x, y, z = (rng.choice(found[:4] + found[-6:]) for _ in range(3))
        if x.width > y.width:
            x = x[y.width - 1 : 0]
        y = y[x.width - 1 : 0]
        shapes = [
            x & y, x | y, x ^ y, ~x, x + y, x - y, -x, x * y, umax(x, y, x + 1), umax(x, y), x.eq(y),
            x.ult(y), x.slt(y), x << y, x.ashr(y), z[0].ite(x, y), x.zext(max(x.width, 3)),
            x.concat(y)[min(2, 2 * x.width - 1) : 0],
        ]  # fmt: skip
        found.append(rng.choice(shapes))
    return found


class Prover:
    """Makes proofs of which many hold: it looks at all inputs, and now and then it is wrong on purpose."""

    def __init__(self, rng: random.Random, pool: list[Term], wrong: float) -> None:
        self.rng, self.wrong = rng, wrong
        self.pool = pool
        self.truths = list({bit: None for term in pool for bit in (term[0], ~term[0])})
        #: All that was ever said, whether it is in scope or not.
        self.said: list[Term] = []

    def proof(self, goal: Term, facts: tuple[Term, ...], depth: int) -> Proof:
        steps: list[Step] = []
        facts = (*facts, goal)
        for _ in range(self.rng.choice((0, 1, 1, 2)) if depth else 0):
            if self.rng.random() < 0.5:
                says = self.true(facts)
                steps.append(Fact(says, self.proof(~says, facts, depth - 1)))
                facts = (*facts, says)
                self.said.append(says)
            else:
                node = self.rng.choice(operands_first([goal]))
                if self.rng.random() < 0.3:
                    node = self.rng.choice(self.pool)
                to = self.equal(node, facts)
                steps.append(Equal(node, to, self.proof(node.ne(to), facts, depth - 1)))
                self.said.append(node.eq(to))
        return (*steps, self.last(goal, facts, depth))

    def last(self, goal: Term, facts: tuple[Term, ...], depth: int) -> Step:
        if depth and self.rng.random() < 0.35:
            cases = tuple(self.rng.choice(self.truths) for _ in range(self.rng.randint(0, 2)))
            parts = [(case, self.proof(goal, (*facts, case), depth - 1)) for case in cases]
            self.said += cases
            return Cases(tuple(parts), self.proof(goal, (*facts, ~any_of(cases)), depth - 1))
        using = list(facts) if self.rng.random() < 0.8 else self.rng.sample(facts, len(facts) // 2)
        if self.said and self.rng.random() < self.wrong:
            using.append(self.rng.choice(self.said))
        nodes = operands_first([goal, *using])
        free = self.rng.sample(nodes, min(len(nodes), self.rng.choice((0, 0, 0, 1, 2))))
        return Close(tuple(using), tuple(free))

    def true(self, facts: tuple[Term, ...]) -> Term:
        """A truth value that holds where the facts do, as a rule."""
        some = self.rng.sample(self.truths, min(8, len(self.truths)))
        where = values([all_of(facts)], EVERY)[0] == 1
        if self.rng.random() >= self.wrong:
            some = [x for x in some if values([x], EVERY)[0][where].all() and x.value is None] or [TRUE]
        return some[0]

    def equal(self, node: Term, facts: tuple[Term, ...]) -> Term:
        """Another term of the node's value where the facts hold, as a rule."""
        some = [x for x in self.pool if x.width == node.width and x is not node]
        some += [const(value, node.width) for value in (0, 1)]
        self.rng.shuffle(some)
        where = values([all_of(facts)], EVERY)[0] == 1
        if self.rng.random() >= self.wrong:
            mine = values([node], EVERY)[0][where]
            some = [x for x in some if (values([x], EVERY)[0][where] == mine).all()] or [node]
        return some[0]


def attack(rng: random.Random, counted: Counter[str]) -> None:
    """One random proof; what is accepted has no solution."""
    pool = random_terms(rng, 12)
    prover = Prover(rng, pool, rng.choice((0.02, 0.1, 0.4)))
    wanted = rng.random() < 0.4
    for _ in range(8):
        goal = all_of(rng.choice(prover.truths) for _ in range(rng.randint(1, 2) if wanted else 4))
        if goal.value is None and satisfiable(goal) == wanted:
            break
    else:
        return
    proof = prover.proof(goal, (), 3)
    open_goal = satisfiable(goal)
    passed = accepted(goal, *proof)
    counted["satisfiable" if open_goal else "unsatisfiable"] += 1
    if passed:
        assert not open_goal, (goal, proof)
        counted["accepted"] += 1
        counted["accepted, of several steps"] += len(proof) > 1 or isinstance(proof[0], Cases)


@pytest.mark.slow
@pytest.mark.parametrize(
    "seeds", [range(300), pytest.param(range(300, 1000), marks=pytest.mark.long)], ids=str
)
def test_no_proof_of_what_has_a_solution(seeds: range) -> None:
    counted: Counter[str] = Counter()
    for seed in seeds:
        attack(random.Random(seed), counted)
    assert counted["satisfiable"] > len(seeds) * 0.3, counted
    assert counted["accepted"] > len(seeds) * 0.12, counted
    assert counted["accepted, of several steps"] > len(seeds) * 0.08, counted


@pytest.mark.long
@given(st.randoms(use_true_random=False))
@settings(max_examples=20000, deadline=None)
def test_no_proof_of_what_has_a_solution_at_length(rng: random.Random) -> None:
    attack(rng, Counter())


# --- each rule by itself -----------------------------------------------------------------------------

#: b is 1 and is not: no solution, but only where both are looked at.
B_ONE = B.eq(1)
CLOSE = (Close(),)


def test_only_refuted_goals_are_accepted() -> None:
    assert accepted(B_ONE & B.eq(2), Close())
    assert accepted(FALSE, Close())
    assert not accepted(B_ONE, Close())
    assert not accepted(TRUE, Close())


def test_proofs_must_end() -> None:
    goal = B_ONE & B.eq(2)
    with pytest.raises(InvalidProof, match="without steps"):
        check(goal, (), refute)
    with pytest.raises(InvalidProof, match="does not end"):
        check(goal, (Fact(B_ONE, (Close((B_ONE,)),)),), refute)
    with pytest.raises(InvalidProof, match="does not end"):
        check(goal, (Equal(B, const(1, 2), (Close((B_ONE,)),)),), refute)
    with pytest.raises(InvalidProof, match="after the one that ends"):
        check(goal, (Close(), Close()), refute)
    with pytest.raises(InvalidProof, match="after the one that ends"):
        check(goal, (Cases((), CLOSE), Close()), refute)
    for inner in ((), (Fact(TRUE, CLOSE),)):
        for proof in (
            (Fact(TRUE, inner), Close()), (Equal(B, B, inner), Close()),
            (Cases((), inner),), (Cases(((A, inner),), CLOSE),),
        ):  # fmt: skip
            with pytest.raises(InvalidProof):
                check(goal, proof, refute)


def test_only_facts_are_used() -> None:
    goal = B_ONE & A
    with pytest.raises(InvalidProof, match="among the facts"):
        check(goal, (Close((B.eq(2),)),), refute)
    with pytest.raises(InvalidProof, match="among the facts"):
        check(goal, (Close((~A,)),), refute)
    with pytest.raises(InvalidProof, match="among the facts"):
        check(goal, (Close((FALSE,)),), refute)
    with pytest.raises(InvalidProof, match="among the facts"):  # a part of it is one, and it is not
        check(goal, (Close((A & B.eq(2),)),), refute)
    assert accepted(goal & B.eq(2), Close((A, B_ONE)))
    assert accepted(goal & B.eq(2), Close((A & B_ONE, TRUE)))


def test_an_or_is_not_its_parts() -> None:
    """Of "A or b = 2" neither follows; of its negation both negations do."""
    assert not accepted(B_ONE & (A | B.eq(2)), Close((B.eq(2),)))
    assert conjuncts([A | D]) == {A | D}
    assert conjuncts([~(A | B_ONE)]) == {~A, ~B_ONE}
    assert conjuncts([~(A & D)]) == {~(A & D)}
    assert conjuncts([A & B_ONE & ~(D | C.eq(1))]) == {A, B_ONE, ~D, ~C.eq(1)}
    assert conjuncts([TRUE]) == frozenset()
    assert conjuncts([FALSE]) == {FALSE}


@pytest.mark.slow
@given(st.randoms(use_true_random=False))
@settings(max_examples=200, deadline=None)
def test_conjuncts_hold_where_the_terms_do(rng: random.Random) -> None:
    bits = [term[0] for term in random_terms(rng, 10)]
    given = [rng.choice(bits) & ~(rng.choice(bits) | rng.choice(bits)), rng.choice(bits)]
    parts = all_of(conjuncts(given))
    assert not satisfiable(parts ^ all_of(given))


def test_facts_must_be_proved() -> None:
    goal = B_ONE & A
    assert not accepted(goal, Fact(B.eq(2), CLOSE), Close((B.eq(2),)))
    assert not accepted(goal, Fact(~A, (Close((A,)),)), Close((~A,)))
    # its own negation is what is refuted, and no help for the fact itself
    assert not accepted(goal, Fact(~A, (Close((~A,)),)), Close((~A,)))
    assert (
        accepted(goal & C.eq(B + 1), Fact(C.eq(2), (Close((C.eq(B + 1), B_ONE)),)), Close((C.eq(1),)))
        is False
    )
    three = goal & C.eq(B + 1) & C.ult(2)
    assert accepted(three, Fact(C.eq(2), (Close((C.eq(B + 1), B_ONE)),)), Close((C.eq(2),), (B,)))


def test_facts_hold_only_after_they_are_stated() -> None:
    goal = B_ONE & A
    assert not accepted(goal, Fact(D, (Close((~D, D)),)), Close((D,)))
    assert not accepted(goal, Fact(~A, (Close((C.eq(1),)),)), Fact(C.eq(1), CLOSE), Close((~A,)))


def test_facts_of_a_case_hold_in_it_alone() -> None:
    goal = B_ONE | A
    inside = (Fact(A, (Close((~A, D, goal)),)), Close((A,)))
    assert not accepted(goal, Cases(((D, inside),), (Close((D,)),)))
    assert not accepted(goal, Cases(((D & ~D, (Close(),)),), (Close((D & ~D,)),)))
    # a case within a case, and what comes after it
    deep = Fact(A, (Cases(((D, CLOSE),), (Close((D,)),)),))
    assert not accepted(goal, deep, Close((D,)))
    # what a fact's proof says is not said outside
    assert not accepted(A, Fact(TRUE, (Fact(~A, (Close(),)), Close())), Close((~A,)))


def test_the_negation_of_a_fact_holds_in_its_proof_alone() -> None:
    """While D is proved, not-D is a fact; afterwards it is none."""
    goal = D & A
    assert not accepted(goal, Fact(D, (Close((D, ~D)),)), Close((~D,)))


def test_proofs_by_cases_need_every_case() -> None:
    goal = B.ult(2)
    one, two = (Cases(((B.eq(value), CLOSE),), CLOSE) for value in (0, 1))
    assert not accepted(goal, one)
    assert not accepted(goal, two)
    assert not accepted(goal, Cases((), CLOSE))
    assert accepted(goal & B.eq(3), Cases(((A, CLOSE),), CLOSE))
    # every case refuted but not what is left: C = 3
    left = B.eq(C) & B.ne(0) & B.ne(1) & B.ne(2)
    cases = tuple((C.eq(value), (Close((C.eq(value), B.eq(C), B.ne(value))),)) for value in range(3))
    rest = ~any_of(case for case, _ in cases)
    assert not accepted(left, Cases(cases, (Close((rest, B.eq(C))),)))
    assert accepted(left & B.ne(3), Cases(cases, (Close((rest, B.eq(C), B.ne(3))),)))


def test_replacements_must_be_proved() -> None:
    goal = B_ONE & A
    assert not accepted(goal, Equal(A, FALSE, CLOSE), Close())
    assert not accepted(goal, Equal(B, const(2, 2), (Close((B_ONE,)),)), Close())
    assert accepted(goal & C.eq(B) & C.eq(2), Equal(B, const(1, 2), (Close((B_ONE,)),)), Close((C.eq(2),)))


def test_replacements_hold_in_their_scope_alone() -> None:
    goal = B_ONE | A
    equal = Equal(B, const(2, 2), (Close((B.eq(2),)),))
    # proved where b = 2, used where it need not be
    assert not accepted(goal & ~A, Cases(((B.eq(2), (equal, Close())),), CLOSE))
    # within a fact's proof
    inner = (Equal(A, FALSE, (Close((~A,)),)), Close())
    assert not accepted(A, Fact(A, inner), Close())


def test_replacements_cannot_rest_on_their_own_negation() -> None:
    """In its proof the node differs from what replaces it: nothing of that is left outside."""
    assert not accepted(A, Equal(A, FALSE, (Close((A, A.ne(FALSE))),)), Close())
    goal = B_ONE & C.eq(2)
    assert not accepted(goal, Equal(B, C, (Close((B.ne(C),)),)), Close())


def test_replacements_of_another_width_are_refused() -> None:
    with pytest.raises(InvalidProof, match="2 bits replaced by one of 1"):
        check(B_ONE & B.eq(2), (Equal(B, A, CLOSE), Close()), refute)


def test_constants_are_not_replaced() -> None:
    """Where the goal has no solution "1 is 0" can be proved, and even then constants stay what they are."""
    goal = B_ONE & B.eq(2)
    check(goal, (Equal(const(1, 2), const(0, 2), (Close((B_ONE, B.eq(2))),)), Close()), refute)
    formulas: list[Term] = []
    check(goal, (Equal(TRUE, FALSE, (Close((goal,)),)), Close((goal,))), formulas.append)
    check(goal, (Equal(const(1, 2), const(3, 2), (Close((goal,)),)), Close()), formulas.append)
    assert formulas == [goal] * 4


def test_a_node_is_replaced_once_more() -> None:
    """The second replacement is of what the first one left."""
    goal = B.eq(C) & C.eq(3) & B.ult(3)
    first = Equal(B, C, (Close((B.eq(C),)),))
    second = Equal(B, const(3, 2), (Close((C.eq(3),)),))
    assert accepted(goal, first, second, Close())
    seen: list[Term] = []
    check(goal, (first, second, Close()), seen.append)
    assert seen == []  # all of it is constants
    check(goal, (first, Close()), seen.append)
    assert seen == [C.eq(3) & C.ult(3)]


def test_words_are_no_truth_values() -> None:
    for term in (B, C + 1):
        with pytest.raises(InvalidProof, match="truth value"):
            check(term, (Close(),), refute)
        for proof in (
            (Fact(term, CLOSE), Close()), (Close((term,)),),
            (Cases(((term, CLOSE),), CLOSE),),
        ):  # fmt: skip
            with pytest.raises(InvalidProof, match="truth value"):
                check(B_ONE & B.eq(2), proof, refute)


def test_free_nodes_may_have_any_value() -> None:
    goal = (B + C).eq(1) & B.eq(2) & C.eq(2)
    assert accepted(goal, Close())
    assert not accepted(goal, Close((), (B + C,)))
    assert not accepted(B.eq(2) & (B & 1).eq(1), Close((), (B & 1,)))
    assert accepted(goal & (B + C).eq(3), Close((), (B + C,)))
    # one free node in two terms is the same word in both
    both = (B + C).eq(1) & (B + C).eq(2)
    assert accepted(both, Close((), (B + C,)))
    assert not accepted((B + C).eq(1) & (B - C).eq(2) & C.eq(1), Close((), (B + C, B - C)))


@pytest.mark.parametrize("name", ["free", "maximum"])
def test_names_of_free_words_are_free(name: str) -> None:
    """An input of that name would be the same word as the one that is free."""
    word = var(f"{name} 0", 2)
    node = umax(B, C)
    goal = node.ne(word)
    with pytest.raises(InvalidProof, match="variable named"):
        check(goal & word.eq(B), (Close((), (node,) if name == "free" else ()),), refute)
    other = goal & word.eq(B)
    assert not accepted(other, Close((), (node,)))


def test_constant_goals_need_no_lemma() -> None:
    asked: list[Term] = []
    check(FALSE, (Close(),), asked.append)
    check(A, (Equal(A, FALSE, (Close((A,)),)), Close()), asked.append)
    assert len(asked) == 1


# --- the two changes to a formula --------------------------------------------------------------------


@pytest.mark.slow
@given(st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_characterised_formulas_have_the_same_solutions(rng: random.Random) -> None:
    """Each assignment is a solution with one choice of the new words where it was one, and with none else."""
    pool = random_terms(rng, 8)
    x, y, z = (rng.choice([t for t in pool if t.width == 2] or [B]) for _ in range(3))
    top = umax(x, y, B)
    formula = any_of([top.ult(z), umax(top, C).eq(x), all_of(t[0] for t in pool[-2:])])
    changed = characterised(formula)
    assert all(node.op != "umax" for node in operands_first([changed]))
    words = columns([*INPUTS, changed])
    before, after = values([formula & (A | ~A), changed], words)
    before, after = values([formula], words)[0], values([changed], words)[0]
    keys = sum(words[x] << shift for x, shift in zip(INPUTS, (0, 1, 3, 5), strict=True))
    for key in range(64):
        rows = keys == key
        wanted = bool(before[rows].any())
        assert before[rows].all() == wanted
        assert after[rows].any() == wanted
    new = [x for x in words if x not in INPUTS]
    assert len(new) == len([node for node in operands_first([formula]) if node.op == "umax"])
    assert after.sum() == before.sum() >> sum(x.width for x in new)


@pytest.mark.slow
@given(st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_a_cut_formula_has_at_least_the_solutions(rng: random.Random) -> None:
    """With the nodes' values for the free words it is the formula."""
    formula = all_of(term[0] for term in random_terms(rng, 10)[-3:])
    nodes = rng.sample(operands_first([formula]), min(2, len(operands_first([formula]))))
    changed = cut(formula, nodes)
    back = {var(f"free {number}", node.width): node for number, node in enumerate(nodes)}
    again = substitute([changed], back)[0]
    assert not satisfiable(again ^ formula)
