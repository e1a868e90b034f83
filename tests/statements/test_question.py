"""Questions and verdicts: witnesses that replay, proofs whose cuts are genuine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.arithmetic.formats import FORMATS, Format, Specials
from tcsmt.ask.discovery import load, properties
from tcsmt.ask.investigation import Investigation, one_block
from tcsmt.catalogue import row_named
from tcsmt.interpret.exact import evaluate
from tcsmt.interpret.smtlib import script
from tcsmt.models import FusedDotAdd, IeeeDotAdd, Model
from tcsmt.prove import solving
from tcsmt.prove.shorten import cost, shorten
from tcsmt.prove.solvers.answer import Answer
from tcsmt.prove.solvers.run import SOLVERS, Settings, solve
from tcsmt.prove.solving import Solving
from tcsmt.simulator.rows import run_words
from tcsmt.statements.question import Domain, Question, Side, difference
from tcsmt.statements.verdict import Distinguished, Equivalent, Unknown
from tcsmt.support.errors import TcsmtError
from tcsmt.terms import TRUE, substitute, var
from tests.oracles import rationals
from tests.support.lying import Liars
from tests.support.references import oracle_parameters

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
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


def unit(name: str = VOLTA) -> FusedDotAdd:
    """One fused sum of a catalogue row."""
    model = one_block(row_named(name).model)
    assert isinstance(model, FusedDotAdd)
    return model


def again(model: Model) -> Model:
    """An equal model that is another object, with a graph of its own making."""
    return replace(model)


# --- the same on both sides --------------------------------------------------------------------


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


@pytest.mark.parametrize("solver", ["bitwuzla", "z3"])
@pytest.mark.parametrize("changes", [{}, {"fraction_bits": 24}, {"products": "normalised"}])
def test_renamed_inputs_are_equal(solver: str, changes: dict[str, object]) -> None:
    """A = B where nothing is shared: the inputs of B have other names, and are assumed equal."""
    model = replace(unit(), k=1, n_fma=1, **changes)  # type: ignore[arg-type]
    trace = model.trace
    renamed = {t: var(f"other {t.data}", t.width) for t in trace.inputs}
    (output,) = substitute([trace.output], renamed)
    assert output is not trace.output
    same = TRUE
    for old, new in renamed.items():
        same = same & old.eq(new)
    formats = dict(model.input_formats)
    formats |= {f"other {n}": f for n, f in formats.items()}
    sides = (Side("A", model, trace), Side("B", model, replace(trace, output=output, stages=())))
    question = Question(title="A, B", sides=sides, goal=same & trace.output.ne(output), formats=formats)
    # whether Z3 sees that two sums have the same addends depends on the order of their names
    verdict = Solving(Settings(solver, timeout=60 if solver == "bitwuzla" else 5)).verdict(question)
    if isinstance(verdict, Unknown) and solver == "z3":
        return
    assert isinstance(verdict, Equivalent)
    assert verdict.solver == solver


# --- witnesses ---------------------------------------------------------------------------------


PAIRS: dict[str, tuple[str, dict[str, object], Domain]] = {
    "products": (VOLTA, {"products": "normalised"}, Domain()),
    "fraction bits": (VOLTA, {"fraction_bits": 24}, Domain(subnormals=False)),
    "carry bits": (VOLTA, {"carry_bits": 2}, Domain(positive=True)),
    "rounding": (VOLTA, {"rounding": "RNE"}, Domain(positive=True, exponents=(-3, 3))),
    "blocks": ("ampere/mma.m16n8k16.f32.f16.f16.f32", {"n_fma": 4}, Domain()),
    "c last": (VOLTA, {"c_position": "last"}, Domain()),
    "c summed": (VOLTA, {"c_position": "summed"}, Domain(subnormals=False)),
    "every": (VOLTA, {"normalisation": "every"}, Domain(positive=True)),
    "zero exponent": (
        "ampere/mma.m16n8k8.f32.bf16.bf16.f32", {"zero_exponent": -126}, Domain()
    ),
    "nan": (VOLTA, {"nan": 0x7FC00000}, Domain(finite=False)),
    "flush": ("volta/mma.m8n8k4.f16.f16.f16.f16", {"flush_outputs": True}, Domain(c_zero=True)),
    "overflow": ("ampere/mma.m16n8k8.f32.bf16.bf16.f32", {"overflow": "saturate"}, Domain()),
}  # fmt: skip


def found(question: Question, solver: str = "auto") -> Distinguished:
    """The verdict, which must be a witness."""
    verdict = Solving(Settings(solver, timeout=60)).verdict(question)
    assert isinstance(verdict, Distinguished), verdict
    return verdict


def in_domain(domain: Domain, question: Question, values: dict[str, int]) -> bool:
    """Whether the words lie in the domain, by exact values."""
    for name, fmt in question.formats.items():
        word = values[name]
        if fmt.is_nan(word) or fmt.is_infinite(word):
            if domain.finite:
                return False
            continue
        size = abs(fmt.value(word))
        if domain.positive and word >> fmt.sign_bit & 1:
            return False
        if not domain.subnormals and 0 < size < 2**fmt.e_min:
            return False
        if domain.c_zero and name == "c" and word:
            return False
        limits = domain.exponents
        if limits and name != "c" and size and not 2 ** limits[0] <= size < 2 ** (limits[1] + 1):
            return False
    return True


@pytest.mark.parametrize("name", PAIRS)
def test_a_witness_replays(name: str) -> None:
    """On the evaluator, the simulator and the rational oracle, which shares no code with them."""
    base, changes, domain = PAIRS[name]
    left = row_named(base).model if name == "blocks" else unit(base)
    right = replace(left, **changes)  # type: ignore[arg-type]
    many = name in ("blocks", "carry bits")
    pair = ("left", left), ("right", right)
    question = difference(name, *pair, domain, lanes=() if many else (2,), alike=many)
    values = dict(found(question).values)
    assert list(values) == left.input_names
    assert evaluate([question.goal], values) == [1]
    assert in_domain(domain, question, values)
    k = left.k
    a, b = ([values[f"{side}{i}"] for i in range(k)] for side in "ab")
    results = []
    for model in (left, right):
        rows = [np.array([x], dtype=np.uint64) for x in (a, b)]
        word = int(run_words(model, *rows, np.array([values["c"]], dtype=np.uint64))[0])
        parameters = oracle_parameters(model)
        assert isinstance(parameters, rationals.FDA)
        assert word == rationals.fda(parameters, a, b, values["c"])
        results.append(word)
    assert results[0] != results[1]


def test_a_witness_is_reported_as_it_is() -> None:
    """The report's results and the stage at which the models part, for a witness worked by hand."""
    ask = Investigation(row_named(VOLTA), Solving())
    ask.differ("F", ("F = 23", unit()), ("F = 24", replace(unit(), fraction_bits=24)))
    data = ask.findings[0].as_json()
    words = [result["word"] for result in data["results"]]
    verdict = ask.findings[0].verdict
    assert isinstance(verdict, Distinguished)
    outputs = [side.trace.output for side in ask.findings[0].question.sides]
    assert [int(w, 16) for w in words] == evaluate(outputs, verdict.values)
    assert words[0] != words[1]
    assert data["supported"] == ["F = 23"]
    assert data["parts_at"]["stage"].startswith("aligned")
    assert {n: int(v["word"], 16) for n, v in data["inputs"].items()} == verdict.values


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_finds_and_proves(solver: str) -> None:
    volta = unit()
    two, three, four = (("", replace(volta, carry_bits=n)) for n in (2, 3, 4))
    found(difference("", two, three, lanes=(), alike=True), solver)
    enough = difference("", three, four, lanes=())
    verdict = Solving(Settings(solver, timeout=60)).verdict(enough)
    assert isinstance(verdict, Equivalent)
    assert verdict.solver == solver


# --- a solver that is wrong --------------------------------------------------------------------


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


# --- proofs ------------------------------------------------------------------------------------


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


# --- scripts -----------------------------------------------------------------------------------


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


# --- shortening --------------------------------------------------------------------------------


SHORTENED = ("products", "c last", "nan", "flush", "every")


@pytest.fixture(scope="module")
def witnesses() -> dict[str, tuple[Question, dict[str, int]]]:
    """Questions, each with a witness."""
    table = {}
    for name in SHORTENED:
        base, changes, domain = PAIRS[name]
        models = unit(base), replace(unit(base), **changes)  # type: ignore[arg-type]
        question = difference(name, ("", models[0]), ("", models[1]), domain)
        table[name] = question, dict(found(question).values)
    return table


@given(st.sampled_from(SHORTENED), st.integers(0, 1 << 32))
@settings(max_examples=10, deadline=None)
def test_shortening(witnesses: dict[str, tuple[Question, dict[str, int]]], name: str, seed: int) -> None:
    """From any witness to one that is not longer, still a witness, and stays as it is."""
    question, start = witnesses[name]
    goal, rng = question.goal, np.random.default_rng(seed)
    for _ in range(30):  # random bits, as long as it stays a witness
        key = str(rng.choice(list(question.formats)))
        longer = {**start, key: start[key] ^ 1 << int(rng.integers(question.formats[key].width))}
        start = longer if evaluate([goal], longer) == [1] else start
    result = shorten(goal, question.formats, start)
    assert evaluate([goal], result) == [1]
    assert cost(question.formats, result) <= cost(question.formats, start)
    assert set(result) == set(question.formats)
    assert shorten(goal, question.formats, result) == result


# --- what cannot be asked ----------------------------------------------------------------------


def test_models_that_do_not_fit() -> None:
    volta, f16 = unit(), unit("volta/mma.m8n8k4.f16.f16.f16.f16")
    with pytest.raises(TcsmtError, match="cannot compare x with y: c_format is f32 and f16"):
        difference("", ("x", volta), ("y", f16))
    with pytest.raises(TcsmtError, match="cannot compare x with y: k is 4 and 2"):
        difference("", ("x", volta), ("y", replace(volta, k=2, n_fma=2)))


def test_against_an_ieee_reference() -> None:
    """A unit and a reference of another kind, with formats of equal widths."""
    volta = unit()
    rtz = IeeeDotAdd(
        a_format="f16", b_format="f16", c_format="f32", d_format="f32", k=4,
        sum_format=FORMATS["f32"], rounding="RTZ", nan=volta.nan_word,
    )  # fmt: skip
    question = difference("", ("unit", volta), ("IEEE", rtz), Domain(subnormals=False), lanes=(1,))
    values = found(question).values
    assert evaluate([question.goal], values) == [1]


def test_domains_read_well() -> None:
    everything = Domain(finite=False, positive=True, subnormals=False, c_zero=True, exponents=(-1, 2))
    assert str(everything) == "all words, positive, no subnormals, c = 0, exponents -1 to 2"
    assert str(Domain()) == "finite"


def test_block_scales_are_inputs_of_a_question() -> None:
    """Finite excludes NaN scales; a short witness has scales of 1 where it can."""
    row = row_named("rtx-blackwell/mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3").model
    assert isinstance(row, FusedDotAdd)
    unit = replace(row, k=32, n_fma=32)
    question = difference(
        "F = 35 against 34", ("35", unit), ("34", replace(unit, fraction_bits=34)), lanes=(2,)
    )
    verdict = found(question)
    names = [name for name in verdict.values if name[0] == "s"]
    assert names == ["sa0", "sa1", "sb0", "sb1"]
    assert all(not unit.input_formats[name].is_nan(verdict.values[name] & 0x7F) for name in names)
    columns = {name: np.array([word], np.uint64) for name, word in verdict.values.items()}
    factors = [np.stack([columns[f"{side}{i}"] for i in range(32)], axis=-1) for side in "ab"]
    scales = [np.stack([columns[f"s{side}{i}"] for i in range(2)], axis=-1) for side in "ab"]
    one, two = (int(run_words(s.model, *factors, columns["c"], *scales)[0]) for s in question.sides)
    assert one != two
    nearest = replace(unit, rounding="RNE")  # type: ignore[arg-type]
    values = found(difference("rounding", ("RTZ", unit), ("RNE", nearest), lanes=(2,))).values
    for group in range(2):
        lanes = range(16 * group, 16 * (group + 1))
        if not any(values[f"{side}{lane}"] for side in "ab" for lane in lanes):
            for name in (f"sa{group}", f"sb{group}"):
                assert unit.input_formats[name].value(values[name] & 0x7F) == 1


def test_a_scale_that_cannot_be_1_is_shortened_too() -> None:
    """The nearest power of two stands for 1."""
    scale = Format(
        name="small", exponent_bits=2, fraction_bits=0, bias=9, specials=Specials.NONE, signed=False
    )
    scaled = replace(unit(), scale_format=scale, scale_block=4)
    question = difference("scales", ("F = 23", scaled), ("F = 3", replace(scaled, fraction_bits=3)))
    verdict = found(question)
    assert (verdict.values["sa0"], verdict.values["sb0"]) == (3, 3)  # 2^-6


def test_scales_must_fit() -> None:
    plain = unit()
    scaled = replace(plain, scale_format="ue8m0", scale_block=plain.k)
    with pytest.raises(TcsmtError, match="block scales are 1 of ue8m0 and none"):
        difference("scales", ("with", scaled), ("without", plain))
