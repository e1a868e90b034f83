"""The syntax tree of a file of C, as clang's front end writes it: functions, expressions, types, places."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tcsmt.support.errors import TcsmtError


@dataclass(frozen=True, eq=False)
class CNode:
    """A node of the tree: a declaration, a statement, an expression or an attribute.

    kind: clang's name of it. type: of an expression or a declaration, as it is written. place: ``FILE:LINE``.
    data: what else clang says. inner: the nodes below it; an empty one where an optional part is missing.
    """

    kind: str
    type: str
    place: str
    data: Mapping[str, Any]
    inner: tuple[CNode, ...]

    @property
    def name(self) -> str:
        """Return the name that it declares, or that a member has."""
        return str(self.data.get("name", ""))

    @property
    def opcode(self) -> str:
        """Return the opcode of an operator."""
        return str(self.data.get("opcode", ""))

    @property
    def cast(self) -> str:
        """Return which kind of cast it is."""
        return str(self.data.get("castKind", ""))

    @property
    def is_expression(self) -> bool:
        """Return whether it has a value or is an object."""
        return "valueCategory" in self.data

    @property
    def declared(self) -> Mapping[str, Any]:
        """Return what a name in an expression stands for."""
        declaration: Mapping[str, Any] = self.data.get("referencedDecl", {})
        return declaration

    def walk(self) -> Iterator[CNode]:
        """Yield it and everything below it."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(node.inner)


@dataclass
class CTree:
    """A file. functions: those that have a body, by name. types: what names of types stand for.

    unions: the members of unions, by their identity. labelled: functions and variables whose declaration has
    another name for the assembler. wide: bit-fields whose types are wider than int. records: the types of the
    members of structures and unions, by their names; under "" those of all that have none.
    """

    functions: dict[str, CNode] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    unions: frozenset[str] = frozenset()
    labelled: frozenset[str] = frozenset()
    wide: frozenset[str] = frozenset()
    records: dict[str, list[str]] = field(default_factory=dict)

    def called_from(self, name: str) -> list[CNode]:
        """Return a function, and all that it calls, directly or through others, as far as in the file."""
        called: dict[str, CNode] = {}
        waiting = [name]
        while waiting:
            function = waiting.pop()
            if function in self.functions and function not in called:
                called[function] = self.functions[function]
                waiting += [
                    str(node.declared.get("name", ""))
                    for node in called[function].walk()
                    if node.kind == "DeclRefExpr" and node.declared.get("kind") == "FunctionDecl"
                ]
        return list(called.values())


def read_tree(text: str) -> CTree:
    """Return the tree that ``clang -Xclang -ast-dump=json`` prints. Raises :class:`.TcsmtError`."""
    try:
        root = _Places().node(json.loads(text))
        tree, unions, labelled, wide_fields = CTree(), set(), set(), set()
        nameless: dict[str, list[str]] = {}  # structures that a typedef names
        for node in root.walk():
            if any(part.kind == "AsmLabelAttr" for part in node.inner):
                labelled.add(node.name)
            if node.kind == "FunctionDecl" and any(part.kind == "CompoundStmt" for part in node.inner):
                tree.functions[node.name] = node
            elif node.kind == "TypedefDecl":
                tree.types[node.name] = node.type
                for part in node.inner:
                    tag = str(part.data.get("ownedTagDecl", {}).get("id"))
                    if tag in nameless:
                        tree.records[node.name] = nameless[tag]
            elif node.kind == "RecordDecl" and node.data.get("completeDefinition"):
                members = [part for part in node.inner if part.kind == "FieldDecl"]
                types = [part.type for part in members]
                wide_fields |= {str(part.data["id"]) for part in members if _is_wide(part)}
                if node.name:
                    tree.records[node.name] = types
                else:
                    nameless[str(node.data["id"])] = types
                    tree.records.setdefault("", []).extend(types)
                if node.data.get("tagUsed") == "union":
                    unions |= {str(part.data["id"]) for part in members}
    except RecursionError:
        raise TcsmtError("C whose expressions or statements are nested too deeply") from None
    tree.unions, tree.labelled, tree.wide = map(frozenset, (unions, labelled, wide_fields))
    return tree


def _is_wide(member: CNode) -> bool:
    """Return whether it is a bit-field of a type that C leaves to the compiler, and which is wider than
    int.
    """
    kind = str(member.data.get("type", {}).get("desugaredQualType", member.type))
    return bool(member.data.get("isBitfield")) and "long" in kind


class _Places:
    """Nodes with their places: a place says file and line only where they are not those of the one before."""

    def __init__(self) -> None:
        self.file, self.line, self.start = "", 0, ""

    def node(self, data: dict[str, Any]) -> CNode:
        for key in ("loc", "range"):
            if key in data:
                self._passed(data[key])
        begin = data.get("range", {}).get("begin", {})
        place = self.start if "range" in data and begin else ""
        inner = tuple(self.node(part) for part in data.get("inner", ()))
        kind_of = data.get("type", {})
        return CNode(str(data.get("kind", "")), str(kind_of.get("qualType", "")), place, data, inner)

    def _passed(self, location: Any) -> None:
        """Go past a place, or the two of a range; what a macro is expanded from counts as well."""
        if not isinstance(location, dict):
            return
        if "begin" in location:
            self._passed(location["begin"])
            self.start = f"{self.file}:{self.line}"
            self._passed(location.get("end"))
            return
        for key, value in location.items():
            if key in ("spellingLoc", "expansionLoc"):
                self._passed(value)
            elif key == "file":
                self.file = str(value)
            elif key == "line":
                self.line = int(value)
