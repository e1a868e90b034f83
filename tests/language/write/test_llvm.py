"""Terms as LLVM IR: the emitter of the simulator's kernels, against integers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcsmt.language.run import jit
from tests.support.interpretations import MANY, Machine, cases, corner_cases, on_many_compiled
from tests.support.interpreters import llvm_machine


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setenv("TCSMT_CACHE", str(tmp_path))
    if not jit.available():
        pytest.skip("the extra `fast` is not installed")
    return llvm_machine(16)


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.long)])
def test_shapes(machine: Machine, step: int) -> None:
    machine.check(corner_cases()[::step], last=False)


def test_random_computations(machine: Machine) -> None:
    """All nodes, so that each register is seen."""
    machine.check(list(cases(range(12))), last=False)


@pytest.mark.long
@pytest.mark.parametrize("steps", MANY)
def test_many_random_computations(machine: Machine, steps: int) -> None:
    on_many_compiled(machine, steps)


def test_words_of_32_bits_and_more(machine: Machine) -> None:
    """Where no operand is narrower, no container is."""
    llvm_machine(32).check(list(cases(range(8))), last=False)


@pytest.mark.long
@pytest.mark.parametrize("steps", MANY)
def test_many_words_of_32_bits_and_more(machine: Machine, steps: int) -> None:
    on_many_compiled(llvm_machine(32), steps)
