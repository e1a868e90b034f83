"""BTOR2 files as terms: what a circuit's outputs are, some clock edges after its inputs.

A file is read line by line without judging it; a node becomes a term when an output needs it, so that what
no output needs may be anything. A node that terms cannot say raises an error that names the file's line and,
where the file says so, the line of the source that it was made from.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from operator import xor

from tcsmt.language.read.joining import chosen, joined, summed
from tcsmt.language.terms import Term, const, var
from tcsmt.support.errors import TcsmtError, UnknownName


@dataclass(frozen=True)
class Btor2Line:
    """One line: its number as a node, its operation, its other words, its name, and where it comes from.

    width: in bits; 0 where it has none. line: of the file. source: ``FILE:LINE.COLUMN`` of a design, or "".
    """

    number: int
    op: str
    words: tuple[str, ...]
    width: int
    line: int
    name: str = ""
    source: str = ""


@dataclass(frozen=True)
class Btor2File:
    """A file's nodes. Raises what :func:`read_btor2` says.

    inputs: those with a name, by it; the others are bits that nothing drives, and don't-cares. outputs: by
    name, the number of the node whose value they have, negative where that is inverted. following: of a
    register, the node whose value it takes at a clock edge.
    """

    file: str
    nodes: Mapping[int, Btor2Line]
    inputs: Mapping[str, Btor2Line] = field(default_factory=dict)
    outputs: Mapping[str, int] = field(default_factory=dict)
    following: Mapping[int, int] = field(default_factory=dict)

    def cut(self, names: Sequence[str]) -> Btor2File:
        """Make registers ports: what one holds is an input of its name; what it takes at the edge, an output.

        Raises :class:`.TcsmtError` for what is not a register.
        """
        inputs, outputs, nodes = dict(self.inputs), dict(self.outputs), dict(self.nodes)
        for name in names:
            wire, register = self._register(name)
            inputs[name] = nodes[wire.number] = replace(wire, op="input", name=name)
            outputs[name] = self.following[register.number]
        return replace(self, nodes=nodes, inputs=inputs, outputs=outputs)

    def _register(self, name: str) -> tuple[Btor2Line, Btor2Line]:
        """Return the wire that has a register's name, and the register: an asynchronous reset is between
        them.
        """
        named = {node.name: node for node in self.nodes.values() if node.op == "state" and node.name}
        wire = self.nodes[self.outputs[name]] if self.outputs.get(name, 0) > 0 else named.get(name)
        if wire is not None:
            near = [wire] if wire.op == "state" else []
            if wire.op == "ite":
                near = [self.nodes[abs(argument)] for argument in _arguments(wire)[1:]]
            registers = [argument for argument in near if argument.number in self.following]
            if len(registers) == 1:
                return wire, registers[0]
        raise UnknownName("register", name, [o for o, n in named.items() if n.number in self.following])

    @cached_property
    def uses(self) -> Counter[int]:
        """Return how often each node is an argument, a result, or what a register takes."""
        roots = [*self.outputs.values(), *self.following.values()]
        arguments = (argument for node in self.nodes.values() for argument in _arguments(node))
        return Counter(map(abs, (*arguments, *roots)))

    @property
    def named(self) -> dict[str, int]:
        """Return the nodes that have a name, by it: inputs, registers, and the wires whose names the text
        keeps.
        """
        return {node.name: number for number, node in self.nodes.items() if node.name}

    def width_of(self, output: str) -> int:
        """Return how many bits an output has."""
        return self.nodes[abs(self.outputs[output])].width

    def after(
        self, root: int, cycles: int, value_at: Callable[[int, Btor2Line], Term | None]
    ) -> tuple[Term, dict[Term, tuple[Btor2Line, int]]]:
        """Return a node after so many clock edges, and the free words in it: of what, in which cycle.

        value_at: the term of an input in a cycle, counted from 0; None: it is free. So is what a register
        holds at first, and every undriven bit, in each cycle.
        """
        free: dict[Term, tuple[Btor2Line, int]] = {}

        def word(node: Btor2Line, cycle: int) -> Term:
            value = None if node.op == "state" or not node.name else value_at(cycle, node)
            if value is None:
                value = var(f"{node.op} {node.number} of cycle {cycle}", node.width)
                free[value] = node, cycle
            return value

        registers = self._registers([root])
        held = {number: word(self.nodes[number], 0) for number in registers}
        for cycle in range(cycles):
            now = _Values(self, held, partial(word, cycle=cycle))
            missing = [number for number in registers if number not in self.following]
            held = {number: now.of(self.following[number]) for number in registers if number not in missing}
            held |= {number: word(self.nodes[number], cycle + 1) for number in missing}
        return _Values(self, held, partial(word, cycle=cycles)).of(root), free

    def _registers(self, roots: Sequence[int]) -> list[int]:
        """Return the registers on which nodes depend, directly or through other registers."""
        seen: set[int] = set()
        pending = [abs(root) for root in roots]
        while pending:
            number = pending.pop()
            if number not in seen:
                seen.add(number)
                node = self.nodes[number]
                pending += [abs(argument) for argument in _arguments(node)]
                if number in self.following:
                    pending.append(abs(self.following[number]))
        return sorted(number for number in seen if self.nodes[number].op == "state")

    def error(self, node: Btor2Line, what: str) -> TcsmtError:
        """Return an error about a node."""
        return TcsmtError(f"{self.place(node)}: {what}")

    def place(self, node: Btor2Line) -> str:
        """Return where a node comes from: the design's file and line if given, else the text's line."""
        return node.source or f"{self.file}:{node.line}"


@dataclass
class _Values:
    """The nodes' terms in one cycle. held: of the registers. inputs: the term of an input."""

    circuit: Btor2File
    held: Mapping[int, Term]
    inputs: Callable[[Btor2Line], Term]
    terms: dict[int, Term] = field(default_factory=dict)

    def of(self, root: int) -> Term:
        """Return the value of a node, or of its inverse where the number is negative."""
        stack = [abs(root)]
        while stack:
            number = stack[-1]
            node = self.circuit.nodes[number]
            missing = [abs(argument) for argument in _arguments(node) if abs(argument) not in self.terms]
            if number in self.terms or not missing:
                stack.pop()
                if number not in self.terms:
                    self.terms[number] = self._term(node)
            else:
                stack += missing
        return self._signed(root)

    def _signed(self, number: int) -> Term:
        return self.terms[number] if number > 0 else ~self.terms[-number]

    def _term(self, node: Btor2Line) -> Term:
        if node.op == "input":
            return self.inputs(node)
        if node.op == "state":
            return self.held[node.number]
        try:
            if node.op in _CONSTANTS:
                return const(_CONSTANTS[node.op](node.words[1:], node.width), node.width)
            if node.op not in _MEANING:
                raise self.circuit.error(node, _refused(node.op))
            numbers = _arguments(node)
            arguments = [self._signed(number) for number in numbers]
            if node.op == "add":
                left, right = (self.circuit.uses[abs(number)] == 1 for number in numbers)
                term = summed(*arguments, alone=(left, right))
            else:
                bounds = [int(operand) for operand in node.words[1 + len(arguments) :]]
                term = _MEANING[node.op](*arguments, *bounds)
        except (ValueError, TypeError, IndexError) as why:
            if isinstance(why, TcsmtError):
                raise
            raise self.circuit.error(node, f"{node.op} does not fit its operands: {why}") from None
        if term.width != node.width:
            raise self.circuit.error(node, f"{node.op} of {term.width} bits where {node.width} are declared")
        return term


def read_btor2(text: str, file: str) -> Btor2File:
    """Return the nodes of a file. Raises :class:`.TcsmtError` for what is not BTOR2, with file and line."""
    lines = _Lines()
    for number, line_text in enumerate(text.splitlines(), 1):
        words, source = _split(line_text)
        if not words:
            continue
        try:
            if words[1] == "constraint":
                where = source or f"{file}:{number}"
                raise TcsmtError(f"{where}: an assumption on inputs is not supported")
            lines.read(int(words[0]), words[1], words, number, source)
        except (ValueError, IndexError, KeyError) as why:
            if isinstance(why, TcsmtError):
                raise
            raise TcsmtError(f"{file}:{number}: not BTOR2: {line_text.strip()[:60]!r}") from None
    if not lines.nodes:
        raise TcsmtError(f"{file}: not BTOR2: it has no nodes")
    named: dict[str, Btor2Line] = {}
    for node in lines.nodes.values():
        if node.op != "input" or not node.name:
            continue
        if node.name in named:  # they are two inputs: one value for both would be another function
            raise TcsmtError(f"{file}:{node.line}: two inputs are called {node.name!r:.80}")
        named[node.name] = node
    return Btor2File(file, lines.nodes, named, lines.outputs, lines.following)


@dataclass
class _Lines:
    """The content of lines: sorts by their widths (0: an array), nodes, outputs, and what registers take."""

    numbers: set[int] = field(default_factory=set)
    sorts: dict[int, int] = field(default_factory=dict)
    nodes: dict[int, Btor2Line] = field(default_factory=dict)
    outputs: dict[str, int] = field(default_factory=dict)
    following: dict[int, int] = field(default_factory=dict)

    def read(self, number: int, op: str, words: Sequence[str], line: int, source: str) -> None:
        """Read a line. Raises ``ValueError``, ``IndexError`` or ``KeyError`` for what is none."""
        if number in self.numbers:
            raise ValueError("a number that is taken")
        self.numbers.add(number)
        if op == "sort":
            # arrays are memories: what reads or writes one is refused where an output needs it
            self.sorts[number] = int(words[3]) if words[2] == "bitvec" else 0
        elif op in ("next", "init"):
            target, value = int(words[3]), int(words[4])
            if op == "next":
                if target in self.following:
                    raise ValueError("a register with two next values")
                self.following[target] = value
            if abs(value) not in self.nodes or self.nodes[target].op != "state":
                raise ValueError("not a register and its value")
        elif op == "output":
            name = words[3] if len(words) > 3 else f"output{len(self.outputs)}"
            if name in self.outputs:
                raise ValueError("an output of a name that is taken")
            self.outputs[name] = int(words[2])
            if abs(int(words[2])) not in self.nodes:
                raise ValueError("not a node")
        elif op not in _IGNORED:
            self.nodes[number] = self._node(number, op, words, line, source)

    def _node(self, number: int, op: str, words: Sequence[str], line: int, source: str) -> Btor2Line:
        count = _COUNT.get(op, 0) if op in _CONSTANTS or op in _LEAVES else _COUNT[op]
        used = 3 + count + _EXTRA.get(op, 0) + (op in _GIVEN)
        arguments, name = tuple(words[2:used]), " ".join(words[used:])
        if len(arguments) < used - 2 or int(arguments[0]) not in self.sorts:
            raise ValueError("operands are missing, or an unknown sort")
        node = Btor2Line(number, op, arguments, self.sorts[int(arguments[0])], line, name, source)
        if any(abs(argument) not in self.nodes for argument in _arguments(node)):
            raise ValueError("an operand that is not a node above it")
        return node


def _split(line: str) -> tuple[list[str], str]:
    """Return the words of a line, and the place in a design's source that its comment names."""
    code, _, comment = line.partition(";")
    place = re.match(r"\s*(\S+:\d+)(\.\d+)?", comment)
    return code.split(), place[1] if place else ""


def _arguments(node: Btor2Line) -> list[int]:
    return [int(word) for word in node.words[1 : 1 + _COUNT.get(node.op, 0)]]


def _refused(op: str) -> str:
    if op in ("read", "write"):
        return "a memory is not supported; only registers are"
    if op in ("udiv", "sdiv", "urem", "srem", "smod"):
        return f"a division ({op}) is not supported"
    return f"the operation {op} is not supported"


def _nonzero(x: Term) -> Term:
    return x if x.width == 1 else x.ne(0)


def _ones(x: Term) -> Term:
    return x if x.width == 1 else x.eq(-1)


#: Words of a file that say nothing of values: properties that are to be checked, not assumed.
_IGNORED = ("bad", "fair", "justice")
_LEAVES = ("input", "state")
_GIVEN = ("const", "constd", "consth")
_CONSTANTS: dict[str, Callable[[Sequence[str], int], int]] = {
    "const": lambda words, width: int(words[0], 2),
    "constd": lambda words, width: int(words[0]),
    "consth": lambda words, width: int(words[0], 16),
    "zero": lambda words, width: 0,
    "one": lambda words, width: 1,
    "ones": lambda words, width: -1,
}
_UNARY: dict[str, Callable[..., Term]] = {
    "not": lambda x: ~x,
    "neg": lambda x: -x,
    "inc": lambda x: x + 1,
    "dec": lambda x: x - 1,
    "redor": _nonzero,
    "redand": _ones,
    "redxor": lambda x: reduce(xor, (x[number] for number in range(x.width))),
    "uext": lambda x, more: x.zext(x.width + more),
    "sext": lambda x, more: x.sext(x.width + more),
    "slice": lambda x, high, low: x[high:low],
}
_BINARY: dict[str, Callable[..., Term]] = {
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
    "nand": lambda x, y: ~(x & y),
    "nor": lambda x, y: ~(x | y),
    "xnor": lambda x, y: ~(x ^ y),
    "iff": lambda x, y: x.eq(y),
    "implies": lambda x, y: ~x | y,
    "eq": lambda x, y: x.eq(y),
    "neq": lambda x, y: x.ne(y),
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "sll": lambda x, y: x << y,
    "srl": lambda x, y: x >> y,
    "sra": lambda x, y: x.ashr(y),
    "concat": joined,
    "ult": lambda x, y: x.ult(y),
    "ulte": lambda x, y: x.ule(y),
    "ugt": lambda x, y: y.ult(x),
    "ugte": lambda x, y: y.ule(x),
    "slt": lambda x, y: x.slt(y),
    "slte": lambda x, y: x.sle(y),
    "sgt": lambda x, y: y.slt(x),
    "sgte": lambda x, y: y.sle(x),
}
_TERNARY: dict[str, Callable[..., Term]] = {"ite": chosen}
_MEANING = _UNARY | _BINARY | _TERNARY
#: Operations that a file may have where no output needs them.
_OTHER = {
    "read": 2, "write": 3, "udiv": 2, "sdiv": 2, "urem": 2, "srem": 2, "smod": 2, "rol": 2, "ror": 2,
    "uaddo": 2, "saddo": 2, "usubo": 2, "ssubo": 2, "umulo": 2, "smulo": 2, "sdivo": 2,
}  # fmt: skip
#: How many operands an operation has that are nodes, and how many that are numbers.
_COUNT = dict.fromkeys(_UNARY, 1) | dict.fromkeys(_BINARY, 2) | dict.fromkeys(_TERNARY, 3) | _OTHER
_EXTRA = {"uext": 1, "sext": 1, "slice": 2}
