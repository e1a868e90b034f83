"""Terms as BTOR2, read by Bitwuzla."""

from __future__ import annotations

import random

import pytest

from tcsmt.language.terms import all_of, expand, operands_first
from tcsmt.language.write.btor2 import Btor2
from tests.support.interpretations import MANY, Case, on_many_random_cases, on_random_cases, on_shapes
from tests.support.scripts import ask_bitwuzla_btor2


def check_btor2(case: Case) -> None:
    """As above, in the other language that the solver reads."""
    rows = list(case.rows())
    (row,) = random.Random(2).sample(range(len(rows)), 1)
    fixed = all_of(x.eq(rows[row][str(x.data)]) for x in case.variables)
    right = all_of(t.eq(column[row]) for t, column in zip(case.terms, case.values, strict=True))
    (goal,) = expand([fixed & ~right])
    file = Btor2()
    for x in case.variables:
        file.input([x], str(x.data))
    file.nodes(operands_first([goal]), {})
    file.line("constraint", file.number[goal])
    assert ask_bitwuzla_btor2("\n".join([*file.lines, ""])) == "unsat", (case.name, rows[row])


def test_shapes() -> None:
    on_shapes(check_btor2)


def test_random_computations() -> None:
    on_random_cases(check_btor2, 12)


@pytest.mark.long
@pytest.mark.parametrize("steps", MANY)
def test_many_random_computations(steps: int) -> None:
    on_many_random_cases(check_btor2, steps)
