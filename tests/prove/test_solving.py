"""Verdicts of one question: proofs whose cuts are genuine, and solvers that are wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from tcsmt.ask.discovery import load, properties
from tcsmt.ask.investigation import Investigation
from tcsmt.catalogue import row_named
from tcsmt.interpret.exact import evaluate
from tcsmt.interpret.smtlib import script
from tcsmt.models import Model
from tcsmt.prove import solving
from tcsmt.prove.solvers.answer import Answer
from tcsmt.prove.solvers.run import SOLVERS, Settings, solve
from tcsmt.prove.solving import Solving
from tcsmt.statements.domain import Domain
from tcsmt.statements.question import Question, Side, difference
from tcsmt.statements.verdict import Distinguished, Equivalent, Unknown
from tcsmt.terms import TRUE, substitute, var
from tests.oracles import tiny
from tests.support.lying import Liars
from tests.support.questions import VOLTA, found, unit

ROWS = (
    VOLTA,
    "volta/mma.m8n8k4.f16.f16.f16.f16",
    "turing/mma.m16n8k8.f32.f16.f16.f32@fasi",
    "ampere/mma.m16n8k16.f32.bf16.bf16.f32",
    "ampere/mma.m16n8k8.f32.tf32.tf32.f32",
    "ada/mma.m16n8k32.f32.e4m3.e5m2.f32",
    "hopper/mma.m16n8k32.f16.e4m3.e4m3.f16",
    "hopper/wgmma.m64nNk16.f32.f16.f16",
    "volta/mma.m8n8k4.f32.f16.f16.f32@fasi",
    "volta/mma.m8n8k4.f32.f16.f16.f32@raihan",
)


def again(model: Model) -> Model:
    """An equal model that is another object, with a graph of its own making."""
    return replace(model)


@pytest.mark.parametrize("name", ROWS)
def test_a_model_equals_itself(name: str) -> None:
    model = row_named(name).model
    other = again(model)
    assert other == model
    assert other is not model
    question = difference("A and A", ("one", model), ("two", other), Domain(finite=False))
    verdict = Solving().verdict(question)
    # hash-consing: both graphs are one, and no solver is started
    assert verdict == Equivalent(stage="whole graph", scripts=(), solver="", version="", seconds=0.0)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("changes", [{}, {"fraction_bits": 4}, {"products": "normalised"}])
def test_renamed_inputs_are_equal(solver: str, changes: dict[str, object]) -> None:
    """A = B where nothing is shared: the inputs of B have other names, and are assumed equal."""
    small, wide = (tiny.described(exponent_bits=2, fraction_bits=n, bias=1) for n in (1, 3))
    one = replace(unit(), k=1, n_fma=1, fraction_bits=3, nan=None, zero_exponent=None)
    formats = {"a_format": small, "b_format": small, "c_format": wide, "d_format": wide}
    model = replace(one, **formats | changes)  # type: ignore[arg-type]
    trace = model.trace
    renamed = {t: var(f"other {t.data}", t.width) for t in trace.inputs}
    (output,) = substitute([trace.output], renamed)
    assert output is not trace.output
    same = TRUE
    for old, new in renamed.items():
        same = same & old.eq(new)
    inputs = dict(model.input_formats)
    inputs |= {f"other {n}": f for n, f in inputs.items()}
    sides = (Side("A", model, trace), Side("B", model, replace(trace, output=output, stages=())))
    question = Question(title="A, B", sides=sides, goal=same & trace.output.ne(output), formats=inputs)
    verdict = Solving(Settings(solver, timeout=60)).verdict(question)
    assert isinstance(verdict, Equivalent)
    assert verdict.solver == solver


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_finds_and_proves(solver: str) -> None:
    volta = unit()
    two, three, four = (("", replace(volta, carry_bits=n)) for n in (2, 3, 4))
    found(difference("", two, three, lanes=(), alike=True), solver)
    enough = difference("", three, four, lanes=())
    verdict = Solving(Settings(solver, timeout=60)).verdict(enough)
    assert isinstance(verdict, Equivalent)
    assert verdict.solver == solver


def test_a_wrong_model_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solving, "solve", lambda text, s: Answer("sat", "bitwuzla", "0", values={"c": 1}))
    question = difference("", ("", unit()), ("", replace(unit(), fraction_bits=24)), lanes=())
    verdict = Solving().verdict(question)
    assert isinstance(verdict, Unknown)
    assert "does not replay" in verdict.reason
    assert "bitwuzla 0" in verdict.reason


def test_a_wrong_model_of_a_part_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the search began with a smaller set of inputs, or with every lane alike."""
    monkeypatch.setattr(solving, "solve", lambda text, s: Answer("sat", "z3", "1"))
    two = ("", unit()), ("", replace(unit(), fraction_bits=24))
    for question in (difference("", *two, lanes=(1, 2)), difference("", *two, alike=True)):
        assert isinstance(Solving().verdict(question), Unknown)


def test_an_unknown_keeps_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = Answer("unknown", "auto", reason="bitwuzla: timeout", seconds=2.0)
    monkeypatch.setattr(solving, "solve", lambda text, s: lost)
    question = difference("", ("", unit()), ("", replace(unit(), fraction_bits=24)), lanes=(2,))
    # once for two lanes, once for all
    assert Solving().verdict(question) == Unknown(reason="bitwuzla: timeout", seconds=4.0)


def shipped_questions() -> Iterator[Question]:
    """Every question of a few property modules, without an answer."""

    class Silent(Solving):
        def verdict(self, question: Question) -> Unknown:
            return Unknown(reason="", seconds=0.0)

    for name in properties():
        row = row_named("ampere/mma.m16n8k8.f32.tf32.tf32.f32")
        prop = load(name)
        if not prop.objection(row):
            ask = Investigation(row, Silent())
            prop.investigate(ask)
            yield from (finding.question for finding in ask.findings)


def test_cuts_are_genuine() -> None:
    """Where two models agree at a cut, they agree in the result: on random words, by evaluation.

    A free word stands for the stage on both sides; what follows must then be one graph.
    """
    cuts = 0
    for question in shipped_questions():
        for stage, differ in solving._cuts(question):
            cuts += 1
            traces = [side.trace for side in question.sides]
            terms = [next(s.term for s in t.stages if s.name == stage) for t in traces]
            assert differ is terms[0].ne(terms[1])
            free = var("free", terms[0].width)
            rest = [substitute([t.output], {x: free})[0] for t, x in zip(traces, terms, strict=True)]
            assert rest[0] is rest[1]
            for seed in range(20):
                values = random_values(question, seed)
                same, *outputs = evaluate([~differ, *(t.output for t in traces)], values)
                assert not same or outputs[0] == outputs[1]
    assert cuts >= 5


def random_values(question: Question, seed: int) -> dict[str, int]:
    rng = np.random.default_rng(seed)
    return {n: int(rng.integers(0, 1 << f.width)) for n, f in question.formats.items()}


def test_a_cut_proof_holds_without_the_cut() -> None:
    """What was proved at a stage is proved at the result too (a question small enough for it)."""
    small = replace(unit(), k=2, n_fma=2)
    pair = (replace(small, carry_bits=2), replace(small, carry_bits=3))
    question = difference("", ("2", pair[0]), ("3", pair[1]))
    verdict = Solving().verdict(question)
    assert isinstance(verdict, Equivalent)
    assert verdict.stage == "sum"
    assert solve(script(question.goal), Settings(timeout=60)).answer == "unsat"


def test_a_cut_respects_the_domain() -> None:
    """Two models that differ, on a domain where they do not: proved at a stage, under the domain."""
    pair = [replace(unit(), carry_bits=n) for n in (2, 3)]
    small = Domain(c_zero=True, exponents=(0, 0))
    trace = pair[0].trace
    # one product only: no carry can arise
    rest = [t.eq(0) for t in (*trace.a[1:], *trace.b[1:])]
    question = difference("", ("", pair[0]), ("", pair[1]), small, also=rest, lanes=())
    verdict = Solving().verdict(question)
    assert isinstance(verdict, Equivalent)
    assert verdict.stage == "sum"


def test_confirm_names_a_second_solver() -> None:
    pair = [replace(unit(), carry_bits=n) for n in (3, 4)]
    question = difference("", ("", pair[0]), ("", pair[1]))
    verdict = Solving(Settings("bitwuzla"), confirm=True).verdict(question)
    assert isinstance(verdict, Equivalent)
    assert verdict.confirmed.split()[0] in ("z3", "cvc5")
    plain = Solving(Settings("bitwuzla")).verdict(question)
    assert isinstance(plain, Equivalent)
    assert plain.confirmed == ""


def test_a_second_solver_that_disagrees_confirms_nothing(liars: Liars) -> None:
    liars.install(bitwuzla="unsat", z3="sat")
    pair = [replace(unit(), carry_bits=n) for n in (3, 4)]
    question = difference("", ("", pair[0]), ("", pair[1]), lanes=())
    verdict = Solving(confirm=True).verdict(question)
    assert isinstance(verdict, Unknown)
    assert verdict.reason == "solvers disagree: bitwuzla 9.9 answers unsat, z3 9.9 sat"


def test_cases_cover_every_input() -> None:
    """A proof in parts: the named case and its negation, each with its own script and record."""
    volta = replace(unit(), k=1, n_fma=1)
    pair = [replace(volta, carry_bits=n) for n in (2, 3)]
    case = volta.trace.c.eq(0)
    question = difference("", ("", pair[0]), ("", pair[1]), cases=(case,), lanes=())
    verdict = Solving(confirm=True).verdict(question)
    assert isinstance(verdict, Equivalent)
    assert verdict.stage.startswith("case 1: ")
    assert "; case 2: " in verdict.stage
    assert len(verdict.scripts) == len(set(verdict.scripts)) == 2
    assert verdict.confirmed
    # a difference in either part is found
    for lanes in ((), (1,)):
        differ = difference(
            "", ("", volta), ("", replace(volta, fraction_bits=24)), cases=(case,), lanes=lanes
        )  # fmt: skip
        assert evaluate([differ.goal], found(differ).values) == [1]


@pytest.mark.parametrize("second", ["z3", "cvc5"])
def test_dumped_scripts_are_answered_alike(second: str, tmp_path: Path) -> None:
    volta = unit()
    path = tmp_path / "query.smt2"
    solving = Solving(Settings("bitwuzla"), dump=path)
    bits = [replace(volta, carry_bits=n) for n in (2, 3, 4)]
    found_ = solving.verdict(difference("", ("", bits[0]), ("", bits[1]), lanes=()))
    proof = solving.verdict(difference("", ("", bits[1]), ("", bits[2]), lanes=()))
    assert isinstance(found_, Distinguished)
    assert isinstance(proof, Equivalent)
    files = sorted(tmp_path.iterdir())
    assert [f.name for f in files] == ["query-2.smt2", "query.smt2"]
    texts = [f.read_text() for f in files]
    assert proof.scripts == (sha256(texts[0].encode()).hexdigest(),)
    answers = [solve(text, Settings(second)).answer for text in texts]
    assert answers == ["unsat", "sat"]
