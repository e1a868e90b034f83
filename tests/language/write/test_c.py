"""Terms as statements on vectors in C: the second opinion, against integers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tcsmt.language.run import cc
from tcsmt.language.terms import Term, operands_first
from tcsmt.language.write import c
from tests.support.interpretations import MANY, Machine, cases, corner_cases, on_many_compiled


def c_machine() -> Machine:
    """The emitter of the second opinion."""

    def source(name: str, roots: Sequence[Term], inputs: Sequence[Term]) -> str:
        lines, names = c.statements(operands_first(roots), {x: f"x{n}" for n, x in enumerate(inputs)})
        loads = [
            f"word x{n}; __builtin_memcpy(&x{n}, inputs[{n}] + start, sizeof(word));"
            for n in range(len(inputs))
        ]
        masks = [f"x{n} = -(x{n} & 1u);" for n, x in enumerate(inputs) if x.width == 1]
        stores = [
            f"{{ word y = {names[root]}{' & 1u' if root.width == 1 else ''};"
            f" __builtin_memcpy(results[{n}] + start, &y, sizeof y); }}"
            for n, root in enumerate(roots)
        ]
        body = "\n".join([*loads, *masks, *lines, *stores])
        return f"""void {name}(int64_t groups, const uint32_t *const *inputs, uint32_t *const *results) {{
for (int64_t start = 0; start < groups * {c.ROWS}; start += {c.ROWS}) {{
{body}
}} }}"""

    def link(texts: Sequence[str], names: Sequence[str]) -> dict[str, int]:
        return cc.functions("\n".join([c.PROLOGUE, *texts]), names)

    return Machine("C", c.LIMB, c.ROWS, source, link, c.plain)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setenv("TCSMT_CACHE", str(tmp_path))
    if not cc.available():
        pytest.skip("cc is not installed")
    return c_machine()


@pytest.mark.slow
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


def test_it_rests_on_nothing_of_the_code_that_it_is_held_against() -> None:
    """Neither LLVM's writer nor the intervals that it trusts: enumerations are computed twice."""
    code = "import sys, tcsmt.language.write.c; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    rooms = {name for name in done.stdout.split() if name.startswith("tcsmt.language.")}
    assert "tcsmt.language.write.operators" in rooms
    assert not rooms & {"tcsmt.language.write.llvm", "tcsmt.language.graphs.bounds", "tcsmt.language.run.jit"}
