"""Terms as portable C99: what is exported, against integers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcsmt.language.run import cc
from tests.support.interpretations import MANY, Machine, cases, corner_cases, on_many_compiled
from tests.support.interpreters import c99_machine


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setenv("TCSMT_CACHE", str(tmp_path))
    if not cc.available():
        pytest.skip("cc is not installed")
    return c99_machine()


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.long)])
def test_shapes(machine: Machine, step: int) -> None:
    machine.check(corner_cases()[::step], last=False)


def test_random_computations(machine: Machine) -> None:
    """All nodes, so that each register is seen."""
    machine.check(list(cases(range(8))), last=False)


@pytest.mark.long
@pytest.mark.parametrize("steps", MANY)
def test_many_random_computations(machine: Machine, steps: int) -> None:
    on_many_compiled(machine, steps)
