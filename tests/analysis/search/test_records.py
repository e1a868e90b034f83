"""What was found about algorithms as plain data: every number in it is that of the words beside it."""

import time
from fractions import Fraction

import pytest

from tcsmt.analysis.error import exact_dot
from tcsmt.analysis.search.bound import Bound, extreme
from tcsmt.analysis.search.compare import AlgorithmPair, replayed
from tcsmt.analysis.search.records import bound_json, comparison_json, flaw_json
from tcsmt.analysis.search.result_flaws import Monotone
from tcsmt.analysis.search.result_flaws import replayed as replayed_flaw
from tcsmt.analysis.sweeps.findings import TYPE1
from tcsmt.programs.recipes.named import algorithm_named
from tcsmt.programs.steps.split import F32
from tcsmt.prove.engine.solvers.answer import Answer
from tcsmt.prove.statements.verdict import Equivalent

NAMES = ("ootomo-halfhalf", "markidis")
#: The smallest witness of ``tcsmt accuracy compare`` on Volta, one product.
WORSE = {"a0": 0x3F933000, "b0": 0x3F800800, "c": 0}
SIMULATOR = Answer("sat", "simulator")


def words(inputs: dict[str, dict[str, str]]) -> dict[str, int]:
    return {name: int(input_["word"], 16) for name, input_ in inputs.items()}


def test_records_of_comparisons_hold_both_errors() -> None:
    one, two = (algorithm_named(name, "volta", 1)[0] for name in NAMES)
    pair = AlgorithmPair(NAMES, (one, two), TYPE1)
    data = comparison_json(replayed(pair, dict(WORSE), SIMULATOR, time.monotonic()))
    assert (data["verdict"], data["answer"], data["algorithms"]) == ("distinguished", "worse", [*NAMES])
    exact = exact_dot(words(data["inputs"]))
    errors = [abs(F32.value(int(result["word"], 16)) - exact) for result in data["results"]]
    assert [result["algorithm"] for result in data["results"]] == [*NAMES]
    assert errors[0] > errors[1]
    assert data["excess"]["ulp"] == float((errors[0] - errors[1]) * 2**23)
    assert data["excess"]["2^-24 Σ|ab|"] == pytest.approx(float((errors[0] - errors[1]) * 2**24 / exact))


def test_records_of_flaws_hold_both_results() -> None:
    flaw = Monotone("markidis", algorithm_named("markidis", "hopper", 1)[0], TYPE1)
    inputs = {"a0": 0x3F901000, "b0": 0x3F8FF002, "c": 0}
    data = flaw_json(replayed_flaw(flaw, inputs, SIMULATOR, time.monotonic()))
    assert (data["verdict"], data["answer"]) == ("distinguished", "not monotone")
    for case in (data["short"], data["worst"]):
        before = words(case["inputs"])
        after = before | {case["moved"]: int(case["to"]["word"], 16)}
        fall = F32.value(int(case["result"]["word"], 16)) - F32.value(int(case["result_after"]["word"], 16))
        assert exact_dot(after) > exact_dot(before)
        assert fall > 0
        assert case["size"] == pytest.approx(float(fall * 2**24 / exact_dot(before)))


def test_records_of_bounds_hold_error_and_proof() -> None:
    worst = extreme(algorithm_named("markidis", "volta", 1)[0], dict(WORSE))
    proof = Equivalent(stage="s", scripts=("00",), solver="z3", version="", seconds=1)
    found = Bound(worst, None, Fraction(5, 2), None, proof, {"the split": Fraction(5, 2)}, "", 1.0)
    data = bound_json(found)
    assert [*data["relative"]["inputs"]] == ["a0", "b0"]
    result = F32.value(int(data["relative"]["result"]["word"], 16))
    exact = exact_dot(WORSE)
    assert data["relative"]["relative"] == float(abs(result - exact) / exact * 2**24)
    assert (data["ulps"], data["proved"], data["proved_ulps"]) == (None, 2.5, None)
    assert data["proof"] == proof.as_json()
    infinite = extreme(
        algorithm_named("single-f16", "volta", 1)[0], dict.fromkeys(WORSE, F32.word(Fraction(2**100)))
    )
    data = bound_json(Bound(infinite, None, None, None, None, {}, "no bound", 1.0))
    assert data["relative"]["error"] == "infinite"
    assert data["relative"]["relative"] is None
    assert "proof" not in data
