"""The published encoding, made again for the benchmark, computes what the evaluator computes."""

from __future__ import annotations

import accuracy
import numpy as np
import pytest
from published import Published, single

from tcsmt.analysis.search.compare import AlgorithmPair
from tcsmt.analysis.search.search import random_rows
from tcsmt.language.run.exact import evaluate
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solvers.run import solve

LIMIT = 60.0


def pair_of(k: int, domain: int) -> AlgorithmPair:
    return next(p for p in accuracy.pairs([k]) if p.domain == accuracy.DOMAINS[domain])


def fixed(pair: AlgorithmPair, values: dict[str, int]) -> str:
    """The encoding's results as words, where the inputs have these words."""
    published = Published(pair)
    lines = [f"(assert (= {name} #x{word:08x}))" for name, word in values.items()]
    for number, result in enumerate(published.results):
        lines += [
            f"(declare-const r{number} (_ BitVec 32))",
            f"(assert (= {single(f'r{number}')} {result}))",
        ]
    return published.asserting(lines)


@pytest.mark.parametrize(
    ("k", "domain"),
    [
        (1, 0),
        *(pytest.param(*some, marks=pytest.mark.long) for some in ((2, 1), (1, 1), (2, 0), (4, 0), (4, 1))),
    ],
)
def test_results_are_the_evaluators(k: int, domain: int) -> None:
    pair = pair_of(k, domain)
    rows = random_rows(pair.domain, pair.wide, k, 4, np.random.default_rng(k + domain))
    for row in range(len(rows)):
        values = rows.values(row)
        answer = solve(fixed(pair, values), SolvingOptions("bitwuzla", LIMIT))
        assert answer.answer == "sat"
        expected = evaluate([a.trace.output for a in pair.algorithms], values)
        assert [answer.values[f"r{number}"] for number in range(2)] == expected


def test_inputs_outside_the_domain_are_refused() -> None:
    pair = pair_of(1, 0)
    inside, outside = (
        {"a0": 0x3F800000, "b0": 0x3F800000, "c": 0},
        {"a0": 0x3F800000, "b0": 0x47000000, "c": 0},
    )
    answers = [
        solve(fixed(pair, values), SolvingOptions("bitwuzla", LIMIT)).answer for values in (inside, outside)
    ]
    assert answers == ["sat", "unsat"]


@pytest.mark.long
def test_its_witness_replays() -> None:
    pair = pair_of(1, 0)
    published = Published(pair)
    given = ["(assert (= b0 #x3cfffef7))", "(assert (= c #xb80ffff0))"]
    text = published.asserting([*given, published.goal()])
    found = accuracy.asked(pair, text, "bitwuzla", LIMIT)
    assert found["answer"] == "sat"
    assert found["worse"]
