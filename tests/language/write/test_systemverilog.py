"""Terms as SystemVerilog, simulated, against integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from tcsmt.language.terms import Term, expand, operands_first
from tcsmt.language.write.systemverilog import body, range_of
from tests.support.interpretations import MANY, Case, by_node, cases, corner_cases, on_many_compiled
from tests.support.simulators import simulated


@dataclass(frozen=True)
class Simulator:
    """SystemVerilog, simulated: every computation is a module. registers: behind every third node."""

    registers: bool

    def check(self, some: Sequence[Case], *, last: bool) -> None:
        """The last node of each computation, or all nodes."""
        texts, chosen = [], []
        for number, case in enumerate(some):
            places = range(len(case.nodes))[-1 if last else 0 :]
            chosen.append(places)
            texts.append(self._module(f"case{number}", case, expand([case.terms[p] for p in places])))
        lines = iter(simulated("\n".join(texts), [f"case{number}" for number in range(len(some))]))
        for case, places in zip(some, chosen, strict=True):
            found = [[int(word, 16) for word in next(lines).split()] for _ in case.rows()]
            case.hold(by_node(iter(found)), "SystemVerilog", places)

    def _module(self, name: str, case: Case, roots: Sequence[Term]) -> str:
        nodes = operands_first(roots)
        names = {x: str(x.data) for x in case.variables}
        made = body(nodes, roots, names, [n for n in nodes if n.args][::3] if self.registers else [])
        lines = [f"module {name};", "reg clk = 0;", *made.functions]
        lines += [f"logic {range_of(x.width)}{x.data};" for x in case.variables]
        lines += [*made.registers, *made.nets]
        if made.transfers:
            lines += ["always_ff @(posedge clk) begin", *made.transfers, "end"]
        outputs = []
        for number, (root, result) in enumerate(zip(roots, made.outputs, strict=True)):
            lines.append(f"wire {range_of(root.width)}result{number} = {result};")
            outputs.append(f"result{number}")
        lines.append("task run; begin")
        shown = f'$display("{" ".join("%h" for _ in roots)}", {", ".join(outputs)});'
        rows = list(case.rows())
        assert bool(made.latency) == (self.registers and any(n.args for n in nodes))
        for number in range(len(rows) + max(0, made.latency - 1)):  # a row at each clock edge
            row = rows[min(number, len(rows) - 1)]
            lines += [f"{x} = {term.width}'h{row[x]:x};" for x, term in zip(row, case.variables, strict=True)]
            edge = "#1 clk = 1; #1 clk = 0; #1"
            lines.append(f"{edge} {shown}" if number + 1 >= made.latency else f"{edge};")
        return "\n".join([*lines, "end endtask", "endmodule"])


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
