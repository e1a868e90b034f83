"""Every interpretation of terms against integers: random computations, of shapes that no model has too.

The integers are ``wordmath``'s, which uses nothing of tcsmt. A computation is a description; its term is
built by the constructors, which simplify, and once more node by node as described.
"""

from __future__ import annotations

import ctypes
import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import pytest

from tcsmt import terms
from tcsmt.interpret import c, c99, cc, jit, smtlib
from tcsmt.interpret.arrays import Program, storage
from tcsmt.interpret.bounds import Bounds
from tcsmt.interpret.btor2 import Btor2
from tcsmt.interpret.exact import evaluate
from tcsmt.interpret.limbs import fitted, pieces, split
from tcsmt.interpret.llvm import Emitter, declared, native, over_groups, schedule
from tcsmt.interpret.systemverilog import body, range_of
from tcsmt.terms import Term, all_of, const, expand, operands_first, substitute
from tests.oracles import wordmath
from tests.oracles.wordmath import Maker, Node
from tests.support.computations import constructed
from tests.support.scripts import ask_bitwuzla, ask_bitwuzla_btor2
from tests.support.simulators import simulated

#: Domain of a computation: a multiple of every vector's rows.
ROWS = 16


def unsimplified(node: Node, a: Sequence[Term]) -> Term:
    """The node's term as described, by the one function that makes nodes."""
    negated = {"ne": ("eq", a), "ule": ("ult", a[::-1]), "sle": ("slt", a[::-1])}
    if node.op in negated:
        op, args = negated[node.op]
        return terms._make("not", 1, (terms._make(op, 1, tuple(args)),))
    if node.op in ("const", "var", "leading_zeros", "normalised", "fma"):
        return constructed(node, a)
    data = node.data if node.op == "extract" else None
    return terms._make(node.op, node.width, tuple(a), data)


@dataclass(frozen=True)
class Case:
    """A computation, its inputs row by row, and the value of every node in every row."""

    name: str
    nodes: list[Node]
    inputs: dict[str, list[int]]

    @classmethod
    def random(cls, seed: int, *, steps: int, widest: int = 200) -> Case:
        """Of a seed, which is its name."""
        rng = random.Random(seed)
        nodes = wordmath.described(rng, widest, steps)
        inputs = {str(n.data): wordmath.words(rng, n.width, ROWS) for n in nodes if n.op == "var"}
        return cls(f"seed {seed}", nodes, inputs)

    def rows(self) -> Iterator[dict[str, int]]:
        """The inputs of each row."""
        for row in zip(*self.inputs.values(), strict=True):
            yield dict(zip(self.inputs, row, strict=True))

    @cached_property
    def values(self) -> list[list[int]]:
        """By node, the value in each row."""
        return by_node(wordmath.evaluate(self.nodes, row) for row in self.rows())

    def made(self, make: Callable[[Node, Sequence[Term]], Term]) -> list[Term]:
        """Every node's term."""
        found: list[Term] = []
        for node in self.nodes:
            found.append(make(node, [found[place] for place in node.args]))
        return found

    @cached_property
    def terms(self) -> list[Term]:
        """By the constructors."""
        return self.made(constructed)

    @cached_property
    def variables(self) -> list[Term]:
        """Of the inputs."""
        return [term for node, term in zip(self.nodes, self.terms, strict=True) if node.op == "var"]

    def hold(self, got: Sequence[Sequence[int]], who: str, places: Sequence[int] | None = None) -> None:
        """Fails where the values of some nodes (of all) are not the integers'."""
        for place, found in zip(range(len(self.nodes)) if places is None else places, got, strict=True):
            right = self.values[place]
            wrong = [row for row, (x, y) in enumerate(zip(right, found, strict=True)) if x != y]
            if wrong:
                row = wrong[0]
                listed = "\n".join(
                    f"  {number}: {node} = {self.values[number][row]:#x}"
                    for number, node in enumerate(self.nodes[: place + 1])
                )
                pytest.fail(
                    f"{self.name}: {who} gives {found[row]:#x} for node {place}, not {right[row]:#x}; "
                    f"{len(wrong)} of {len(right)} rows are wrong\n{listed}"
                )


def by_node(rows: Iterator[list[int]]) -> list[list[int]]:
    """Rows of values as columns."""
    return [list(column) for column in zip(*rows, strict=True)]


def cases(seeds: range, *, steps: int = 8) -> Iterator[Case]:
    """Random computations, every second one without words wider than machines have."""
    for seed in seeds:
        yield Case.random(seed, steps=steps, widest=64 if seed % 2 else 200)


# --- on integers -------------------------------------------------------------------------------


def check_integers(case: Case) -> None:
    """The meaning of every operation, and the constructors' simplifications, folding of constants too."""
    for make in (constructed, unsimplified):
        made = case.made(make)
        case.hold(by_node(evaluate(made, row) for row in case.rows()), make.__name__)
    for row, inputs in zip(range(2), case.rows(), strict=False):
        known = {x: const(inputs[str(x.data)], x.width) for x in case.variables}
        folded = [term.value for term in substitute(case.terms, known)]
        assert folded == [column[row] for column in case.values], case.name


def check_limbs(case: Case) -> None:
    """Limbs of every size make up the words; leading zeros are counted on limbs."""
    expanded = expand(case.terms, lambda macro: not macro.startswith("fma."))
    for size in (16, 32, 64):
        found = split(expanded, size)
        assert all(node.width <= size for limbs in found for node in operands_first(limbs))
        for row, inputs in zip(range(4), case.rows(), strict=False):
            parts = {
                str(piece.data): inputs[str(x.data)] >> place * size & ((1 << piece.width) - 1)
                for x in case.variables
                for place, piece in enumerate(pieces(x, size))
            }
            flat = iter(evaluate([limb for limbs in found for limb in limbs], parts))
            whole = [sum(next(flat) << place * size for place in range(len(limbs))) for limbs in found]
            assert whole == [column[row] for column in case.values], (case.name, size)


def check_bounds(case: Case) -> None:
    """No value lies outside of the interval that is known of it."""
    bounds = Bounds()
    for node, term, values in zip(case.nodes, case.terms, case.values, strict=True):
        low, high = bounds.unsigned(term)
        assert low <= min(values) <= max(values) <= high, (case.name, node)
        low, high = bounds.signed(term)
        numbers = [wordmath.signed(value, term.width) for value in values]
        assert low <= min(numbers) <= max(numbers) <= high, (case.name, node)


# --- on arrays ---------------------------------------------------------------------------------


def check_arrays(case: Case) -> None:
    """NumPy, wide words coming in and going out."""
    columns = {str(x.data): np.array(case.inputs[str(x.data)], storage(x.width)) for x in case.variables}
    found = Program(case.terms).run(columns, block=6)
    case.hold([[int(word) for word in column] for column in found], "NumPy")


@dataclass(frozen=True)
class Machine:
    """A back end that compiles: bits of its words, rows side by side, and how it makes code."""

    name: str
    limb: int
    rows: int
    source: Callable[[str, Sequence[Term], Sequence[Term]], str]
    link: Callable[[Sequence[str], Sequence[str]], dict[str, int]]
    lower: Callable[[Sequence[Term]], list[list[Term]]]

    def check(self, some: Sequence[Case], *, last: bool) -> None:
        """The last node of each computation, or all nodes."""
        names = [f"case{number}" for number in range(len(some))]
        chosen = [range(len(case.nodes))[-1 if last else 0 :] for case in some]
        lowered = [
            self.lower([case.terms[place] for place in p]) for case, p in zip(some, chosen, strict=True)
        ]
        inputs = [[piece for x in case.variables for piece in pieces(x, self.limb)] for case in some]
        texts = [
            self.source(name, [limb for root in roots for limb in root], given)
            for name, roots, given in zip(names, lowered, inputs, strict=True)
        ]
        addresses = self.link(texts, names)
        for name, case, places, roots in zip(names, some, chosen, lowered, strict=True):
            case.hold(self._run(addresses[name], case, roots), self.name, places)

    def _run(self, address: int, case: Case, roots: Sequence[Sequence[Term]]) -> list[list[int]]:
        dtype = {32: np.uint32, 64: np.uint64}[self.limb]
        given = [
            np.array([word >> place * self.limb & ((1 << piece.width) - 1) for word in words], dtype)
            for x, words in zip(case.variables, case.inputs.values(), strict=True)
            for place, piece in enumerate(pieces(x, self.limb))
        ]
        rows = len(given[0])
        # what code does not write, or is free to write, is not right by chance
        found = [[np.full(rows, 0x5A5A5A5A, dtype) for _ in root] for root in roots]
        pointers = [
            (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
            for arrays in (given, [limb for root in found for limb in root])
        ]
        ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)(address)(
            rows // self.rows, *(ctypes.cast(p, ctypes.c_void_p) for p in pointers)
        )
        return [
            [
                sum(int(limb[row]) << place * self.limb for place, limb in enumerate(root))
                for row in range(rows)
            ]
            for root in found
        ]


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


# --- as text -----------------------------------------------------------------------------------


def check_text(case: Case) -> None:
    """At the inputs of some rows, the solver knows that there are no other values."""
    rows = list(case.rows())
    for row in random.Random(0).sample(range(len(rows)), 3):
        fixed = all_of(x.eq(rows[row][str(x.data)]) for x in case.variables)
        right = all_of(t.eq(column[row]) for t, column in zip(case.terms, case.values, strict=True))
        assert ask_bitwuzla(smtlib.script(fixed & ~right)) == "unsat", (case.name, rows[row])


def check_functions(case: Case) -> None:
    """As above, where nodes have functions of their own, and where they do not."""
    rows = list(case.rows())
    (row,) = random.Random(1).sample(range(len(rows)), 1)
    fixed = all_of(x.eq(rows[row][str(x.data)]) for x in case.variables)
    right = all_of(t.eq(column[row]) for t, column in zip(case.terms, case.values, strict=True))
    (goal,) = expand([fixed & ~right])
    nodes = [node for node in operands_first([goal]) if node.args]
    for step in (1, 3, len(nodes) + 1):
        named = {node: f"n{number}" for number, node in enumerate(nodes) if not number % step}
        lines, result = smtlib.functions(goal, named)
        text = "\n".join(["(set-logic QF_BV)", *lines, f"(assert {result})", "(check-sat)"])
        assert ask_bitwuzla(text) == "unsat", (case.name, rows[row], step)


def check_btor2(case: Case) -> None:
    """As above, in the other language that the solver reads."""
    rows = list(case.rows())
    (row,) = random.Random(2).sample(range(len(rows)), 1)
    fixed = all_of(x.eq(rows[row][str(x.data)]) for x in case.variables)
    right = all_of(t.eq(column[row]) for t, column in zip(case.terms, case.values, strict=True))
    (goal,) = expand([fixed & ~right])
    file = Btor2()
    for x in case.variables:
        file.input([x], str(x.data))
    file.nodes(operands_first([goal]), {})
    file.line("constraint", file.number[goal])
    assert ask_bitwuzla_btor2("\n".join([*file.lines, ""])) == "unsat", (case.name, rows[row])


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


# --- shapes at which back ends take a short cut ---------------------------------------------------


class Shape(Maker):
    """A computation written out, on two inputs of 64 bits."""

    def __init__(self) -> None:
        super().__init__(random.Random(0), 200)
        self.x, self.y = (self.add("var", 64, data=name) for name in ("x0", "x1"))

    def const(self, width: int, value: int) -> int:
        """A constant modulo 2^width."""
        return self.add("const", width, data=value % (1 << width))

    def low(self, place: int, width: int) -> int:
        """The lowest bits of a word."""
        return self.add("extract", width, place, data=(width - 1, 0))

    def sext(self, width: int, place: int, narrow: int) -> int:
        """The lowest bits of a word, sign-extended."""
        return self.add("sext", width, self.low(place, narrow)) if narrow < width else self.low(place, narrow)


def reductions(op: str, width: int, narrow: int) -> Shape:
    """Of sign-extended words: sums of them are made in 32 bits."""
    made = Shape()
    x, y = (made.sext(width, place, narrow) for place in (made.x, made.y))
    empty = made.add("lshr", width, y, made.const(width, width))
    for args in ((x, y), (x, y, x, x, y, y), (x, empty), (made.const(width, -1), x, y)):
        made.add(op, width, *args)
    return made


def carries(width: int) -> Shape:
    """Sums and differences of words that are not below, or not above, a constant."""
    made = Shape()
    x, y = (made.sext(width, place, min(width, 60)) for place in (made.x, made.y))
    for least, constant in ((1, -1), (1, -2), (9, -2), (9, -9)):
        bounded = made.add("umax", width, x, made.const(width, least))
        made.add("add", width, made.const(width, constant), bounded)
        made.add("add", width, made.const(width, constant), bounded, y)
        for most in (least, least + 1):
            made.add("sub", width, bounded, made.add("and", width, y, made.const(width, most)))
    zero = made.add("eq", 1, x, made.const(width, 0))
    chosen = made.add("ite", width, zero, made.const(width, 3), x)
    made.add("add", width, made.const(width, -1), chosen)
    return made


def signs(width: int) -> Shape:
    """Signed readings of words that were negated, extended or chosen."""
    made = Shape()
    x, y = (made.sext(width, place, min(width, 60)) for place in (made.x, made.y))
    negative, narrow = made.add("neg", width, x), made.sext(width, made.x, width // 2)
    chosen = made.add("ite", width, made.low(made.y, 1), negative, narrow)
    sums = [made.add("add", width, word, y) for word in (x, narrow, negative)]
    for word in (negative, chosen, made.add("neg", width, narrow), made.add("neg", width, chosen), *sums):
        made.add("sext", width + 7, word)
        made.add("slt", 1, word, y)
        made.add("ashr", width, word, made.const(width, 1))
    return made


def moves(width: int) -> Shape:
    """Shifts around the sizes of machines' words, comparisons, leading zeros."""
    made = Shape()
    x, y = (made.sext(width, place, min(width, 64)) for place in (made.x, made.y))
    for op in wordmath.SHIFTS:
        made.add(op, width, x, y)
        for amount in {width - 1, width, 16, 32, 64}:
            places = made.const(width, amount)
            made.add(op, width, x, places)
            made.add(op, width, x, made.add("and", width, y, places))
    for op in wordmath.COMPARISONS:
        made.add(op, 1, x, y)
    made.add("leading_zeros", max(1, (width - 1).bit_length()), x)
    made.add("normalised", width, x)
    return made


def wide_product() -> Shape:
    """One of 100 bits: as an integer of LLVM's it came out wrong."""
    made = Shape()
    bit = made.add("zext", 100, made.low(made.x, 1))
    product = made.add("mul", 100, bit, made.sext(100, made.x, 16))
    made.add("extract", 2, product, data=(69, 68))
    return made


def shapes() -> Iterator[tuple[str, Shape]]:
    """Every shape with a name."""
    for op, width, narrow in itertools.product(wordmath.REDUCTIONS, (33, 48, 64), (17, 31, 32)):
        yield f"{op} of words of {narrow} bits sign-extended to {width}", reductions(op, width, narrow)
    for width in (5, 20, 32, 40, 64, 90):
        yield f"carries of {width} bits", carries(width)
        yield f"signs of {width} bits", signs(width)
    for width in (1, 2, 16, 17, 31, 32, 33, 64, 65, 128):
        yield f"moves of {width} bits", moves(width)
    yield "a wide product", wide_product()


@cache
def corner_cases() -> list[Case]:
    """The shapes on all pairs of words at the ends of ranges, of 64 bits and of those that are cut out."""
    rng, found = random.Random(0), []
    for name, made in shapes():
        widths = {node.width for node in made.nodes if node.op == "extract"} | {64}
        pairs = [
            pair for width in sorted(widths) for pair in itertools.product(wordmath.ends(width), repeat=2)
        ]
        pairs += [(rng.getrandbits(64), rng.getrandbits(64)) for _ in range(-len(pairs) % 16)]
        x, y = zip(*pairs, strict=True)
        found.append(Case(name, made.nodes, {"x0": list(x), "x1": list(y)}))
    return found


# --- the tests ---------------------------------------------------------------------------------

MACHINES = {
    "llvm16": lambda: llvm_machine(16),
    "llvm32": lambda: llvm_machine(32),
    "c": c_machine,
    "c99": c99_machine,
    "systemverilog": lambda: Simulator(registers=False),
    "pipeline": lambda: Simulator(registers=True),
}
CHECKS = {
    "integers": check_integers,
    "limbs": check_limbs,
    "bounds": check_bounds,
    "arrays": check_arrays,
    "text": check_text,
    "functions": check_functions,
    "btor2": check_btor2,
}
#: Computations in the default suite: some seconds in all.
SOME = {"integers": 60, "limbs": 20, "bounds": 80, "arrays": 40, "text": 12, "functions": 12, "btor2": 12}
SOME |= {"llvm16": 12, "llvm32": 8, "c": 8, "c99": 8, "systemverilog": 8, "pipeline": 8}


def machine_named(name: str) -> Machine | Simulator:
    """The machine, if it is there."""
    if name in ("c", "c99") and not cc.available():
        pytest.skip("no C compiler")
    if name.startswith("llvm") and not jit.available():
        pytest.skip("the extra `fast` is not installed")
    return MACHINES[name]()


@pytest.mark.parametrize("name", CHECKS)
def test_shapes(name: str) -> None:
    for case in corner_cases():
        CHECKS[name](case)


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", ["llvm16", "c", "c99", "systemverilog"])
def test_shapes_compiled(name: str, step: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TCSMT_CACHE", str(tmp_path))
    machine_named(name).check(corner_cases()[::step], last=False)


@pytest.mark.parametrize("name", CHECKS)
def test_random_computations(name: str) -> None:
    for case in cases(range(SOME[name])):
        CHECKS[name](case)


@pytest.mark.parametrize("name", MACHINES)
def test_random_computations_compiled(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All nodes, so that each register is seen."""
    monkeypatch.setenv("TCSMT_CACHE", str(tmp_path))
    machine_named(name).check(list(cases(range(SOME[name]))), last=False)


@pytest.mark.long
@pytest.mark.parametrize("steps", [5, 12, 30])
@pytest.mark.parametrize("name", [*CHECKS, *MACHINES])
def test_many_random_computations(
    name: str, steps: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All nodes, and the last one alone, so that compilers are free to do as they like."""
    monkeypatch.setenv("TCSMT_CACHE", str(tmp_path))
    for first in range(10_000 * steps, 10_000 * steps + 800, 40):
        some = list(cases(range(first, first + 40), steps=steps))
        if name in CHECKS:
            for case in some:
                CHECKS[name](case)
        else:
            machine = machine_named(name)
            machine.check(some, last=False)
            machine.check(some, last=True)
