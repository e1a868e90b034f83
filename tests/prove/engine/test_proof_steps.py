"""What was proved on the way: said in words, as data, and as a proof by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcsmt.language.terms import Term, var
from tcsmt.language.write.smtlib import script
from tcsmt.prove.engine import proof_steps as module
from tcsmt.prove.engine import solving
from tcsmt.prove.engine.options import SOLVERS, SolvingOptions
from tcsmt.prove.engine.proof_steps import LemmaAnswer, Lemmas, ProofStep, Proving
from tcsmt.prove.engine.solvers.answer import Answer, digest
from tcsmt.prove.engine.solvers.run import installed
from tcsmt.prove.engine.solving import Solving
from tcsmt.support import cache
from tests.support.certificates import carry_bits
from tests.support.lying import Liars

X, Y = var("x", 8), var("y", 8)
#: (x xor y) xor (x and y) is x or y: there is no solution, and the constructors do not see it.
GOAL = ((X ^ Y) ^ (X & Y)).ne(X | Y)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TCSMT_CACHE", str(tmp_path))
    return tmp_path / "lemmas"


def lemmas(
    solver: str = "bitwuzla", confirm: bool = False, lasting: bool = True, reuse: bool | None = None
) -> Lemmas:
    return Lemmas(Solving(SolvingOptions(solver, confirm=confirm, reuse=reuse)), lasting)


def test_kept_by_content() -> None:
    first = lemmas().prove(GOAL, 10)
    assert first.holds
    assert not first.earlier
    again = lemmas().prove(GOAL, 10)
    assert again.earlier
    assert again.answer == first.answer
    assert not lemmas().prove(((X ^ Y) ^ (X & Y)).ne(Y | var("z", 8)), 10).holds


def test_scripts_are_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """For the store and every solver alike: writing it takes longer than many answers."""
    written: list[Term] = []

    def counted(goal: Term) -> str:
        written.append(goal)
        return script(goal)

    for place in (module, solving):
        monkeypatch.setattr(place, "script", counted)
    assert lemmas(confirm=True).prove(GOAL, 10).answer.confirmed
    assert written == [GOAL]


@pytest.mark.slow
def test_asked_again_where_more_is_wanted() -> None:
    lemmas().prove(GOAL, 10)
    assert not lemmas(lasting=False).prove(GOAL, 10).earlier
    assert not lemmas("z3").prove(GOAL, 10).earlier
    lemmas().prove(GOAL, 10)
    # kept without a confirmation, it is none, even where the user says that what is kept counts
    confirmed = lemmas(confirm=True, reuse=True).prove(GOAL, 10)
    assert not confirmed.earlier
    assert confirmed.answer.confirmed
    # kept with one, it is one where the user says so
    assert not lemmas(confirm=True).prove(GOAL, 10).earlier
    assert not lemmas(confirm=True, reuse=False).prove(GOAL, 10).earlier
    again = lemmas(confirm=True, reuse=True).prove(GOAL, 10)
    assert again.earlier
    assert again.answer.confirmed == confirmed.answer.confirmed
    plain = lemmas().prove(GOAL, 10)
    assert plain.earlier
    assert plain.answer.confirmed == ""
    assert not lemmas(reuse=False).prove(GOAL, 10).earlier


def test_what_had_no_answer_is_asked_with_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not again with as much."""
    asked: list[float] = []

    def gives_up(goal: Term, timeout: float, text: str) -> Answer:
        asked.append(timeout)
        return Answer("unknown" if timeout < 3 else "unsat", "bitwuzla", "0", timeout, script=digest(text))

    course = lemmas(lasting=False)
    monkeypatch.setattr(course.solving, "ask", gives_up)
    answers = [course.prove(GOAL, timeout).answer.answer for timeout in (1, 1, 0.5, 2, 1, 3, 1)]
    assert answers == ["unknown"] * 5 + ["unsat"] * 2
    assert asked == [1, 2, 3]
    assert course.find_model(GOAL, 1).answer == "unsat"
    assert course.seconds == 6


def test_nothing_is_kept_unless_it_is_asked_for(folder: Path) -> None:
    for _ in range(2):
        found = Lemmas(Solving()).prove(GOAL, 10)
        assert found.holds
        assert not found.earlier
    assert not folder.exists()


def test_satisfiable_lemmas_are_not_kept(folder: Path) -> None:
    assert lemmas().prove(X.ne(Y), 10).answer.answer == "sat"
    assert not folder.exists()


def test_damaged(folder: Path) -> None:
    lemmas().prove(GOAL, 10)
    (file,) = folder.iterdir()
    file.write_bytes(file.read_bytes()[:-1] + b"!")
    assert not lemmas().prove(GOAL, 10).earlier
    assert lemmas().prove(GOAL, 10).earlier


def test_another_version_of_the_solver_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    lemmas().prove(GOAL, 10)
    assert lemmas().prove(GOAL, 10).earlier
    monkeypatch.setattr(module, "installed", lambda solver: "0.0.1")
    assert not lemmas().prove(GOAL, 10).earlier
    assert lemmas().prove(GOAL, 10).earlier


def test_versions_are_those_of_the_installed_packages() -> None:
    for solver in SOLVERS:
        answer = Solving(SolvingOptions(solver)).ask(GOAL)
        assert installed(solver).startswith(answer.version)
    assert installed("no such solver") == ""


def test_kept_files_count_for_their_own_script_alone(folder: Path) -> None:
    """What is kept for one script is nothing for another; and what is no record is none."""
    other = ((X ^ Y) ^ (X & Y)).ne(X | Y | 0) & X.ult(200)
    lemmas().prove(GOAL, 10)
    (file,) = folder.iterdir()
    lemmas().prove(other, 10)
    (theirs,) = set(folder.iterdir()) - {file}
    theirs.write_bytes(file.read_bytes())
    assert not lemmas().prove(other, 10).earlier
    name = f"lemmas/{file.name}"
    for content in (
        b"",
        b"[]",
        b"{}",
        b'{"version": 1}',
        b"\xff",
        b'{"version": "", "seconds": "x", "confirmed": ""}',
    ):
        cache.store(name, content)
        assert not lemmas().prove(GOAL, 10).earlier


def test_guesses_are_not_kept_for_proofs(folder: Path) -> None:
    """Without a solution, what only looked for one has proved nothing."""
    known = lemmas(confirm=True)
    assert known.find_model(GOAL, 10).answer == "unsat"
    assert not folder.exists()
    assert known.known == {}
    found = known.prove(GOAL, 10)
    assert found.holds and found.answer.confirmed
    assert known.find_model(GOAL, 10) == found.answer
    # constants are not taken for each other
    assert known.find_model(X.ult(X), 10).answer == "unsat"
    assert known.find_model(X.eq(X), 10).answer == "sat"


def test_refusals_are_remembered(liars: Liars, folder: Path) -> None:
    """Nobody is asked again what nobody confirmed; and nothing is kept of it."""
    liars.install(z3="nothing", cvc5="garbage")
    known = lemmas(confirm=True)
    first = known.prove(GOAL, 10)
    assert (first.refused, first.holds) == (True, False)
    liars.install(z3="unsat")
    assert known.prove(GOAL, 10) == first
    assert known.refused == [first.answer.reason] * 2
    assert not folder.exists()


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
    proving.proved("first", "by cases", LemmaAnswer(ANSWER, earlier=earlier))
    proving.proved("second", "the same graph", LemmaAnswer(Answer("unsat", "", seconds=0.0)))
    one, two = proving.steps
    assert (one.what, one.how, one.solver, one.version) == ("first", "by cases", "bitwuzla", "9.9")
    assert (one.script, one.confirmed, one.seconds, one.earlier) == ("abc", "z3 8.8", 0.25, earlier)
    assert (two.what, two.solver, two.earlier) == ("second", "", False)
    assert proving.derived == []
