"""Terms as portable C99: what is exported, against integers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tcsmt.language.graphs.limbs import fitted
from tcsmt.language.run import cc
from tcsmt.language.terms import Term, operands_first
from tcsmt.language.write import c99
from tests.support.interpretations import MANY, Machine, cases, corner_cases, on_many_compiled


def c99_machine() -> Machine:
    """What is exported."""

    def source(name: str, roots: Sequence[Term], inputs: Sequence[Term]) -> str:
        writer = c99.C99(operands_first(roots), {x: f"x{n}" for n, x in enumerate(inputs)})
        lines, results = writer.statements(roots)
        helpers = [f"#ifndef {h}\n#define {h}\n{c99.HELPERS[h]}\n#endif" for h in sorted(writer.helpers)]
        loads = [f"const {c99.type_of(x.width)} x{n} = inputs[{n}][row];" for n, x in enumerate(inputs)]
        stores = [f"results[{n}][row] = {result};" for n, result in enumerate(results)]
        text = "\n".join([*loads, *lines, *stores])
        return f"""#include <stdint.h>
{chr(10).join(helpers)}
void {name}(int64_t groups, const uint64_t *const *inputs, uint64_t *const *results) {{
for (int64_t row = 0; row < groups; row++) {{
{text}
}} }}"""

    def link(texts: Sequence[str], names: Sequence[str]) -> dict[str, int]:
        return cc.functions("\n".join(texts), names)

    return Machine("C99", 64, 1, source, link, lambda roots: fitted(roots, lambda macro: False))


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setenv("TCSMT_CACHE", str(tmp_path))
    if not cc.available():
        pytest.skip("no C compiler")
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
