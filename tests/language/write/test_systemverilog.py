"""Terms as SystemVerilog, simulated, against integers."""

from __future__ import annotations

import pytest

from tests.support.interpretations import MANY, cases, corner_cases, on_many_compiled
from tests.support.interpreters import Simulator


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.long)])
def test_shapes(step: int) -> None:
    Simulator(registers=False).check(corner_cases()[::step], last=False)


@pytest.mark.parametrize("registers", [False, True])
def test_random_computations(registers: bool) -> None:
    """All nodes, so that each net is seen."""
    Simulator(registers).check(list(cases(range(8))), last=False)


@pytest.mark.long
@pytest.mark.parametrize("steps", MANY)
@pytest.mark.parametrize("registers", [False, True])
def test_many_random_computations(registers: bool, steps: int) -> None:
    on_many_compiled(Simulator(registers), steps)
