"""Whatever runs terms, on computations whose values integers say: evaluators, compilers, solvers, provers.

Each takes computations and fails where a node of one has another value than ``wordmath`` says.
"""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from tcsmt.language.graphs.limbs import fitted, pieces
from tcsmt.language.run import cc, jit
from tcsmt.language.run.arrays import Program, storage
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, all_of, const, expand, operands_first, substitute
from tcsmt.language.write import c99, smtlib
from tcsmt.language.write.cnf import Cnf, as_clauses
from tcsmt.language.write.llvm import Emitter, declared, native, over_groups, schedule
from tcsmt.language.write.systemverilog import body, range_of
from tcsmt.language.write.webassembly import module
from tests.support.computations import constructed
from tests.support.interpretations import Case, Machine, by_node, unsimplified
from tests.support.propagation import Propagator
from tests.support.scripts import ask_bitwuzla
from tests.support.simulators import simulated
from tests.support.webassembly import Machine as WebAssembly

__all__ = [
    "INTERPRETERS", "Simulator", "c99_machine", "check_arrays", "check_clauses", "check_integers",
    "check_script", "check_webassembly", "literals", "llvm_machine",
]  # fmt: skip


def check_integers(case: Case) -> None:
    """The meaning of every operation, and the constructors' simplifications, folding of constants too."""
    for make in (constructed, unsimplified):
        made = case.made(make)
        case.hold(by_node(evaluate(made, row) for row in case.rows()), make.__name__)
    for row, inputs in zip(range(2), case.rows(), strict=False):
        known = {x: const(inputs[str(x.data)], x.width) for x in case.variables}
        folded = [term.value for term in substitute(case.terms, known)]
        assert folded == [column[row] for column in case.values], case.name


def check_arrays(case: Case) -> None:
    """NumPy, wide words coming in and going out."""
    columns = {str(x.data): np.array(case.inputs[str(x.data)], storage(x.width)) for x in case.variables}
    found = Program(case.terms).run(columns, block=6)
    case.hold([[int(word) for word in column] for column in found], "NumPy")


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


def check_script(case: Case) -> None:
    """At the inputs of some rows, the solver knows that there are no other values."""
    rows = list(case.rows())
    for row in random.Random(0).sample(range(len(rows)), 3):
        fixed = all_of(x.eq(rows[row][str(x.data)]) for x in case.variables)
        right = all_of(t.eq(column[row]) for t, column in zip(case.terms, case.values, strict=True))
        assert ask_bitwuzla(smtlib.script(fixed & ~right)) == "unsat", (case.name, rows[row])


def _limbs_of(term: Term, word: int) -> list[int]:
    """The words of a variable's limbs."""
    return [word >> 64 * place & (1 << limb.width) - 1 for place, limb in enumerate(pieces(term))]


def check_webassembly(case: Case, most: int = 10_000) -> None:
    """Every node of a computation in every row, with anything above the inputs' words."""
    limbs = fitted(case.terms, lambda macro: False)
    inputs = [limb for x in case.variables for limb in pieces(x)]
    flat = [limb for root in limbs for limb in root]
    machine = WebAssembly(module(inputs, {"all": flat, "last": limbs[-1]}, most=most))
    above = random.Random(1)
    for number, row in enumerate(case.rows()):
        words = [w for x in case.variables for w in _limbs_of(x, row[str(x.data)])]
        words = [
            word | above.getrandbits(64 - limb.width) << limb.width if limb.width < 64 else word
            for limb, word in zip(inputs, words, strict=True)
        ]
        results = iter(machine.run("all", words, len(flat)))
        found = [sum(next(results) << 64 * place for place, _ in enumerate(root)) for root in limbs]
        assert found == [column[number] for column in case.values], (case.name, row)
        last = machine.run("last", words, len(limbs[-1]))
        assert sum(word << 64 * place for place, word in enumerate(last)) == case.values[-1][number]


def literals(cnf: Cnf, values: dict[str, int]) -> list[int]:
    """Those that say what the inputs are."""
    return [
        bit if values[name] >> place & 1 else -bit
        for name, word in cnf.words.items()
        for place, bit in enumerate(word)
    ]


def check_clauses(case: Case) -> None:
    """In some rows, unit propagation alone finds that all nodes have their values, and no others."""
    rows = list(case.rows())
    for row in random.Random(0).sample(range(len(rows)), 2):
        right = all_of(term.eq(column[row]) for term, column in zip(case.terms, case.values, strict=True))
        for goal, holds in ((right, True), (~right, False)):
            if goal.value is not None:
                assert bool(goal.value) == holds, case.name
                continue
            cnf = as_clauses(goal)
            given = literals(cnf, {name: rows[row].get(name, 0) for name in cnf.words})
            assert (Propagator(cnf.clauses).follow(given) is not None) == holds, (case.name, rows[row])


#: The books that define what ACL2's functions use.
_ACL2_BOOKS = ("ihs/basic-definitions", "std/basic/arith-equivs")


def check_acl2(some: Sequence[Case]) -> None:
    """The functions that are written for ACL2, run in it: one session for all computations."""
    written = pytest.importorskip("tcsmt.language.write.acl2", reason="no functions of ACL2 are written")
    if shutil.which("acl2") is None:
        pytest.skip("acl2 is not installed (the Debian packages acl2 and acl2-books)")
    lines = [f'(include-book "{book}" :dir :system)' for book in _ACL2_BOOKS]
    for number, case in enumerate(some):
        inputs = written.variables_of(sorted({str(x.data) for x in case.variables}))
        bindings, results = written.Acl2Writer(inputs).bindings(expand(case.terms), {})
        listed = f"(list {' '.join(results)})"
        lines.append(written.defined(f"case{number}", [*inputs.values()], bindings, listed))
        for row in case.rows():
            call = f"(case{number} {' '.join(str(row[name]) for name in inputs)})"
            lines.append(f'(cw "~x0~%" (list :row {number} {call}))')
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["acl2"], input="\n".join([*lines, "(good-bye)"]), cwd=folder, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
    values: dict[int, list[list[int]]] = {}
    for found, words in re.findall(r"\(:ROW\s+(\d+)\s+\(([\d\s]*)\)\)", done.stdout):
        values.setdefault(int(found), []).append([int(word) for word in words.split()])
    for number, case in enumerate(some):
        assert len(values.get(number, [])) == len(list(case.rows())), done.stdout[-3000:]
        case.hold(by_node(iter(values[number])), "ACL2")


Check = Callable[[Sequence[Case]], None]


def _one_by_one(check: Callable[[Case], None]) -> Check:
    def checked(some: Sequence[Case]) -> None:
        for case in some:
            check(case)

    return checked


def _c99(some: Sequence[Case]) -> None:
    if not cc.available():
        pytest.skip("cc is not installed")
    c99_machine().check(some, last=False)


def _llvm(some: Sequence[Case]) -> None:
    if not jit.available():
        pytest.skip("the extra `fast` is not installed")
    llvm_machine(16).check(some, last=False)


#: By name, what takes some computations; each looks at every node.
INTERPRETERS: Mapping[str, Check] = {
    "evaluator": _one_by_one(check_integers),
    "NumPy": _one_by_one(check_arrays),
    "LLVM": _llvm,
    "C": _c99,
    "SystemVerilog": partial(Simulator(registers=False).check, last=False),
    "SMT-LIB": _one_by_one(check_script),
    "clauses": _one_by_one(check_clauses),
    "WebAssembly": _one_by_one(check_webassembly),
    "ACL2": check_acl2,
}
