"""SystemVerilog whose meaning simulators, synthesis and the netlist do not agree on is refused.

The netlist that Yosys makes is what a circuit would be; simulators may compute something else, for example
where a sensitivity list is incomplete or where two clocked blocks race. What is read is a list of what is
allowed; everything else is refused, with file, line and name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tcsmt.interop.implementations.verilog_blocks import VerilogBlock, VerilogBlocks, address, parts
from tcsmt.interop.implementations.verilog_choices import choice_fault
from tcsmt.interop.implementations.verilog_tree import VerilogNode, VerilogTree
from tcsmt.support.errors import TcsmtError

#: Symbols beside variables, nets and blocks. Assertions and what only they use change nothing.
_SYMBOLS = frozenset(
    ("Port", "Parameter", "TypeParameter", "TypeAlias", "ForwardingTypedef", "Subroutine", "Genvar",
     "TransparentMember", "EnumType", "EnumValue", "ExplicitImport", "WildcardImport", "EmptyMember",
     "ElabSystemTask", "Attribute", "Specparam", "Property", "Sequence", "LetDecl", "MethodPrototype",
     "PackedStructType", "UnpackedStructType", "PackedUnionType", "Field", "DefParam", "Modport",
     "InterfacePort")
)  # fmt: skip
_STATEMENTS = frozenset(
    ("List", "Block", "ExpressionStatement", "Conditional", "Case", "ForLoop", "ForeachLoop", "RepeatLoop",
     "WhileLoop", "DoWhileLoop", "Empty", "VariableDeclaration", "Return", "Break", "Continue")
)  # fmt: skip
#: Statements that say nothing of values.
_ASSERTIONS = frozenset(("ImmediateAssertion", "ConcurrentAssertion"))
_EXPRESSIONS = frozenset(
    ("NamedValue", "HierarchicalValue", "IntegerLiteral", "UnbasedUnsizedIntegerLiteral", "UnaryOp",
     "BinaryOp", "ConditionalOp", "Inside", "ValueRange", "Concatenation", "Replication", "ElementSelect",
     "RangeSelect", "MemberAccess", "Call", "Conversion", "Assignment", "SimpleAssignmentPattern",
     "StructuredAssignmentPattern", "ReplicatedAssignmentPattern", "Streaming", "StreamingConcatenation",
     "DataType", "EmptyArgument", "LValueReference", "Iterator", "Attribute")
)  # fmt: skip
#: Of the system's functions, those that have one value for their arguments.
_FUNCTIONS = frozenset(
    ("$signed", "$unsigned", "$clog2", "$bits", "$size", "$left", "$right", "$low", "$high", "$increment",
     "$dimensions", "$unpacked_dimensions", "$countones", "$onehot", "$onehot0", "$cast")
)  # fmt: skip
#: Tasks that print, or end a simulation.
_TASKS = frozenset(
    ("$display", "$write", "$error", "$warning", "$info", "$fatal", "$strobe", "$monitor", "$finish", "$stop")
)
_GATES = frozenset(("and", "or", "xor", "nand", "nor", "xnor", "not", "buf"))
_NETS = frozenset(("wire", "uwire", "tri"))
_STEPS = ("Preincrement", "Postincrement", "Predecrement", "Postdecrement")
#: What an x may be a part of, and the result of.
_RESULTS = ("", "Assignment", "ConditionalOp", "Concatenation", "Replication", "Return")
_RACE = "is assigned by = and read by a block with a clock, which may run before or after: use <="
_X = re.compile(r"'s?[bodh]?[0-9a-f_]*[xz?]", re.IGNORECASE)


@dataclass(frozen=True)
class Sources:
    """Places of declarations, by variables' names in the netlist, and of blocks, in their order."""

    places: Mapping[str, str]
    blocks: Sequence[str] = ()


def check_meaning(tree: VerilogTree, roots: Sequence[str], sources: Sources) -> None:
    """Check that simulators and the netlist agree on what some variables, by their names, hold.

    Raises :class:`.TcsmtError`, with file and line, where they may not.
    """
    _Checking(VerilogBlocks(tree), sources).run(roots)


class _Checking:
    def __init__(self, design: VerilogBlocks, sources: Sources) -> None:
        self.design = design
        self.sources = sources
        self.named = design.tree.named
        self.own: dict[VerilogBlock, set[str]] = {}
        procedural = [block for block in design.blocks if block.node.get("kind") == "ProceduralBlock"]
        procedural = [block for block in procedural if block.kind not in ("initial", "final")]
        known = len(procedural) == len(sources.blocks)
        self.places = dict(zip(procedural, sources.blocks, strict=True)) if known else {}

    def run(self, roots: Sequence[str]) -> None:
        for node in self.design.others:
            if node["kind"] not in _SYMBOLS:
                raise TcsmtError(
                    f"{node.get('name') or 'the design'}: {_said(node['kind'])} is not supported"
                )
        starts = [variable for variable, name in self.design.names.items() if name in roots]
        needed = self.design.leading_to(starts)
        for block in needed:
            self._check_nets(block)
            self._check_code(block)
            if block.kind == "combinational":
                self._check_sensitivity(block)
            elif block.kind == "assign":
                self._check_assignment(block)
            elif block.kind == "clocked":
                self._check_clocked(block)
            elif block.kind == "initial":
                self._check_initial(block)
        self._check_races(needed)

    def error(self, block: VerilogBlock, what: str, variable: str = "") -> TcsmtError:
        """Return an error about a block, or about a variable in it."""
        near = [variable, *sorted(block.writes)]
        places = [self.sources.places.get(self.design.names.get(name, ""), "") for name in near]
        place = self.places.get(block, "") or next(filter(None, places), "")
        return TcsmtError(f"{place}: {what}" if place else what)

    def name(self, variable: str) -> str:
        node = self.named.get(variable, {})
        return self.design.names.get(variable) or str(node.get("name", "a variable"))

    def names(self, variables: Sequence[str]) -> str:
        return ", ".join(sorted(map(self.name, variables))[:3])

    def _signals(self, variables: Iterator[str]) -> set[str]:
        """Return those that are variables or nets of modules, not constants nor a block's own."""
        return {variable for variable in variables if variable in self.design.names}

    def _own(self, block: VerilogBlock) -> set[str]:
        if block not in self.own:
            self.own[block] = _own_variables(block)
        return self.own[block]

    def _check_sensitivity(self, block: VerilogBlock) -> None:
        kind = block.node["procedureKind"]
        later = {use.variable for use in (*block.uses, *block.in_functions) if use.later}
        if later:
            raise self.error(
                block,
                f"{self.names([*later])} is assigned by <= in a block without a clock: use =",
                min(later),
            )
        if kind in ("AlwaysComb", "AlwaysLatch"):  # functions that it calls start it, tasks do not
            by_tasks = {use.variable for use in block.in_tasks if not use.changes}
            by_itself = {use.variable for use in block.uses if not use.changes}
            hidden = self._signals(iter(by_tasks)) - by_itself - block.writes
            if hidden:
                what = "is read by a task alone, which does not start this block: make it a function"
                raise self.error(block, f"{self.names([*hidden])} {what}", min(hidden))
            return
        inputs = self._signals(iter(block.reads)) - block.writes - self._own(block)
        if block.node["body"]["kind"] != "Timed":
            raise self.error(block, "always without @ never ends")
        if block.events is None:
            listed = self._signals(iter({use.variable for use in block.uses if not use.changes}))
            start = "is read by a function alone, which does not start always @*: use always_comb"
        else:
            listed = set()
            for event in block.events:
                expression = event.get("expr", {})
                if (
                    event["kind"] != "SignalEvent"
                    or "iffCondition" in event
                    or expression.get("kind") != "NamedValue"
                ):
                    raise self.error(block, "a list of events has only names, each with or without an edge")
                listed.add(address(expression, "symbol"))
            start = "is read, but not in the list of events of this block: use always_comb"
        missing = inputs - listed
        if missing:
            raise self.error(block, f"{self.names([*missing])} {start}", min(missing))
        if not (listed - block.writes):
            raise self.error(block, "nothing starts this block: use always_comb")

    def _check_assignment(self, block: VerilogBlock) -> None:
        used = {use.variable for use in block.uses}
        hidden = self._signals(iter({use.variable for use in block.in_functions})) - used
        if hidden:
            names = self.names([*hidden])
            what = f"a function in an assignment uses {names}, which starts nothing: make it an argument"
            raise self.error(block, what, min(hidden))

    def _check_clocked(self, block: VerilogBlock) -> None:
        for event in block.events or ():
            if event.get("edge") not in ("PosEdge", "NegEdge") or not _is_name(event):
                raise self.error(block, "the events of a clocked block are posedge or negedge of names")
        later = {use.variable for use in block.uses if use.changes and use.later}
        both = later & block.at_once
        if both:
            raise self.error(block, f"{self.names([*both])} is assigned by = and by <=", min(both))

    def _check_initial(self, block: VerilogBlock) -> None:
        read = self._signals(iter(block.reads)) - block.writes - self._own(block)
        if read:
            names = self.names([*block.writes])
            what = f"what {names} is at first depends on {self.names([*read])}, which is read once"
            raise self.error(block, what, min(read))

    def _check_races(self, needed: Sequence[VerilogBlock]) -> None:
        """Check that what a clocked block assigns at once is read by no block at the same edge."""
        clocked = [block for block in needed if block.kind == "clocked"]
        settling = [block for block in needed if block.kind in ("combinational", "assign")]
        for block in clocked:
            for variable in self._signals(iter(block.at_once)) - self._own(block):
                reached, waiting = {variable}, [variable]
                while waiting:
                    source = waiting.pop()
                    for other in settling:
                        if source in other.reads - self._own(other):
                            new = other.writes - reached
                            reached |= new
                            waiting += new
                for other in clocked:
                    read = (other.reads - self._own(other)) & reached
                    if other is block:
                        read -= {variable}
                    if read:
                        raise self.error(block, f"{self.name(variable)} {_RACE}", variable)

    def _check_nets(self, block: VerilogBlock) -> None:
        for variable in block.writes:
            node = self.named.get(variable, {})
            if node.get("kind") == "Net":
                net = str(node.get("netType", {}).get("name", ""))
                if net not in _NETS:
                    raise self.error(
                        block, f"{self.name(variable)}: a net of type {net} is not supported", variable
                    )

    def _check_code(self, block: VerilogBlock) -> None:
        if "delay" in block.node or "driveStrength0" in block.node or "driveStrength1" in block.node:
            raise self.error(block, "a delay or a strength is not supported")
        if block.node.get("kind") == "PrimitiveInstance":
            gate = str(block.node["primitiveType"]).partition(" ")[2]
            if gate not in _GATES:
                raise self.error(block, f"the primitive {gate} is not supported")
            self._check(block, block.node["ports"], None)
        else:
            self._check(block, block.body, None)
        for routine in self.design.routines(block.body):
            for part in parts(routine):
                if part["kind"] == "Variable" and part.get("lifetime") == "Static" and "initializer" in part:
                    raise self.error(
                        block, f"{routine['name']}: the static variable {part['name']} keeps its value"
                    )
            self._check(block, routine.get("body", {}), None)

    def _check(self, block: VerilogBlock, node: object, parent: VerilogNode | None) -> None:
        if isinstance(node, list):
            for part in node:
                self._check(block, part, parent)
            return
        if not isinstance(node, Mapping):
            return
        kind = node.get("kind")
        if kind in _ASSERTIONS:
            return
        if kind is not None:
            self._check_node(block, node, parent)
        if kind == "Call" and not address(node, "subroutine").isdigit():
            name = str(node["subroutine"])
            if name in _TASKS:
                return
            if name not in _FUNCTIONS and not (
                name in ("$readmemh", "$readmemb") and block.kind == "initial"
            ):
                raise self.error(block, f"{name} is not supported")
        for name, part in node.items():
            if name not in ("symbol", "type", "members", "attributes", "sourceRange"):
                self._check(block, part, node if kind not in (None, "Conversion") else parent)

    def _check_node(self, block: VerilogBlock, node: VerilogNode, parent: VerilogNode | None) -> None:
        kind = node["kind"]
        if kind not in _STATEMENTS and kind not in _EXPRESSIONS:
            raise self.error(block, f"{_said(kind)} is not supported")
        if "timingControl" in node:
            raise self.error(block, "a delay is not supported")
        if kind == "Block" and node.get("blockKind") != "Sequential":
            raise self.error(block, "fork is not supported")
        if any("pattern" in condition for condition in node.get("conditions", ())):
            raise self.error(block, "matches is not supported")
        if kind in ("Conditional", "Case"):
            fault = choice_fault(node, self.design.tree)
            if fault:
                raise self.error(block, fault)
        if kind == "Assignment" or (kind == "UnaryOp" and node["op"] in _STEPS):
            alone = parent is None or parent["kind"] in ("ExpressionStatement", "ForLoop", "Call")
            if not alone:
                raise self.error(block, "an assignment within an expression is not supported")
        if kind == "Call" and parent is not None and parent["kind"] not in ("ExpressionStatement", "List"):
            self._check_call(block, node)
        if kind in ("IntegerLiteral", "UnbasedUnsizedIntegerLiteral"):
            self._check_literal(block, node, parent)

    def _check_call(self, block: VerilogBlock, node: VerilogNode) -> None:
        """Check that a call within an expression only has a value: the order of its effects is open."""
        routine = self.named.get(address(node, "subroutine"))
        changed = [use.variable for use in self.design.called(node) if use.changes]
        if changed or any(part.get("kind") == "Assignment" for part in node.get("arguments", ())):
            name = str((routine or {}).get("name", "a function"))
            raise self.error(block, f"{name}, which changes variables, is called within an expression")

    def _check_literal(self, block: VerilogBlock, node: VerilogNode, parent: VerilogNode | None) -> None:
        text = str(node.get("value", ""))
        if not (_X.search(text) or text in ("x", "z")):
            return
        above = parent["kind"] if parent is not None else ""
        if (
            above == "Case"
            and parent is not None
            and parent.get("condition") in ("WildcardXOrZ", "WildcardJustZ")
        ):
            return
        wild = parent is not None and str(parent.get("op", "")).startswith("Wildcard")
        if wild or above in ("Inside", "ValueRange"):
            return
        if "z" in text.lower() or above not in _RESULTS:
            raise self.error(
                block, f"{text}: bits that are x or z are supported as a result alone, and x alone"
            )


def _is_name(event: VerilogNode) -> bool:
    """Return whether an event is that of a variable or a net, at any time."""
    named = event["kind"] == "SignalEvent" and event["expr"]["kind"] == "NamedValue"
    return named and "iffCondition" not in event


def _said(kind: str) -> str:
    """Return a kind of slang's syntax tree in words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind).lower()


def _own_variables(block: VerilogBlock) -> set[str]:
    """Return the variables that only this block uses: loop variables, and those that are declared in it."""
    loops = [part for part in parts(block.body) if part.get("kind") == "ForLoop"]
    started = {
        address(part["left"], "symbol")
        for loop in loops
        for part in loop.get("initializers", ())
        if part.get("kind") == "Assignment"
    }
    inside: dict[str, int] = {}
    for loop in loops:
        if any(loop in [*parts(other)][1:] for other in loops):
            continue
        for part in parts(loop):
            if part.get("kind") == "NamedValue":
                inside[address(part, "symbol")] = inside.get(address(part, "symbol"), 0) + 1
    everywhere: dict[str, int] = {}
    for part in parts(block.body):
        if part.get("kind") == "NamedValue":
            everywhere[address(part, "symbol")] = everywhere.get(address(part, "symbol"), 0) + 1
    declared = {
        address(part, "symbol") for part in parts(block.body) if part.get("kind") == "VariableDeclaration"
    }
    return declared | {variable for variable in started if inside.get(variable) == everywhere[variable]}
