"""Terms as LLVM IR: the emitter of the simulator's kernels, against integers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tcsmt.language.graphs.limbs import fitted
from tcsmt.language.run import jit
from tcsmt.language.terms import Term
from tcsmt.language.write.llvm import Emitter, declared, native, over_groups, schedule
from tests.support.interpretations import MANY, Machine, cases, corner_cases, on_many_compiled


def llvm_machine(least: int) -> Machine:
    """The emitter of the simulator's kernels."""

    def source(name: str, roots: Sequence[Term], inputs: Sequence[Term]) -> str:
        e = Emitter(8, least)
        base = e.emit("mul i64 %g, 8")

        def address(side: str, number: int) -> str:
            place = e.emit(f"getelementptr ptr, ptr %{side}, i64 {number}")
            return e.emit(f"getelementptr i64, ptr {e.emit(f'load ptr, ptr {place}')}, i64 {base}")

        for number, x in enumerate(inputs):
            word = e.emit(f"load {e.type(64)}, ptr {address('inputs', number)}, align 8")
            e.register[x] = e.convert("trunc", 64, e.container(x.width), word)
        e.run(schedule(roots, {}))
        for number, root in enumerate(roots):
            word = e.convert("zext", e.container(root.width), 64, e.register[root])
            e.lines.append(f"  store {e.type(64)} {word}, ptr {address('results', number)}, align 8")
        return over_groups(name, "ptr %inputs, ptr %results", e.text)

    def link(texts: Sequence[str], names: Sequence[str]) -> dict[str, int]:
        return jit.functions(declared("\n".join(texts)), names)

    return Machine(f"LLVM, from {least} bits", 64, 8, source, link, lambda roots: fitted(roots, native))


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
