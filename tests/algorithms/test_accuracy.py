"""Algorithms: against an independent reference in fractions, comparisons, bounds, the command line."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.algorithms.bound import bound, extreme
from tcsmt.algorithms.compare import AlgorithmPair, compare, judge
from tcsmt.algorithms.error import ErrorGrid, exact_dot, nearer, ulp
from tcsmt.algorithms.findings import TYPE1, flawed, table_five, write
from tcsmt.algorithms.proof import free_products, split_goal
from tcsmt.algorithms.result_flaws import FLAWS, find, successor
from tcsmt.algorithms.search import errors, random_rows
from tcsmt.algorithms.walk import walk
from tcsmt.arithmetic.formats import FORMATS
from tcsmt.cli import main
from tcsmt.interpret.exact import evaluate
from tcsmt.models import Kind
from tcsmt.models.stages import OperandPlace
from tcsmt.prove.solvers.run import Settings
from tcsmt.prove.solving import Solving
from tcsmt.recipes import RECIPES, Algorithm, algorithm_named
from tcsmt.recipes.arrays import multiply, simulate
from tcsmt.statements.domain import Domain
from tcsmt.statements.trust import Trust
from tcsmt.statements.verdict import Distinguished, Equivalent
from tcsmt.support.errors import TcsmtError
from tcsmt.survey import processes
from tcsmt.survey.tasks import Workers
from tcsmt.survey.work import Task
from tcsmt.terms import var
from tests.oracles import rationals
from tests.oracles.rationals import rounded

F32 = FORMATS["f32"]


def value(word: int) -> Fraction:
    return F32.value(word)


def words_of(x: Fraction, algorithm: Algorithm) -> list[Fraction]:
    """The split, from its definition."""
    split, fmt = algorithm.split, algorithm.split.format
    found, rest = [], x
    for number in range(split.words):
        mode = (split.residual if number else split.rounding).name
        word = rounded(rest, fmt.precision, fmt.e_min, mode)
        found.append(word)
        rest = (rest - word) * 2**split.scale
    return found


MODERATE = st.builds(
    lambda sign, exponent, fraction: sign << 31 | (exponent + 127) << 23 | fraction,
    st.integers(0, 1), st.integers(-15, 14), st.integers(0, (1 << 23) - 1),
)  # fmt: skip


@given(word=MODERATE)
@settings(max_examples=25, deadline=None)
@pytest.mark.parametrize(
    "name", ["markidis", "ootomo-halfhalf", "cutlass-3xtf32", "fasi-bf16x3", "markidis,split=RTZ"]
)
def test_split_follows_its_definition(name: str, word: int) -> None:
    algorithm, _ = algorithm_named(name, "hopper", 1)
    trace = algorithm.trace
    stages = [s.term for s in trace.of(Kind.WORD) if s.block == OperandPlace("a", 0)]
    found = evaluate(stages, {"a0": word, "b0": 0, "c": 0})
    fmt = algorithm.split.format
    assert [fmt.value(w) for w in found] == words_of(value(word), algorithm)


def reference(algorithm: Algorithm, values: dict[str, int], fraction_bits: int, block: int) -> Fraction:
    """Ootomo-Yokota or Markidis on a truncated fused unit, from the papers, in fractions."""
    k = algorithm.k
    a, b = ([words_of(value(values[f"{s}{i}"]), algorithm) for i in range(k)] for s in "ab")

    def unit(i: int, j: int, c: Fraction) -> Fraction:
        for start in range(0, algorithm.unit.k, block):
            terms = [c]
            exponents = [rationals.binary_exponent(abs(c)) if c else -133]
            for lane in range(start, min(start + block, k)):
                x, y = a[lane][i], b[lane][j]
                if x and y:
                    e_min = algorithm.split.format.e_min
                    exponents.append(sum(max(rationals.binary_exponent(abs(v)), e_min) for v in (x, y)))
                    terms.append(x * y)
            grain = Fraction(2) ** (max(exponents) - fraction_bits)
            total = sum((int(t / grain) * grain for t in terms), Fraction(0))
            c = rounded(total, 24, -126, "RTZ")
        return c

    nearest = lambda x: rounded(x, 24, -126, "RNE")  # noqa: E731
    c = value(values["c"])
    if algorithm.split.scale == 0:
        for i, j in ((0, 0), (1, 0), (0, 1), (1, 1)):
            c = unit(i, j, c)
        return c
    corrections = unit(0, 1, unit(1, 0, Fraction(0)))
    return nearest(nearest(unit(0, 0, Fraction(0)) + corrections / 2**11) + c)


@pytest.mark.parametrize(("arch", "bits", "block"), [("volta", 23, 4), ("ampere", 24, 8), ("hopper", 25, 16)])
@pytest.mark.parametrize("name", ["markidis", "ootomo-halfhalf"])
def test_algorithms_follow_the_papers(name: str, arch: str, bits: int, block: int) -> None:
    algorithm, _ = algorithm_named(name, arch, 3)
    rows = random_rows(Domain(exponents=(-13, 14)), F32, 3, 200, np.random.default_rng(7))
    results = rows.run(algorithm)
    for row in range(len(rows)):
        values = rows.values(row)
        assert Fraction(float(results[row])) == reference(algorithm, values, bits, block), values


@pytest.mark.parametrize("name", list(RECIPES))
def test_terms_and_arrays_agree(name: str) -> None:
    for arch in ("hopper", "cdna3"):
        try:
            algorithm, _ = algorithm_named(name, arch, 2)
        except TcsmtError:
            continue
        rows = random_rows(Domain(exponents=(-20, 20)), F32, 2, 30, np.random.default_rng(3))
        results = rows.words(algorithm)
        for row in range(len(rows)):
            assert evaluate([algorithm.trace.output], rows.values(row)) == [int(results[row])]


def test_matrices_and_rows_agree_beyond_the_units_k() -> None:
    rng = np.random.default_rng(5)
    for name in (
        "markidis",
        "ootomo-halfhalf",
        "fasi-f16x3",
        "markidis,interleaved=no",
        "ootomo-halfhalf,c=first",
    ):
        algorithm, _ = algorithm_named(name, "volta")
        a, b = (
            rng.standard_normal((3, 37)).astype(np.float32),
            rng.standard_normal((37, 4)).astype(np.float32),
        )
        c = rng.standard_normal((3, 4)).astype(np.float32)
        d = multiply(algorithm, a, b, c)
        rows = simulate(algorithm, np.repeat(a, 4, axis=0), np.tile(b.T, (3, 1)), c.reshape(-1))
        assert (d.reshape(-1) == rows).all()
        assert np.abs(d - (a.astype(float) @ b + c)).max() < 1e-3


def test_promotion_adds_outside() -> None:
    promoted, _ = algorithm_named("fp8-promoted,every=4", "hopper/wgmma.m64nNk32.f32.e4m3.e4m3", 8)
    plain, _ = algorithm_named("fp8", "hopper/wgmma.m64nNk32.f32.e4m3.e4m3", 4)
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-8, 9, (50, 8)).astype(np.float32) / 8 for _ in range(2))
    halves = [simulate(plain, a[:, s], b[:, s]) for s in (slice(4), slice(4, 8))]
    assert (simulate(promoted, a, b, np.float32(3)) == (np.float32(3) + halves[0]) + halves[1]).all()


@given(words=st.lists(MODERATE, min_size=5, max_size=5), results=st.tuples(MODERATE, MODERATE))
@settings(max_examples=80, deadline=None)
def test_terms_compare_errors_exactly(words: list[int], results: tuple[int, int]) -> None:
    algorithm, _ = algorithm_named("fp32-fma", "volta", 2)
    domain = TYPE1
    grid = ErrorGrid.of(domain, 2, F32)
    values = dict(zip(("a0", "a1", "b0", "b1", "c"), words, strict=True))
    exact = exact_dot(values)
    terms = [grid.dot(domain, algorithm.trace), grid.dot(domain, algorithm.trace, absolute=True)]
    scale = Fraction(2) ** grid.low
    found = evaluate(terms, values)
    signed = found[0] - (found[0] >> (grid.width - 1) << grid.width)
    assert (signed * scale, found[1] * scale) == (exact, exact_dot(values, absolute=True))
    from tcsmt.terms import const

    one, two = (const(r, 32) for r in results)
    closer = nearer(grid.number(one), grid.number(two), const(found[0], grid.width))
    first, second = (abs(value(r) - exact) for r in results)
    assert evaluate([grid.holds(one), closer], {}) == [1, int(first < second)]


def test_ranking_by_binary64_follows_fractions() -> None:
    algorithm, _ = algorithm_named("markidis", "volta", 4)
    rows = random_rows(TYPE1, F32, 4, 300, np.random.default_rng(9))
    (wrong,), size, _ = errors(rows, rows.run(algorithm))
    for row in range(len(rows)):
        found = extreme(algorithm, rows.values(row))
        assert found.error is not None
        assert float(found.error) == pytest.approx(wrong[row], rel=1e-9, abs=2.0**-80)
        assert float(abs(found.exact)) == pytest.approx(size[row], rel=1e-12)


def pair(one: str, two: str, arch: str, k: int, **domain: object) -> AlgorithmPair:
    algorithms = algorithm_named(one, arch, k)[0], algorithm_named(two, arch, k)[0]
    return AlgorithmPair((one, two), algorithms, replace(TYPE1, **domain))  # type: ignore[arg-type]


@pytest.mark.parametrize("arch", ["volta", "turing", "ampere", "hopper", "blackwell", "cdna3"])
@pytest.mark.parametrize("c_zero", [True, False])
@pytest.mark.parametrize("names", [("ootomo-halfhalf", "markidis"), ("markidis", "ootomo-halfhalf")])
def test_each_is_worse_somewhere(arch: str, c_zero: bool, names: tuple[str, str]) -> None:
    asked = pair(*names, arch, 1, c_zero=c_zero)
    found = compare(asked, Solving(), search=10)
    assert isinstance(found.verdict, Distinguished)
    assert found.judgement is not None
    values = dict(found.verdict.values)
    assert asked.domain.contains(asked.algorithms[0].input_formats, values)
    one, two = (abs(value(w) - exact_dot(values)) for w in found.judgement.words)
    assert one > two


def test_left_out_product_costs_two_ulps() -> None:
    """a = b = 1 + 2^-11: the product of the residuals, 2^-22, is what Ootomo and Yokota leave out."""
    word = F32.word(1 + Fraction(1, 2**11))
    asked = pair("ootomo-halfhalf", "ootomo-halfhalf-4", "volta", 1)
    (found,) = judge(asked, [{"a0": word, "b0": word, "c": 0}])
    assert found.errors == (Fraction(1, 2**22), 0)
    assert found.excess == 2


def test_solver_finds_a_witness_without_the_simulator(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = pair("ootomo-halfhalf", "markidis", "volta", 1, c_zero=True, exponents=(0, 0))
    from tcsmt.algorithms import compare as module

    monkeypatch.setattr(module, "climb", lambda *a, **k: (None, np.array([-np.inf])))
    found = compare(asked, Solving(Settings(timeout=300)), search=1)
    assert isinstance(found.verdict, Distinguished)
    assert found.verdict.solver == "bitwuzla"
    assert found.judgement is not None
    assert found.judgement.worse


def test_never_worse_is_proved_where_nothing_is_left_over() -> None:
    """Inputs exact in f16, c = 0: both algorithms give what the unit gives."""
    asked = pair("ootomo-halfhalf", "markidis", "volta", 4, exponents=(-14, 14), bits=(11, 11), c_zero=True)
    found = compare(asked, Solving(Settings(timeout=120)), search=0.5)
    assert isinstance(found.verdict, Equivalent), found.verdict
    assert found.verdict.scripts
    rows = random_rows(asked.domain, F32, 4, 2000, np.random.default_rng(11))
    one, two = (rows.run(a) for a in asked.algorithms)
    assert (one == two).all()


def test_a_proof_is_refused_where_subnormal_words_lose_bits() -> None:
    """At 2^-15 a number of 11 bits is no f16 number: the split's lemma has a counterexample."""
    split = algorithm_named("markidis", "volta", 1)[0].split
    goal = split_goal(split, Domain(exponents=(-15, 14), bits=(11, 11)), 11, 1, None)
    assert Solving().ask(goal).answer == "sat"
    goal = split_goal(split, Domain(exponents=(-14, 14), bits=(11, 11)), 11, 1, None)
    assert Solving().ask(goal).answer == "unsat"


def test_bound_of_the_rounding_inside() -> None:
    algorithm, _ = algorithm_named("single-f16", "volta", 1)
    domain = Domain(exponents=(0, 0), bits=(11, 11), positive=True)
    found = bound(algorithm, domain, Solving(Settings(timeout=20)), seconds=2, alternate=False)
    assert found.relative is not None
    assert found.proved is not None
    assert found.relative.relative is not None
    assert found.relative.relative <= found.proved <= 8
    assert found.relative.error == abs(value(found.relative.result) - exact_dot(found.relative.values))


def test_table_five_holds_with_one_exponent_corrected() -> None:
    rows = {(r["inputs"], r["unit"]): r for r in table_five()["rows"]}
    volta = "volta/mma.m8n8k4.f32.f16.f16.f32@valpey"
    for unit in (volta, "volta"):
        assert rows["as printed", unit]["ootomo_is_worse"] is False
        for label in ("b1·2^7", "a1·2^6"):
            assert rows[label, unit]["ootomo_is_worse"] is True
            assert rows[label, unit]["ootomo-halfhalf"] == "1"
            assert rows[label, unit]["markidis"] == "1.00000011920928955078125"


def test_walk_accounts_for_the_whole_error() -> None:
    """What the steps after the split lose, and what no step adds, is the error."""
    for name in ("ootomo-halfhalf-4", "markidis"):
        algorithm, _ = algorithm_named(name, "ampere", 2)
        rows = random_rows(Domain(exponents=(0, 14), bits=(22, 22)), F32, 2, 40, np.random.default_rng(2))
        results = rows.run(algorithm)
        for row in range(len(rows)):
            values = rows.values(row)
            lost = Fraction(0)
            shifts = {
                f"A{i}·B{j}, lanes {p.start} to {p.stop - 1}": shift
                for shift, steps in algorithm.chains(2) for i, j, p in steps
            }  # fmt: skip
            for move in walk(algorithm, values):
                if move.kind != "split":
                    assert move.lost is not None
                    lost += move.lost / 2 ** shifts.get(move.name, 0)
            assert exact_dot(values) - Fraction(float(results[row])) == lost


def test_ulp() -> None:
    assert ulp(Fraction(1)) == Fraction(1, 2**23)
    assert ulp(Fraction(2) - Fraction(1, 2**60)) == Fraction(1, 2**23)
    assert ulp(Fraction(0)) == ulp(Fraction(1, 2**140)) == Fraction(1, 2**149)


CALLS: list[str] = []


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What tasks have written into ``CALLS``, as they run here."""
    monkeypatch.setattr(processes, "answers_of", lambda jobs, tasks: ((task, task.run()) for task in tasks))
    CALLS.clear()
    return CALLS


def worse(name: str) -> dict[str, Any]:
    CALLS.append(name)
    return {"verdict": "worse"}


def never_worse(name: str) -> dict[str, Any]:
    """Confirmed by another solver from the second time on."""
    CALLS.append(name)
    return {**PROOF, "confirmed": "z3" * (len(CALLS) > 1)}


PROOF = {
    "verdict": "equivalent", "answer": "never worse", "solver": "bitwuzla", "version": "9", "scripts": ["00"]
}  # fmt: skip


def test_findings_go_on_where_they_stopped(tmp_path: Path, in_this_process: list[str]) -> None:
    path = tmp_path / "found.json"
    tasks = [Task("one", "graphs", worse, ("one",), "code")]
    for confirm in (False, False, True):
        write(path, tasks, Workers(), Trust(confirm))
    assert in_this_process == ["one"]
    assert json.loads(path.read_text()) == {"one": {"verdict": "worse", "asked": "graphs", "code": "code"}}
    # what was found is about graphs, whatever its key; other sources find the same witness
    write(path, [replace(tasks[0], code="other")], Workers(), Trust())
    assert in_this_process == ["one"]
    write(path, [replace(tasks[0], asked="other graphs")], Workers(), Trust())
    assert in_this_process == ["one", "one"]
    # and what is no longer on the list goes
    write(path, [replace(tasks[0], key="two", arguments=("two",))], Workers(), Trust())
    assert json.loads(path.read_text()).keys() == {"two"}


def test_proofs_of_an_earlier_run_are_asked_for_again(tmp_path: Path, in_this_process: list[str]) -> None:
    path, calls = tmp_path / "found.json", in_this_process
    tasks = [Task("one", "graphs", never_worse, ("one",), "code")]
    for confirm, kept, expected in (
        (False, None, 1), (False, None, 1), (True, True, 2), (True, True, 2), (True, None, 3),
        (True, False, 4), (False, None, 4), (False, False, 5),
    ):  # fmt: skip
        before = len(calls)
        found, _ = write(path, tasks, Workers(), Trust(confirm, kept))
        assert len(calls) == expected
        assert ("earlier" in found["one"]) == (len(calls) == before)
    proof = {**PROOF, "confirmed": "z3", "asked": "graphs", "code": "code"}
    assert json.loads(path.read_text()) == {"one": proof}
    # another engine's proof counts for nothing, whatever the user says of kept ones
    write(path, [replace(tasks[0], code="other")], Workers(), Trust(True, True))
    assert len(calls) == 6


def test_successor_is_the_next_word_of_the_domain() -> None:
    """All words of a small domain, in order: each one's successor is the next larger value."""
    domain, bits = Domain(exponents=(-1, 1)), 3
    magnitudes = [Fraction(m, 4) * Fraction(2) ** e for e in (-1, 0, 1) for m in (4, 5, 6, 7)]
    values = [*(-m for m in reversed(magnitudes)), Fraction(0), *magnitudes]
    after = successor(var("x", 32), domain, F32, bits)
    for x, y in pairwise(values):
        assert value(evaluate([after], {"x": F32.word(x)})[0]) == y
    assert value(evaluate([after], {"x": 1 << 31})[0]) == magnitudes[0]
    inside = evaluate([domain.within(after, F32, bits)], {"x": F32.word(values[-1])})
    assert inside == [0]


FLAWED = [("markidis", "hopper", 25, 16), ("ootomo-halfhalf", "volta", 23, 4)]


@pytest.mark.parametrize(("name", "arch", "bits", "block"), FLAWED)
@pytest.mark.parametrize("question", list(FLAWS))
def test_flaws_hold_in_the_papers_fractions(
    question: str, name: str, arch: str, bits: int, block: int
) -> None:
    """Both witnesses, replayed by the reference above: no term and no compiled unit."""
    algorithm, _ = algorithm_named(name, arch, 2)
    found = find(FLAWS[question](name, algorithm, TYPE1), Solving(Settings("z3", 1)), search=1.0)
    assert isinstance(found.verdict, Distinguished)
    for case in (found.short, found.worst):
        assert case is not None
        inputs = dict(case.values)
        exact, result = sum_of(inputs), reference(algorithm, inputs, bits, block)
        assert value(case.result) == result
        if question == "sign":
            assert exact * result <= 0
            assert exact
            continue
        changed = {**inputs, case.moved: case.word}
        grown, after = sum_of(changed), reference(algorithm, changed, bits, block)
        assert value(case.after) == after
        assert (grown - exact) * (after - result) < 0


def sum_of(values: dict[str, int]) -> Fraction:
    products = [value(values[f"a{i}"]) * value(values[f"b{i}"]) for i in range(2)]
    return value(values["c"]) + sum(products, Fraction(0))


def test_one_product_never_has_the_wrong_sign() -> None:
    for name in ("single-f16", "fp32-fma"):
        algorithm, _ = algorithm_named(name, "hopper", 1)
        found = find(FLAWS["sign"](name, algorithm, replace(TYPE1, c_zero=True)), Solving(), search=0.2)
        assert isinstance(found.verdict, Equivalent), found
        assert found.short is None


def test_one_word_and_one_product_are_monotone_and_four_on_volta_are_not() -> None:
    one, _ = algorithm_named("single-f16", "hopper", 1)
    proved = find(FLAWS["monotone"]("single-f16", one, replace(TYPE1, c_zero=True)), Solving(), search=0.2)
    assert isinstance(proved.verdict, Equivalent), proved
    four, _ = algorithm_named("single-f16", "volta", 4)
    found = find(
        FLAWS["monotone"]("single-f16", four, TYPE1),
        Solving(Settings("z3", 1)),
        search=0.5,
    )
    assert isinstance(found.verdict, Distinguished)


def test_sharp_facts_hold_of_every_product() -> None:
    """All x, y, z of 3, 2 and 3 bits, and the true products in place of the free ones."""
    x, y, z = var("x", 3), var("y", 2), var("z", 3)
    one, two = (word.zext(5) * y.zext(5) for word in (x, z))
    goal = free_products(one.ult(two) | ~one.ult(two) & one.ne(31) | two.eq(31), sharp=True)
    for i, j, k in product(range(8), range(4), range(8)):
        found = {i * j, k * j}
        tries = [{"product 0": p, "product 1": q} for p, q in product(found, found)]
        assert any(evaluate([goal], {"x": i, "y": j, "z": k, **t}) == [1] for t in tries)
    assert evaluate([goal], {"x": 1, "y": 3, "z": 1, "product 0": 5, "product 1": 5}) == [0]


def test_flaws_are_recorded() -> None:
    entry = flawed("monotone", "markidis", "hopper", 1, TYPE1, Solving(), 0.5)
    assert entry["answer"] == "not monotone"
    assert entry["short"]["moved"] in entry["short"]["inputs"]


BAD_FLAWS = [
    (["sing", "markidis", "--arch", "volta"], "did you mean sign"),
    (["sign", "markids", "--arch", "volta"], "did you mean markidis"),
    (["sign", "markidis", "--arch", "volta", "--k", "65"], "allowed is 1 to 64"),
    (["monotone", "ootomo-tf32tf32", "--arch", "volta"], "it needs a unit from tf32 to f32"),
    (["monotone", "markidis", "--arch", "volta", "--exponents", "5:3"], "no number has such an exponent"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD_FLAWS)
def test_bad_flaws_are_one_line(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(main, ["accuracy", "find", *arguments])
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


def test_find_on_the_command_line() -> None:
    arguments = ["accuracy", "find", "sign", "markidis", "--arch", "hopper", "--k", "2", "--search", "0.5"]
    shown = CliRunner().invoke(main, arguments)
    assert shown.exit_code == 1
    assert "WRONG SIGN" in shown.output
    data = json.loads(CliRunner().invoke(main, [*arguments, "--json"]).output)
    assert (data["verdict"], data["answer"]) == ("distinguished", "wrong sign")
    assert data["worst"]["size"] >= data["short"]["size"] >= 1


BAD = [
    (["ootomo-tf32tf32", "markidis", "--arch", "volta"], "it needs a unit from tf32 to f32"),
    (["ootomo-hh", "markidis", "--arch", "volta"], "did you mean ootomo-halfhalf"),
    (["markidis,spit=RTZ", "markidis", "--arch", "volta"], "did you mean split"),
    (["markidis", "markidis", "--arch", "volt"], "did you mean volta"),
    (["markidis", "markidis", "--arch", "volta", "--k", "0"], "allowed is 1 to 64"),
    (["markidis", "markidis", "--arch", "volta", "--exponents", "5:3"], "no number has such an exponent"),
    (["markidis", "markidis", "--arch", "volta", "--exponents", "100:200"], "allowed is -126 to 127"),
    (["markidis", "markidis", "--arch", "volta", "--exponents", "typ1"], "did you mean type1"),
    (["markidis", "markidis", "--arch", "volta", "--bits", "0", "3"], "allowed is 1 to 24"),
    (["markidis", "markidis", "--arch", "volta", "--search", "0"], "over 0 and up to"),
    (["markidis", "markidis", "--arch", "volta", "--output", "x.png"], "unknown suffix of a picture '.png'"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_bad_input_is_one_line(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(main, ["accuracy", "compare", *arguments])
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


def test_bound_on_the_command_line() -> None:
    arguments = [
        "accuracy",
        "bound",
        "single-f16",
        "--arch",
        "volta",
        "--exponents",
        "0:0",
        "--bits",
        "11",
        "11",
    ]
    options = ["--positive", "--c-zero", "--search", "1", "--timeout", "20"]
    shown = CliRunner().invoke(main, [*arguments, *options])
    assert shown.exit_code == 0, shown.output
    assert "none at all" in shown.output  # a product of 11-bit numbers has 22 bits
    two = ["accuracy", "bound", "ootomo-halfhalf", "--arch", "hopper", "--k", "100", "--exponents", "0:0"]
    data = json.loads(CliRunner().invoke(main, [*two, "--search", "1", "--json"]).output)
    assert data["relative"]["relative"] < data["proved"] < 40
    assert abs(sum(data["shares"].values()) - data["proved"]) < 1e-9
    wide = [
        "accuracy",
        "bound",
        "single-bf16",
        "--arch",
        "ampere",
        "--exponents",
        "62:64",
        "--bits",
        "8",
        "8",
    ]
    open_ended = CliRunner().invoke(main, [*wide, "--k", "2", "--search", "1", "--timeout", "1"])
    assert open_ended.exit_code == 3
    assert "found, not proved" in open_ended.output
    assert "a fused sum may overflow" in open_ended.output


def test_compare_on_the_command_line(tmp_path: Path) -> None:
    run = CliRunner().invoke
    arguments = ["accuracy", "compare", "ootomo-halfhalf", "markidis", "--arch", "volta", "--k", "1"]
    shown = run(main, [*arguments, "--explain"])
    assert shown.exit_code == 1
    assert "WORSE" in shown.output
    assert "they part here" in shown.output
    picture = tmp_path / "witness.svg"
    assert run(main, [*arguments, "--output", str(picture)]).exit_code == 1
    assert "they part at 'A1·B1, lanes 0 to 0'" in picture.read_text()
    data = json.loads(run(main, [*arguments, "--json"]).output)
    assert (data["verdict"], data["answer"]) == ("distinguished", "worse")
    assert [r["algorithm"] for r in data["results"]] == ["ootomo-halfhalf", "markidis"]
    same = run(
        main,
        [
            "accuracy", "compare", "markidis", "markidis", "--arch", "volta", "--k", "1", "--search", "0.2",
            "--output", str(tmp_path / "none.svg"),
        ],
    )  # fmt: skip
    assert same.exit_code == 0, same.output
    assert "NEVER WORSE" in same.output
    assert "no witness" in same.output
