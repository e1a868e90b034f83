"""The benchmark set: each status is right, and the text is what SMT-LIB asks of a submission."""

from __future__ import annotations

import random
import re
from functools import cache

import pytest

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import variables
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solvers.run import solve
from tcsmt.surveys.papers.hard_queries import HardQuery, hard_queries
from tests.support.results import result
from tests.support.sampling import one_in

NAMES = (
    *(f"order/n{count}" for count in (4, 8, 16)),
    *(f"maximum/of{count}" for count in (5, 9, 17)),
    *(f"accuracy/ootomo-halfhalf-markidis-k{k}" for k in (1, 2, 4)),
)


@cache
def queries() -> dict[str, HardQuery]:
    """Not made while tests are collected: that takes a second of every process."""
    return {f"{query.family}/{query.name}": query for query in hard_queries()}


def test_every_query_is_tested() -> None:
    assert tuple(queries()) == NAMES


@pytest.mark.parametrize("name", one_in(3, NAMES))
def test_text_is_a_submission(name: str) -> None:
    query = queries()[name]
    lines = query.text.splitlines()
    assert lines[:2] == ["(set-info :smt-lib-version 2.6)", "(set-logic QF_BV)"]
    assert re.findall(r"^\(set-info :(\S+)", query.text, re.MULTILINE) == [
        "smt-lib-version", "source", "license", "category", "status",
    ]  # fmt: skip
    assert lines[-2:] == ["(check-sat)", "(exit)"]
    assert "get-value" not in query.text
    assert "set-option" not in query.text


@pytest.mark.long
def test_a_sum_is_written_out_in_two_directions() -> None:
    """Both are the unit's result on random words, and neither is the same node as the other."""
    draw = random.Random(1)
    unit = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model
    goal = queries()["order/n4"].goal
    one, two = goal.args[0].args  # not (one = two)
    assert one is not two
    for _ in range(300):
        words = {str(v.data): draw.getrandbits(v.width) for v in variables([goal])}
        assert evaluate([one, two], words) == evaluate([unit.trace.output] * 2, words)


@pytest.mark.parametrize(
    ("name", "solver"),
    [
        ("maximum/of5", "bitwuzla"),
        ("maximum/of5", "z3"),
        *(
            pytest.param(name, solver, marks=pytest.mark.long)
            for name in ("maximum/of9", "maximum/of17", "accuracy/ootomo-halfhalf-markidis-k1")
            for solver in ("bitwuzla", "z3")
        ),
        pytest.param("order/n4", "bitwuzla", marks=pytest.mark.long),
    ],
)
def test_those_that_solvers_can_do_have_their_answers(name: str, solver: str) -> None:
    assert solve(queries()[name].text, SolvingOptions(solver, timeout=300)).answer == queries()[name].status


@pytest.mark.parametrize("k", [1, 2, 4])
def test_an_input_is_known(k: int) -> None:
    """The recorded witness of the same comparison is a solution."""
    records = result("accuracy/findings")
    unit = "volta/mma.m8n8k4.f32.f16.f16.f32@valpey"
    record = records[f"ootomo-halfhalf worse than markidis: {unit}, K = {k}, exponents -15 to 14"]
    goal = queries()[f"accuracy/ootomo-halfhalf-markidis-k{k}"].goal
    words = {name: int(value["word"], 16) for name, value in record["inputs"].items()}
    assert evaluate([goal], dict.fromkeys((str(v.data) for v in variables([goal])), 0) | words) == [1]
