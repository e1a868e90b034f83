"""The syntax tree of a SystemVerilog design, elaborated, as slang writes it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tcsmt.interop.implementations.verilog_types import VerilogType, read_type
from tcsmt.support.errors import TcsmtError

#: A node: a symbol, a statement or an expression.
VerilogNode = Mapping[str, Any]
#: Scopes in which variables lie.
_SCOPES = ("Instance", "GenerateBlock", "GenerateBlockArray")


def tree_in(output: str) -> tuple[str, str]:
    """Return the syntax tree in what Yosys has printed, and the rest."""
    lines = output.splitlines()
    if "{" not in lines:
        return "", output
    first = lines.index("{")
    last = lines.index("}", first) if "}" in lines[first:] else len(lines) - 1
    return "\n".join(lines[first : last + 1]), "\n".join([*lines[:first], *lines[last + 1 :]])


@dataclass
class VerilogTree:
    """A design. top: its module, as it is instantiated. named: the nodes that have an address, by it."""

    top: VerilogNode
    named: dict[str, VerilogNode] = field(default_factory=dict)

    def type_of(self, node: VerilogNode) -> VerilogType:
        """Return the type of a symbol or an expression. Raises :class:`.TcsmtError` for one without fixed
        bits.
        """
        return read_type(str(node["type"]), self.named)

    @property
    def types(self) -> dict[str, VerilogType]:
        """Return the types of the module's ports and of all variables and nets, by their names in the
        netlist.

        What has no fixed number of bits is left out, and so is what lies in an array of instances.
        """
        found: dict[str, VerilogType] = {}
        for name, node in self.variables():
            try:
                found[name] = self.type_of(node)
            except TcsmtError:
                continue
        return found

    def variables(self) -> Iterator[tuple[str, VerilogNode]]:
        """Yield the variables and nets, with their names in the netlist."""
        yield from _variables("", self.top)


def _variables(prefix: str, scope: VerilogNode) -> Iterator[tuple[str, VerilogNode]]:
    for node in members(scope):
        kind, name = node["kind"], str(node.get("name", ""))
        if kind in ("Variable", "Net"):
            yield prefix + name, node
        elif kind == "GenerateBlockArray":
            for block in members(node):
                index = next((m["value"] for m in members(block) if m["kind"] == "Parameter"), None)
                if index is not None:
                    yield from _variables(f"{prefix}{name}[{index}].", block)
        elif kind in _SCOPES and name:
            yield from _variables(f"{prefix}{name}.", node)


def members(scope: VerilogNode) -> list[VerilogNode]:
    """Return the symbols in a scope, those of an instance's body."""
    body: VerilogNode = scope.get("body", {}) if scope["kind"] == "Instance" else scope
    return list(body.get("members", ()))


def read_verilog_tree(text: str, top: str) -> VerilogTree:
    """Return the tree of a text. top: the module's name. Raises :class:`.TcsmtError`."""
    try:
        root = json.loads(text)
    except (ValueError, RecursionError):
        raise TcsmtError("the syntax tree of the design cannot be read") from None
    instances = [node for node in root["members"] if node["kind"] == "Instance"]
    found = [node for node in instances if node["body"]["name"] == top]
    if len(found) != 1:
        raise TcsmtError(f"the syntax tree of the design has no module {top}")
    named: dict[str, VerilogNode] = {}
    waiting: list[Any] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if "addr" in node:
                named[str(node["addr"])] = node
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node
    return VerilogTree(found[0], named | _type_parameters(named.values()))


def _type_parameters(nodes: Iterable[VerilogNode]) -> dict[str, VerilogNode]:
    """Return what type parameters stand for, by ``MODULE.NAME``: the tree has no address of theirs.

    One that differs between instances is left out, and so is one that is only said to be itself.
    """
    texts: dict[str, set[str]] = {}
    for body in nodes:
        if body["kind"] == "InstanceBody":
            for node in body.get("members", ()):
                if node["kind"] == "TypeParameter":
                    texts.setdefault(f"{body['name']}.{node['name']}", set()).add(str(node["type"]))
    return {
        name: {"kind": "TypeAlias", "target": target}
        for name, (target, *others) in ((name, [*of]) for name, of in texts.items())
        if not others and not target.endswith(f" {name}")
    }
