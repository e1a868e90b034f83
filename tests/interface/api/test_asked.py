"""What commands hand to calls is what users of Python give."""

from __future__ import annotations

import pytest

import tcsmt
from tcsmt import TcsmtError
from tcsmt.interface.api.asked import OPERAND_RULES, SOLVERS, Domain, SolvingOptions, check_effort


def test_they_are_the_public_names() -> None:
    assert (tcsmt.Domain, tcsmt.SolvingOptions) == (Domain, SolvingOptions)


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_is_taken(solver: str) -> None:
    assert tcsmt.SolvingOptions(solver).solver == solver


@pytest.mark.parametrize("rule", OPERAND_RULES)
def test_every_rule_for_operands_is_taken(rule: str) -> None:
    tf32 = tcsmt.unit("a100/m16n8k4.f32.tf32")
    assert float(tf32([1 + 2.0**-12, 0, 0, 0], [1.0] * 4, operands=rule)) in (1, 1 + 2.0**-10)


def test_lengths_and_search_times_in_range_are_allowed() -> None:
    for k, search in ((None, 1e6), (1, 1e-9), (64, 5.0)):
        check_effort(k, search)
    check_effort(65, 1.0, most=100)


@pytest.mark.parametrize(("k", "search", "said"), [
    (0, 1.0, "k = 0: must be from 1 to 64"), (65, 1.0, "k = 65: must be from 1 to 64"),
    (-3, 1.0, "k = -3"), (4, 0.0, "search = 0: must be over 0"), (4, -1.0, "search = -1"),
    (4, 1.1e6, "up to 1000000 seconds"), (4, float("nan"), "search = nan"),
    (None, float("inf"), "search = inf"),
])  # fmt: skip
def test_lengths_and_search_times_out_of_range_are_refused(k: int | None, search: float, said: str) -> None:
    with pytest.raises(TcsmtError, match=said):
        check_effort(k, search)
