"""The engine: equal is proved, different is replayed, an empty domain is said."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import TRUE, substitute, var
from tcsmt.language.write.smtlib import script
from tcsmt.matrix_units.catalogue import row_named, rows
from tcsmt.matrix_units.models import FusedDotAdd, Model, Operands
from tcsmt.prove.engine import engine, solving
from tcsmt.prove.engine.boundary_inputs import rows as pool_rows
from tcsmt.prove.engine.engine import Decision, compare_models, decide
from tcsmt.prove.engine.options import SOLVERS, SolvingOptions
from tcsmt.prove.engine.solvers.answer import Answer
from tcsmt.prove.engine.solvers.run import solve
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import ComparedModel, Question, difference
from tcsmt.prove.statements.verdict import Distinguished, Equivalent, Unknown
from tcsmt.simulate.rows import run_words
from tcsmt.support.errors import TcsmtError
from tests.oracles import tiny
from tests.support import solving_here
from tests.support.lying import Liars
from tests.support.questions import found, unit
from tests.support.sampling import mostly_long

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
AMPERE = "ampere/mma.m16n8k16.f32.f16.f16.f32"
HOPPER = "hopper/mma.m16n8k16.f32.f16.f16.f32"
ALL = Domain(finite=False)


@pytest.fixture(autouse=True)
def nothing_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No lemma of an earlier run."""
    monkeypatch.setenv("TCSMT_CACHE", str(tmp_path / "cache"))


def fused(name: str, **changes: Any) -> FusedDotAdd:
    model = row_named(name).model
    assert isinstance(model, FusedDotAdd)
    return model.replace(**changes)


def asked(left: Any, right: Any, domain: Domain = ALL, confirm: bool = False, **options: Any) -> Decision:
    solving = Solving(SolvingOptions(confirm=confirm))
    return compare_models(("one", left), ("two", right), domain, solving, **options)


@pytest.mark.parametrize("lanes", [1, 3])
def test_lanes_that_are_not_asked_about_are_zero(lanes: int) -> None:
    """The domain: any words in the first lanes, zeros in the others, by the question's own graph."""
    unit = fused(VOLTA)
    question = engine.question_of_models(("", unit), ("", fused(VOLTA, fraction_bits=24)), ALL, lanes=lanes)
    assert question.domain_text.endswith(f"{lanes} of 4 lanes")
    inside = {name: 0x3C00 if int(name[1:] or 0) < lanes else 0 for name in unit.input_formats}
    assert evaluate([question.domain], inside)[0] == 1
    for name in unit.input_formats:
        if name != "c":
            word = inside[name]
            assert evaluate([question.domain], inside | {name: word ^ 1})[0] == (word != 0), name


@pytest.mark.slow
def test_every_row_equals_itself() -> None:
    """Another object with the same parameters: the same graph, and no solver."""
    for row in rows()[::29]:
        found = asked(row.model, replace(row.model))
        assert isinstance(found.verdict, Equivalent)
        assert found.verdict.scripts == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "changes"),
    [
        pytest.param(VOLTA, {"carry_bits": 3}, marks=pytest.mark.long),
        (VOLTA, {"zero_exponent": -126}),
        pytest.param(AMPERE, {"carry_bits": 4}, marks=pytest.mark.long),  # a chain of two blocks
        pytest.param(AMPERE, {"zero_exponent": -133}, marks=pytest.mark.long),
    ],
)
def test_stage_by_stage(name: str, changes: dict[str, Any]) -> None:
    unit = fused(name)
    found = asked(unit, unit.replace(**changes), confirm=True)
    verdict = found.verdict
    assert isinstance(verdict, Equivalent), verdict
    assert found.sure
    first, second = verdict.solver, verdict.confirmed.split()[0]
    assert first in SOLVERS and second in SOLVERS and first != second
    assert len(verdict.scripts) < 5
    assert all(len(step.script) == 64 or "same graph" in step.how for step in found.steps)
    # the other way round too
    assert isinstance(asked(unit.replace(**changes), unit).verdict, Equivalent)


@pytest.mark.slow
def test_equal_blocks_ask_the_same_lemma_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a solver takes: a lemma that is out of time would be asked in another way."""
    scripts = []

    def patient(text: str, settings: SolvingOptions) -> Answer:
        scripts.append(text)
        return solving_here.solve(text, replace(settings, timeout=600))

    monkeypatch.setattr(solving, "solve", patient)
    unit = fused(AMPERE)
    found = asked(unit, unit.replace(carry_bits=4))
    assert len(scripts) == len(set(scripts))
    by_stage = {step.what: step.script for step in found.steps}
    assert by_stage["block 0: result"] == by_stage["block 1: result"]


@pytest.mark.parametrize("bits", [0, 1, 2])
def test_too_few_carry_bits_are_never_proved(bits: int) -> None:
    """The coarse levels allow more, and must not be where a difference gets lost."""
    unit = fused(VOLTA)
    assert isinstance(asked(unit, unit.replace(carry_bits=bits)).verdict, Distinguished)


@pytest.mark.parametrize("wrong", [pytest.param("zero exponent", marks=pytest.mark.long), "sum", "chain"])
@pytest.mark.slow_cases("chain")
def test_without_the_pool_the_engine_finds_the_witness(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    """The solvers alone tell apart what a proof must not equate."""
    monkeypatch.setattr(engine, "search", lambda question: None)
    bf16 = fused("ampere/mma.m16n8k8.f32.bf16.bf16.f32", k=2, n_fma=2)
    pairs = {
        "zero exponent": (bf16, bf16.replace(zero_exponent=-126)),
        "sum": (fused(VOLTA), fused(VOLTA, carry_bits=2)),
        "chain": (fused(AMPERE, k=4, n_fma=2), fused(AMPERE, k=4, n_fma=2, fraction_bits=25)),
    }
    found = asked(*pairs[wrong], Domain())
    assert isinstance(found.verdict, Distinguished), found.verdict
    assert evaluate([found.question.goal], found.verdict.values) == [1]


def test_a_proof_holds_on_random_inputs() -> None:
    """What was proved equal gives the same words on inputs of the pool."""
    unit = fused(AMPERE)
    other = unit.replace(zero_exponent=-126)
    columns = pool_rows(unit.input_formats, 2000, np.random.default_rng(3))
    a, b = (np.stack([columns[f"{side}{i}"] for i in range(unit.k)], axis=-1) for side in "ab")
    one, two = (run_words(model, Operands(a, b, columns["c"])) for model in (unit, other))
    assert np.array_equal(one, two)


@pytest.mark.slow_cases("hopper/mma.m16n8k16.f32.f16.f16.f32-cdna3/v_mfma_f32_16x16x16_f16")
@pytest.mark.parametrize(
    ("left", "right"),
    [
        (VOLTA, f"{VOLTA}@valpey"),
        (VOLTA, f"{VOLTA}@fasi"),
        (AMPERE, HOPPER),
        (HOPPER, "cdna3/v_mfma_f32_16x16x16_f16"),
        pytest.param(
            "hopper/wgmma.m64nNk32.f32.e4m3.e4m3",
            "hopper/mma.m16n8k32.f32.e4m3.e4m3.f32",
            marks=pytest.mark.long,
        ),
    ],
)
def test_different_units(left: str, right: str) -> None:
    one, two = row_named(left).model, row_named(right).model
    found = asked(one, two)
    assert isinstance(found.verdict, Distinguished)
    values = found.verdict.values
    k = one.k
    a, b = ([np.array([[values[f"{side}{i}"] for i in range(k)]], dtype=np.uint64)] for side in "ab")
    c = np.array([values["c"]], dtype=np.uint64)
    assert run_words(one, Operands(a[0], b[0], c)) != run_words(two, Operands(a[0], b[0], c))
    formats = found.question.formats
    assert not any(f.is_nan(values[n]) or f.is_infinite(values[n]) for n, f in formats.items())


def test_only_a_nan_differs() -> None:
    """Equal on finite inputs; not on all words."""
    unit = fused(VOLTA, k=1, n_fma=1)
    other = unit.replace(nan=0x7FC00000)
    found = asked(unit, other)
    assert isinstance(found.verdict, Distinguished)
    assert isinstance(asked(unit, other, Domain()).verdict, Equivalent)


def test_an_empty_domain_is_never_equal() -> None:
    one = fused(VOLTA, k=1, n_fma=1)
    question = difference("", ("one", one), ("two", one.replace(fraction_bits=24)))
    nothing = one.trace.c.eq(1) & one.trace.c.eq(2)
    empty = replace(question, domain=nothing, goal=question.goal & nothing, domain_text="c = 1 and c = 2")
    with pytest.raises(TcsmtError, match=r"empty.*c = 1.*c = 2"):
        decide(empty, Solving())
    same = replace(empty, sides=(question.sides[0], question.sides[0]))
    with pytest.raises(TcsmtError, match="the domain is empty"):
        decide(same, Solving())


def test_solvers_that_disagree(liars: Liars) -> None:
    liars.install(z3="sat")
    unit = fused(VOLTA, k=2, n_fma=2)
    found = asked(unit, unit.replace(carry_bits=2), confirm=True)
    assert isinstance(found.verdict, Unknown)
    assert re.fullmatch(r"solvers disagree: bitwuzla \S+ answers unsat, z3 9\.9 sat", found.verdict.reason), (
        found.verdict
    )


@pytest.mark.slow
def test_unconfirmed_answers_are_not_proofs(liars: Liars) -> None:
    liars.install(z3="nothing", cvc5="aborts after unsat")
    unit = fused(VOLTA, k=1, n_fma=1)
    sides = unit, unit.replace(carry_bits=1)
    found = asked(*sides, confirm=True)
    assert isinstance(found.verdict, Unknown)
    said = r"bitwuzla \S+ answers unsat; not confirmed: z3: wrote nothing; cvc5: crashed \(SIGABRT\)"
    assert re.fullmatch(said, found.verdict.reason), found.verdict
    alone = asked(*sides).verdict
    assert isinstance(alone, Equivalent)
    assert not alone.sure
    assert re.fullmatch(r"bitwuzla \S+ alone", alone.by_whom)


@pytest.mark.slow
def test_an_empty_domain_is_confirmed_too(liars: Liars) -> None:
    """Where another solver has an input, the domain is not empty; where none agrees, nothing is said."""
    unit = fused(VOLTA, k=1, n_fma=1)
    question = difference("", ("one", unit), ("two", unit.replace(carry_bits=1)), also=[unit.trace.c.eq(1)])
    liars.install(bitwuzla="unsat", z3="sat")
    found = decide(question, Solving(SolvingOptions(confirm=True))).verdict
    assert isinstance(found, Unknown) and "solvers disagree" in found.reason
    liars.install(z3="garbage", cvc5="nothing")
    found = decide(question, Solving(SolvingOptions(confirm=True))).verdict
    assert isinstance(found, Unknown) and "not confirmed" in found.reason


# --- one question ------------------------------------------------------------------------------------

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
    verdict = decide(question, Solving()).verdict
    # hash-consing: both graphs are one, and no solver is started
    assert verdict == Equivalent(stage="result", scripts=(), solver="", version="", seconds=0.0)


@pytest.mark.parametrize("solver", mostly_long(SOLVERS, SOLVERS[:1]))
@pytest.mark.parametrize("changes", [{}, {"fraction_bits": 4}, {"products": "normalised"}])
def test_renamed_inputs_are_equal(solver: str, changes: dict[str, object]) -> None:
    """A = B where nothing is shared: the inputs of B have other names, and are assumed equal."""
    small, wide = (tiny.described(exponent_bits=2, fraction_bits=n, bias=1) for n in (1, 3))
    one = unit().replace(k=1, n_fma=1, fraction_bits=3, nan=None, zero_exponent=None)
    formats = {"a_format": small, "b_format": small, "c_format": wide, "d_format": wide}
    model = one.replace(**formats | changes)
    trace = model.trace
    renamed = {t: var(f"other {t.data}", t.width) for t in trace.inputs}
    (output,) = substitute([trace.output], renamed)
    assert output is not trace.output
    same = TRUE
    for old, new in renamed.items():
        same = same & old.eq(new)
    inputs = dict(model.input_formats)
    inputs |= {f"other {n}": f for n, f in inputs.items()}
    sides = (
        ComparedModel("A", model, trace),
        ComparedModel("B", model, replace(trace, output=output, stages=())),
    )
    question = Question(title="A, B", sides=sides, goal=same & trace.output.ne(output), formats=inputs)
    verdict = decide(question, Solving(SolvingOptions(solver))).verdict
    assert isinstance(verdict, Equivalent)
    assert verdict.solver == solver


@pytest.mark.slow
@pytest.mark.usefixtures("unsearched")
@pytest.mark.parametrize("solver", mostly_long(SOLVERS, ["bitwuzla"]))
def test_every_solver_finds_and_proves(solver: str) -> None:
    volta = unit()
    two, three, four = (("", volta.replace(carry_bits=n)) for n in (2, 3, 4))
    found(difference("", two, three, lanes=(), alike=True), solver)
    enough = difference("", three, four, lanes=())
    verdict = decide(enough, Solving(SolvingOptions(solver))).verdict
    assert isinstance(verdict, Equivalent)
    assert verdict.solver == solver


def test_no_solver_is_asked_for_what_evaluation_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even about lanes of one kind, where the question names them."""

    def refuse(text: str, settings: SolvingOptions) -> Answer:
        raise AssertionError("a solver was asked")

    monkeypatch.setattr(solving, "solve", refuse)
    two, three = (("", unit().replace(carry_bits=n)) for n in (2, 3))
    assert found(difference("", two, three, alike=True)).solver == "evaluator"


@pytest.mark.usefixtures("unsearched")
def test_wrong_witnesses_of_solvers_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solving, "solve", lambda text, s: Answer("sat", "bitwuzla", "0", values={"c": 1}))
    question = difference("", ("", unit()), ("", unit().replace(fraction_bits=24)), lanes=())
    verdict = decide(question, Solving()).verdict
    assert isinstance(verdict, Unknown)
    assert "does not replay" in verdict.reason
    assert "bitwuzla 0" in verdict.reason


@pytest.mark.usefixtures("unsearched")
def test_wrong_witnesses_of_a_part_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the search began with a smaller set of inputs, or with every lane alike."""
    monkeypatch.setattr(solving, "solve", lambda text, s: Answer("sat", "z3", "1"))
    two = ("", unit()), ("", unit().replace(fraction_bits=24))
    for question in (difference("", *two, lanes=(1, 2)), difference("", *two, alike=True)):
        assert isinstance(decide(question, Solving()).verdict, Unknown)


@pytest.mark.usefixtures("unsearched")
def test_unknown_verdicts_keep_their_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = Answer("unknown", "auto", reason="bitwuzla: timeout", seconds=2.0)
    monkeypatch.setattr(solving, "solve", lambda text, s: lost)
    question = difference("", ("", unit()), ("", unit().replace(fraction_bits=24)), lanes=(2,))
    found = decide(question, Solving()).verdict
    assert isinstance(found, Unknown)
    assert found.reason == "bitwuzla: timeout" and found.seconds >= 4.0


def test_a_proof_at_a_stage_holds_of_the_result() -> None:
    """What was proved at a stage is proved at the result too (a question small enough for it)."""
    small = unit().replace(k=2, n_fma=2)
    pair = (small.replace(carry_bits=2), small.replace(carry_bits=3))
    question = difference("", ("2", pair[0]), ("3", pair[1]))
    verdict = decide(question, Solving()).verdict
    assert isinstance(verdict, Equivalent)
    assert verdict.stage == "sum"
    assert solve(script(question.goal), SolvingOptions()).answer == "unsat"


def test_a_proof_at_a_stage_respects_the_domain() -> None:
    """Two models that differ, on a domain where they do not: proved at a stage, under the domain."""
    pair = [unit().replace(carry_bits=n) for n in (2, 3)]
    small = Domain(c_zero=True, exponents=(0, 0))
    trace = pair[0].trace
    # one product only: no carry can arise
    rest = [t.eq(0) for t in (*trace.a[1:], *trace.b[1:])]
    question = difference("", ("", pair[0]), ("", pair[1]), small, also=rest, lanes=())
    verdict = decide(question, Solving()).verdict
    assert isinstance(verdict, Equivalent)
    assert verdict.stage == "sum"


@pytest.mark.long
def test_cases_cover_every_input() -> None:
    """A proof in parts: the named case and its negation, each with its own script and record."""
    volta = unit().replace(k=1, n_fma=1)
    pair = [volta.replace(carry_bits=n) for n in (2, 3)]
    case = volta.trace.c.eq(0)
    question = difference("", ("", pair[0]), ("", pair[1]), cases=(case,), lanes=())
    verdict = decide(question, Solving(SolvingOptions(confirm=True))).verdict
    assert isinstance(verdict, Equivalent)
    assert verdict.stage.startswith("case 1: ")
    assert "; case 2: " in verdict.stage
    assert len(verdict.scripts) == len(set(verdict.scripts)) == 2
    assert verdict.confirmed
    # a difference in either part is found
    for lanes in ((), (1,)):
        differ = difference(
            "", ("", volta), ("", volta.replace(fraction_bits=24)), cases=(case,), lanes=lanes
        )  # fmt: skip
        assert evaluate([differ.goal], found(differ).values) == [1]
