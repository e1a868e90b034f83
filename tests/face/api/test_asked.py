"""What commands hand to calls is what users of Python give."""

import pytest

import tcsmt
from tcsmt.face.api.asked import OPERAND_RULES, SOLVERS, Domain, SolvingOptions


def test_they_are_the_public_names() -> None:
    assert (tcsmt.Domain, tcsmt.SolvingOptions) == (Domain, SolvingOptions)


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_is_taken(solver: str) -> None:
    assert tcsmt.SolvingOptions(solver).solver == solver


@pytest.mark.parametrize("rule", OPERAND_RULES)
def test_every_rule_for_operands_is_taken(rule: str) -> None:
    tf32 = tcsmt.unit("a100/m16n8k4.f32.tf32")
    assert float(tf32([1 + 2.0**-12, 0, 0, 0], [1.0] * 4, operands=rule)) in (1, 1 + 2.0**-10)
