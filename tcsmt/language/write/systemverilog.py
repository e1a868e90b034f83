"""Terms as SystemVerilog: nets of exactly the words' widths, and registers between levels of the graph.

The widths of an expression's operands are always the same as that of its result, or the operand stands where
the language looks at it alone (in a concatenation, as a condition, as an amount, in a comparison): so no
rule of the language about widths or signs ever changes a value. Signed operators stand within ``$unsigned``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from tcsmt.language.terms import Term
from tcsmt.language.write.inlining import Inlining, fresh
from tcsmt.language.write.operators import bare, infix

#: Nesting of an expression beyond which a word gets a net of its own.
_DEPTH = 4
#: What SystemVerilog selects bits of, and what is written more than once, must have a name.
_NAMED_OPERAND = frozenset({"extract", "sext"})


def range_of(width: int) -> str:
    """Return a word's range, ``[15:0] ``; nothing for one bit."""
    return f"[{width - 1}:0] " if width > 1 else ""


@dataclass
class Body:
    """The body of a module.

    nets: declarations, each before it is used. registers: their declarations. transfers: what each register
    takes at a clock edge. functions: of the largest of two words. outputs: an expression for each root.
    latency: clock edges from the inputs to the outputs.
    """

    nets: list[str] = field(default_factory=list)
    registers: list[str] = field(default_factory=list)
    transfers: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    latency: int = 0


def body(
    nodes: Sequence[Term],
    roots: Sequence[Term],
    names: Mapping[Term, str],
    registered: Collection[Term] = (),
) -> Body:
    """Return a module's body that computes ``roots``.

    nodes: everything below the roots, arguments first, without macros. names: of the variables, and of the
    nodes that are to have nets of their own. registered: nodes behind which registers stand; every other
    path from inputs to outputs gets as many.
    """
    return _Writer(nodes, names, frozenset(registered)).write(roots)


class _Writer:
    def __init__(self, nodes: Sequence[Term], names: Mapping[Term, str], registered: frozenset[Term]) -> None:
        self.nodes, self.names, self.registered = nodes, names, registered
        self.level: dict[Term, int] = {}
        for node in nodes:  # in which clock cycle its value is there
            self.level[node] = max((self._behind(arg) for arg in node.args if arg.op != "const"), default=0)
        self.made = Body()
        self.text = Inlining(_DEPTH, self._net)
        self.fresh = fresh(set(names.values()))

    def _behind(self, node: Term) -> int:
        """Return the first level at which a node's value may be used."""
        return self.level[node] + (node in self.registered)

    def write(self, roots: Sequence[Term]) -> Body:
        """Return the body."""
        made = self.made
        made.latency = max(self._behind(root) for root in roots)
        last = {root: made.latency for root in roots if root.op != "const"}
        uses = Counter(roots)
        direct: set[Term] = set()  # what must have a name
        for node in self.nodes:
            uses.update(node.args)
            for arg in node.args:
                last[arg] = max(last.get(arg, 0), self.level[node])
                if node.op in _NAMED_OPERAND or self.level[node] > self.level[arg]:
                    direct.add(arg)
        direct |= {root for root in roots if made.latency > self.level[root]}
        self._functions()
        for node in self.nodes:
            named = uses[node] > 1 or node in self.names or node in direct
            self.text.add(node, self._expression(node), node.args, named=named)
            if node.op != "const":
                self._delay(node, last.get(node, 0) - self.level[node])
        made.outputs = [self._at(root, made.latency) for root in roots]
        return made

    def _net(self, node: Term, expression: str) -> str:
        name = self.names.get(node) or next(self.fresh)
        self.made.nets.append(f"wire {range_of(node.width)}{name} = {bare(expression)};")
        return name

    def _delay(self, node: Term, cycles: int) -> None:
        """Write registers, one behind the other, that hold a node's value for so many cycles."""
        name = self.text[node]
        for delay in range(1, cycles + 1):
            before = name if delay == 1 else f"{name}_r{delay - 1}"
            self.made.registers.append(f"logic {range_of(node.width)}{name}_r{delay};")
            self.made.transfers.append(f"{name}_r{delay} <= {before};")

    def _functions(self) -> None:
        for width in sorted({node.width for node in self.nodes if node.op == "umax"}):
            bits = range_of(width)
            self.made.functions += [
                f"function automatic {bits}max{width}(input {bits}x, input {bits}y);",
                f"  max{width} = x < y ? y : x;",
                "endfunction",
            ]

    def _at(self, node: Term, level: int) -> str:
        """Return the value of a node, as many cycles later as it takes to that level."""
        delay = 0 if node.op == "const" else level - self.level[node]
        return f"{self.text[node]}_r{delay}" if delay else self.text[node]

    def _expression(self, node: Term) -> str:
        if node.op == "var":
            return self.names[node]
        parts = [self._at(arg, self.level[node]) for arg in node.args]
        return _EXPRESS[node.op](node, parts)


def _literal(node: Term, parts: list[str]) -> str:
    return f"{node.width}'h{node.value:x}" if node.width > 1 else f"1'b{node.value}"


def _extract(node: Term, parts: list[str]) -> str:
    high, low = node.data  # type: ignore[misc,str-unpack]
    if node.args[0].width == 1:
        return parts[0]
    return f"{parts[0]}[{high}:{low}]" if high != low else f"{parts[0]}[{low}]"


def _zext(node: Term, parts: list[str]) -> str:
    return f"{{{node.width - node.args[0].width}'h0, {bare(parts[0])}}}"


def _sext(node: Term, parts: list[str]) -> str:
    (arg,) = node.args
    sign = f"{parts[0]}[{arg.width - 1}]" if arg.width > 1 else parts[0]
    return f"{{{{{node.width - arg.width}{{{sign}}}}}, {parts[0]}}}"


def _largest(node: Term, parts: list[str]) -> str:
    """Write a maximum as a tree, as hardware would have it."""
    while len(parts) > 1:
        pairs = [parts[place : place + 2] for place in range(0, len(parts), 2)]
        parts = [
            f"max{node.width}({', '.join(map(bare, pair))})" if len(pair) > 1 else pair[0] for pair in pairs
        ]
    return parts[0]


_EXPRESS: dict[str, Callable[[Term, list[str]], str]] = {
    **dict.fromkeys(("and", "or", "xor", "add", "sub", "mul", "shl", "lshr", "eq", "ult"), infix),
    "const": _literal,
    "not": lambda node, parts: f"(~{parts[0]})",
    "neg": lambda node, parts: f"(-{parts[0]})",
    "ashr": lambda node, parts: f"$unsigned($signed({bare(parts[0])}) >>> {parts[1]})",
    "concat": lambda node, parts: f"{{{', '.join(map(bare, parts))}}}",
    "extract": _extract,
    "zext": _zext,
    "sext": _sext,
    "ite": lambda node, parts: f"({parts[0]} ? {parts[1]} : {parts[2]})",
    "slt": lambda node, parts: f"($signed({bare(parts[0])}) < $signed({bare(parts[1])}))",
    "umax": _largest,
}
