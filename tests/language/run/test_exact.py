"""Terms on Python integers: every operation, the simplifications of constructors, constants folded."""

from __future__ import annotations

import pytest

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import const, substitute
from tests.support.computations import constructed
from tests.support.interpretations import (
    MANY,
    Case,
    by_node,
    on_many_random_cases,
    on_random_cases,
    on_shapes,
    unsimplified,
)  # fmt: skip


def check_integers(case: Case) -> None:
    """The meaning of every operation, and the constructors' simplifications, folding of constants too."""
    for make in (constructed, unsimplified):
        made = case.made(make)
        case.hold(by_node(evaluate(made, row) for row in case.rows()), make.__name__)
    for row, inputs in zip(range(2), case.rows(), strict=False):
        known = {x: const(inputs[str(x.data)], x.width) for x in case.variables}
        folded = [term.value for term in substitute(case.terms, known)]
        assert folded == [column[row] for column in case.values], case.name


def test_shapes() -> None:
    on_shapes(check_integers)


def test_random_computations() -> None:
    on_random_cases(check_integers, 60)


@pytest.mark.long
@pytest.mark.parametrize("steps", MANY)
def test_many_random_computations(steps: int) -> None:
    on_many_random_cases(check_integers, steps)
