"""Terms as SMT-LIB functions, read by Bitwuzla."""

from __future__ import annotations

import random

import pytest

from tcsmt.language.terms import all_of, expand, operands_first
from tcsmt.language.write.smtlib_functions import functions
from tests.support.interpretations import MANY, Case, on_many_random_cases, on_random_cases, on_shapes
from tests.support.scripts import ask_bitwuzla


def check(case: Case) -> None:
    """At the inputs of a row, the solver knows that there are no other values, whichever nodes are named."""
    rows = list(case.rows())
    (row,) = random.Random(1).sample(range(len(rows)), 1)
    fixed = all_of(x.eq(rows[row][str(x.data)]) for x in case.variables)
    right = all_of(t.eq(column[row]) for t, column in zip(case.terms, case.values, strict=True))
    (goal,) = expand([fixed & ~right])
    nodes = [node for node in operands_first([goal]) if node.args]
    for step in (1, 3, len(nodes) + 1):
        named = {node: f"n{number}" for number, node in enumerate(nodes) if not number % step}
        lines, result = functions(goal, named)
        text = "\n".join(["(set-logic QF_BV)", *lines, f"(assert {result})", "(check-sat)"])
        assert ask_bitwuzla(text) == "unsat", (case.name, rows[row], step)


def test_shapes() -> None:
    on_shapes(check)


def test_random_computations() -> None:
    on_random_cases(check, 12)


@pytest.mark.long
@pytest.mark.parametrize("steps", MANY)
def test_many_random_computations(steps: int) -> None:
    on_many_random_cases(check, steps)
