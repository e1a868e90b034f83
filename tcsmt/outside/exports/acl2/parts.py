"""Long functions of ACL2 as calls of short ones.

ACL2's simulation takes each binding of a ``let*`` as a function of all variables that are still needed, and
looks up every one: its time grows with the square of these, which in a unit are hundreds. So what is computed
from some inputs alone, and in a maximum's place from that, is a function with those arguments; lanes that
compute the same share it.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field

from tcsmt.language.terms import Term
from tcsmt.language.write.acl2 import Acl2Writer, defined

__all__ = ["Parts"]

#: With fewer operations, a part is written where it is used.
_FEW = 4


@dataclass
class Parts:
    """Writes terms as calls of functions. definitions: of these, in order, each made of earlier ones."""

    write: Acl2Writer
    definitions: list[str] = field(default_factory=list)
    _names: dict[str, str] = field(default_factory=dict)

    def bindings(
        self, roots: Sequence[Term], names: Mapping[Term, str]
    ) -> tuple[list[tuple[str, str]], list[str]]:
        """As :meth:`.Acl2Writer.bindings`, with the functions that it needs among the definitions."""
        text = dict(names)
        lines: list[tuple[str, str]] = []
        for part, below in self._parts(roots, names).items():
            formals = {node: f"x-{number}" for number, node in enumerate(below)}
            inner, (value,) = self.write.bindings([part], formals)
            function = self._function([*formals.values()], inner, value)
            args = [text[node] if node in text else self.write.inputs[str(node.data)] for node in below]
            text[part] = f"p-{len(lines)}"
            lines.append((text[part], f"({' '.join([function, *args])})"))
        return lines, [self.write.bindings([root], text)[1][0] for root in roots]

    def _function(self, formals: Sequence[str], bindings: Sequence[tuple[str, str]], value: str) -> str:
        body = defined("", formals, bindings, value)
        if body not in self._names:
            name = self._names[body] = f"part-{len(self._names)}"
            self.definitions.append(defined(name, formals, bindings, value))
        return self._names[body]

    def _parts(self, roots: Sequence[Term], names: Mapping[Term, str]) -> dict[Term, list[Term]]:
        """Return the nodes that have a function, operands first, and what each is a function of."""
        order = self.write.operands_first(roots, names)
        sources = _sources(order, names)
        needed = {_word(node, names) for node in [*roots, *(node for node in order if node.op == "umax")]}
        outer = {_word(arg, names) for node in order for arg in node.args if sources[arg] != sources[node]}
        parts: dict[Term, list[Term]] = {}
        for node in order:
            if node.args and (node in needed or node in outer):
                size, below = self._cone(node, parts, names)
                if size >= _FEW or node in needed:
                    parts[node] = below
        return parts

    def _cone(
        self, root: Term, parts: Mapping[Term, object], names: Mapping[Term, str]
    ) -> tuple[int, list[Term]]:
        """Return how many operations are between a node and the inputs and parts below it, and these."""
        size, below, seen = 0, dict[Term, None](), {root}
        pending = [root]
        while pending:
            node = pending.pop()
            if node is not root and (node in parts or node in names or node.op == "var"):
                below[node] = None
                continue
            size += bool(node.args) and node.op != "zext"
            for arg in reversed(self.write.arguments(node)):
                if arg not in seen:
                    seen.add(arg)
                    pending.append(arg)
        return size, list(below)


def _word(node: Term, names: Container[Term]) -> Term:
    """Return the node whose number this one has, too."""
    while node.op == "zext" and node not in names:
        (node,) = node.args
    return node


def _sources(order: Sequence[Term], names: Mapping[Term, str]) -> dict[Term, tuple[int, int]]:
    """Of each node bits for what it is made of: not through a maximum, and all."""
    leaves = [*names, *(node for node in order if node.op == "var")]
    sources = {leaf: (1 << number, 1 << number) for number, leaf in enumerate(leaves)}
    for node in order:
        if node not in sources:
            near = everything = 0
            for arg in node.args:
                near, everything = near | sources[arg][0], everything | sources[arg][1]
            sources[node] = (0 if node.op == "umax" else near), everything
    return sources
