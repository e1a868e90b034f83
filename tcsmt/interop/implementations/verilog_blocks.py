"""The words that the blocks of a SystemVerilog design read and write, and the blocks that its result depends
on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tcsmt.interop.implementations.verilog_tree import VerilogNode, VerilogTree, members

#: Operators that change their operand.
_STEPS = ("Preincrement", "Postincrement", "Predecrement", "Postdecrement")


@dataclass(frozen=True)
class Access:
    """A use of a variable. changes: it is assigned; else it is read. later: by a nonblocking assignment."""

    variable: str
    changes: bool
    later: bool = False


@dataclass(frozen=True, eq=False)
class VerilogBlock:
    """A procedural block, a continuous assignment, or a connection of a port.

    kind: ``clocked``, ``combinational``, ``assign``, ``initial`` or ``final``. body: what it does, behind its
    events. events: of an explicit list; None: it has none. uses: of variables, in itself; in_functions: in
    what it calls.
    """

    node: VerilogNode
    kind: str
    body: VerilogNode
    events: tuple[VerilogNode, ...] | None
    uses: tuple[Access, ...]
    in_functions: tuple[Access, ...]
    in_tasks: tuple[Access, ...] = ()

    @cached_property
    def reads(self) -> frozenset[str]:
        """Return the variables that it reads, by their addresses, in functions that it calls, too."""
        return frozenset(use.variable for use in (*self.uses, *self.in_functions) if not use.changes)

    @cached_property
    def writes(self) -> frozenset[str]:
        """Return the variables that it assigns, by their addresses."""
        return frozenset(use.variable for use in (*self.uses, *self.in_functions) if use.changes)

    @cached_property
    def at_once(self) -> frozenset[str]:
        """Return those that a blocking assignment changes."""
        uses = (*self.uses, *self.in_functions)
        return frozenset(use.variable for use in uses if use.changes and not use.later)


@dataclass
class VerilogBlocks:
    """All blocks of a design.

    names: of variables and nets, as in the netlist, by their addresses. others: symbols that are neither
    these nor blocks.
    """

    tree: VerilogTree
    blocks: list[VerilogBlock] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    others: list[VerilogNode] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._scope("", self.tree.top)

    def leading_to(self, roots: Iterable[str]) -> list[VerilogBlock]:
        """Return the blocks that some variables, by their addresses, depend on."""
        writers: dict[str, list[VerilogBlock]] = {}
        for block in self.blocks:
            for variable in block.writes:
                writers.setdefault(variable, []).append(block)
        seen: dict[VerilogBlock, None] = {}
        waiting = list(roots)
        known = set(waiting)
        while waiting:
            for block in writers.get(waiting.pop(), ()):
                if block not in seen:
                    seen[block] = None
                    needed = {*block.reads, *block.writes, *_events(block)}
                    waiting += needed - known
                    known |= needed
        return list(seen)

    def _scope(self, prefix: str, scope: VerilogNode) -> None:
        for node in members(scope):
            kind, name = node["kind"], str(node.get("name", ""))
            if kind in ("Variable", "Net"):
                if node.get("lifetime") == "Automatic":  # its initial value is given each time
                    continue
                self.names[address(node)] = prefix + name
                if kind == "Net" and "initializer" in node:
                    uses = [*self._uses(node["initializer"]), Access(address(node), True)]
                    self._add(node, "assign", node["initializer"], uses)
                elif "initializer" in node:
                    uses = [*self._uses(node["initializer"]), Access(address(node), True)]
                    self._add(node, "initial", node["initializer"], uses)
            elif kind == "ContinuousAssign":
                self._add(node, "assign", node["assignment"], self._uses(node["assignment"]))
            elif kind == "PrimitiveInstance":
                self._add(node, "assign", node, self._uses(node["ports"]))
            elif kind == "ProceduralBlock":
                self._block(node)
            elif kind == "GenerateBlockArray":
                for block in members(node):
                    index = next((m["value"] for m in members(block) if m["kind"] == "Parameter"), "")
                    self._scope(f"{prefix}{name}[{index}].", block)
            elif kind in ("GenerateBlock", "StatementBlock"):
                self._scope(f"{prefix}{name}." if name else prefix, node)
            elif kind == "InstanceArray":
                for instance in members(node):
                    self._instance(f"{prefix}{name}[].", instance)
            elif kind == "Instance":
                self._instance(f"{prefix}{name}.", node)
            else:
                self.others.append(node)

    def _instance(self, prefix: str, node: VerilogNode) -> None:
        self._scope(prefix, node)
        for connection in node.get("connections", ()):
            port, expression = connection["port"], connection.get("expr")
            if expression is None or "internalSymbol" not in port:
                continue
            inner = address(port, "internalSymbol")
            if expression["kind"] == "Assignment":  # of an output
                written = [use for use in self._uses(expression) if use.changes]
                self._add(connection, "assign", expression, [*written, Access(inner, False)])
            else:
                uses = [*self._uses(expression), Access(inner, True)]
                self._add(connection, "assign", expression, uses)

    def _add(self, node: VerilogNode, kind: str, body: VerilogNode, uses: Iterable[Access]) -> None:
        self.blocks.append(VerilogBlock(node, kind, body, None, tuple(uses), tuple(self.called(body))))

    def _block(self, node: VerilogNode) -> None:
        body, procedure = node["body"], node["procedureKind"]
        events = None
        kind = {"Initial": "initial", "Final": "final"}.get(procedure, "combinational")
        if body["kind"] == "Timed" and kind == "combinational":
            timing, body = body["timing"], body["stmt"]
            if timing["kind"] == "EventList":
                events = tuple(timing["events"])
            elif timing["kind"] != "ImplicitEvent":
                events = (timing,)
            if events and any(event.get("edge", "None") != "None" for event in events):
                kind = "clocked"
        uses, called = tuple(self._uses(body)), tuple(self.called(body))
        self.blocks.append(
            VerilogBlock(node, kind, body, events, uses, called, tuple(self.called(body, "Task")))
        )

    def _uses(self, node: Any) -> Iterator[Access]:
        """Yield what a statement or an expression reads and assigns itself."""
        if isinstance(node, list):
            for part in node:
                yield from self._uses(part)
            return
        if not isinstance(node, Mapping):
            return
        kind = node.get("kind")
        if kind in ("NamedValue", "HierarchicalValue"):
            yield Access(self._variable(node), False)
        elif kind == "Assignment":
            yield from self._uses(node["right"])
            if "op" in node:
                yield from self._uses(node["left"])
            yield from self._assigned(node["left"], bool(node.get("isNonBlocking")))
        elif kind == "UnaryOp" and node["op"] in _STEPS:
            yield from self._assigned(node["operand"], False)
            yield from self._uses(node["operand"])
        else:
            if kind == "VariableDeclaration":
                symbol = self.tree.named.get(address(node, "symbol"), {})
                yield from self._uses(symbol.get("initializer"))
            for name, part in node.items():
                if name not in ("symbol", "type", "members"):
                    yield from self._uses(part)

    def _variable(self, node: VerilogNode) -> str:
        """Return the variable that a name stands for, behind the ports of interfaces."""
        variable = address(node, "symbol")
        while "internalSymbol" in self.tree.named.get(variable, {}):
            variable = address(self.tree.named[variable], "internalSymbol")
        return variable

    def _assigned(self, target: VerilogNode, later: bool) -> Iterator[Access]:
        """Yield the variables that are assigned, and what chooses their parts."""
        kind = target["kind"]
        if kind in ("NamedValue", "HierarchicalValue"):
            yield Access(self._variable(target), True, later)
        elif kind in ("ElementSelect", "RangeSelect", "MemberAccess"):
            yield from self._assigned(target["value"], later)
            for name in ("selector", "left", "right"):
                yield from self._uses(target.get(name))
        elif kind == "Conversion":
            yield from self._assigned(target["operand"], later)
        else:
            for part in target.get("operands", target.get("elements", ())):
                yield from self._assigned(part, later)

    def called(self, node: VerilogNode, kind: str = "") -> Iterator[Access]:
        """Yield what the functions and tasks that are called, directly or by others, do outside of
        themselves.
        """
        for routine in self.routines(node):
            if kind and routine.get("subroutineKind") != kind:
                continue
            variables = {address(part) for part in parts(routine) if "addr" in part}
            yield from (use for use in self._uses(routine.get("body")) if use.variable not in variables)

    def routines(self, node: VerilogNode) -> list[VerilogNode]:
        """Return the functions and tasks that are called."""
        found: dict[str, VerilogNode] = {}
        waiting = [node]
        while waiting:
            for part in parts(waiting.pop()):
                if part.get("kind") == "Call":
                    called = address(part, "subroutine")
                    routine = self.tree.named.get(called)
                    if routine is not None and called not in found:
                        found[called] = routine
                        waiting.append(routine.get("body", {}))
        return list(found.values())


def _events(block: VerilogBlock) -> set[str]:
    return {
        str(part["symbol"]).partition(" ")[0]
        for event in block.events or ()
        for part in parts(event)
        if part.get("kind") in ("NamedValue", "HierarchicalValue")
    }


def address(node: VerilogNode, key: str = "addr") -> str:
    """Return a node's address, or the one that another of its fields names."""
    return str(node.get(key, "")).partition(" ")[0]


def parts(node: Any) -> Iterator[VerilogNode]:
    """Yield a node and all nodes in it, in the order of the source."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            if "kind" in part:
                yield part
            waiting += reversed(list(part.values()))
        elif isinstance(part, list):
            waiting += reversed(part)
