"""What was proved on the way: said in words, as data, and as a proof by itself."""

from __future__ import annotations

import pytest

from tcsmt.prove.engine.asked_lemmas import CountedAnswer, Lemmas
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.proof_steps import ProofStep, Proving
from tcsmt.prove.engine.solvers.answer import Answer
from tcsmt.prove.engine.solving import Solving
from tests.support.certificates import carry_bits

ANSWER = Answer("unsat", "bitwuzla", "9.9", 0.25, script="abc", confirmed="z3 8.8")
STEP = ProofStep(
    what="a = b", how="c left free", solver="bitwuzla", version="9.9", seconds=0.25, script="abc",
    confirmed="z3 8.8",
)  # fmt: skip


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, "a = b: bitwuzla 9.9, 0.250 s, c left free, confirmed by z3 8.8"),
        ({"confirmed": ""}, "a = b: bitwuzla 9.9 alone, 0.250 s, c left free"),
        (
            {"earlier": True},
            "a = b: bitwuzla 9.9, 0.250 s, in an earlier run, c left free, confirmed by z3 8.8",
        ),
        ({"script": "", "confirmed": ""}, "a = b: bitwuzla 9.9, 0.250 s, c left free"),
        ({"solver": ""}, "a = b: c left free"),
    ],
)
def test_steps_in_words_name_their_solvers(change: dict[str, object], said: str) -> None:
    assert str(ProofStep(**vars(STEP) | change)) == said


def test_steps_as_data_have_every_key() -> None:
    data = ProofStep(**vars(STEP) | {"seconds": 0.123456}).as_json()
    assert data["seconds"] == 0.1235
    assert data.keys() == {"what", "how", "solver", "version", "seconds", "script", "confirmed", "earlier"}
    assert (data["what"], data["script"], data["earlier"]) == ("a = b", "abc", False)


def test_steps_are_sure_if_confirmed_or_without_a_solver() -> None:
    """A proof without a script rests on no solver."""
    proof = STEP.proof
    assert (proof.stage, proof.scripts, proof.confirmed, proof.by) == (
        "a = b",
        ("abc",),
        "z3 8.8",
        "bitwuzla 9.9",
    )
    alone = ProofStep(**vars(STEP) | {"confirmed": ""}).proof
    assert not alone.sure
    assert ProofStep(what="x", how="the same graph").proof.scripts == ()
    assert ProofStep(what="x", how="the same graph").proof.sure


@pytest.mark.parametrize("earlier", [False, True])
def test_proved_lemmas_are_kept_in_order(earlier: bool) -> None:
    """Of the lemma: who answered, and to which script."""
    solving = Solving(SolvingOptions(timeout=7.5))
    proving = Proving(carry_bits(), solving, Lemmas(solving))
    assert proving.limit == 7.5
    proving.proved("first", "by cases", CountedAnswer(ANSWER, earlier=earlier))
    proving.proved("second", "the same graph", CountedAnswer(Answer("unsat", "", seconds=0.0)))
    one, two = proving.steps
    assert (one.what, one.how, one.solver, one.version) == ("first", "by cases", "bitwuzla", "9.9")
    assert (one.script, one.confirmed, one.seconds, one.earlier) == ("abc", "z3 8.8", 0.25, earlier)
    assert (two.what, two.solver, two.earlier) == ("second", "", False)
    assert proving.derived == []
