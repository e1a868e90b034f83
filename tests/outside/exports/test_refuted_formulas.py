"""The formulas of a proof with what their variables are: put back, they are of the goal."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tcsmt.language.terms import Term, const, substitute, umax, var, variables
from tcsmt.outside.exports.refuted_formulas import refuted_formulas, steps_of
from tcsmt.prove.certificates.derivation import Cases, Close, Equal, Fact, check
from tests.oracles import terms

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
