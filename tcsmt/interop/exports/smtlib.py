"""A model as SMT-LIB 2.6: constants for its inputs, a ``define-fun`` for each stage, and ``d``.

A named node is a ``define-fun``, and what it alone uses a ``let``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from tcsmt.interop.exports.design import Design
from tcsmt.language.terms import Term, operands_first, variables
from tcsmt.language.write.inlining import Inlining, fresh
from tcsmt.language.write.smtlib import DEPTH, declarations, express, maxima, sort, symbol


def functions(root: Term, names: Mapping[Term, str]) -> tuple[list[str], str]:
    """Return lines that declare the variables and define the named nodes, and an expression for ``root``.

    names: of nodes below the root, without macros, each of which becomes one ``define-fun``; so does a word
    that several of them use. What a single one uses is a ``let`` within it.
    """
    nodes = operands_first([root])
    owner = _owners(nodes, root, names)
    others = fresh({str(v.data) for v in variables([root])} | set(names.values()))
    lines = [*declarations(variables([root])), *maxima(nodes)]
    members: dict[Term, list[Term]] = {}
    for node in nodes:
        members.setdefault(owner[node], []).append(node)
    text = {node: express(node, {}) for node in nodes if not node.args}
    for node in nodes:
        if node.args and owner[node] is node:
            expression = _with_lets(members[node], text, others)
            text[node] = symbol(names[node] if node in names else next(others))
            lines.append(f"(define-fun {text[node]} () {sort(node.width)} {expression})")
    return lines, text[root]


def _owners(nodes: Sequence[Term], root: Term, names: Mapping[Term, str]) -> dict[Term, Term]:
    """Return for each node the one in whose definition it is written."""
    owner: dict[Term, Term] = {root: root}
    for node in reversed(nodes):
        if node in names:
            owner[node] = node
        for arg in node.args:
            mine = owner[node]
            owner[arg] = mine if owner.get(arg, mine) is mine else arg
    return owner


def _with_lets(members: Sequence[Term], outside: Mapping[Term, str], names: Iterator[str]) -> str:
    """Return an expression for the last of some nodes; those that are used twice are bound before it."""
    inner = [node for node in members if node.args]
    uses = Counter(arg for node in inner for arg in node.args)
    bound: list[tuple[str, str]] = []

    def bind(node: Term, expression: str) -> str:
        bound.append((next(names), expression))
        return bound[-1][0]

    text = Inlining(DEPTH, bind)
    text.update(outside)
    for node in inner[:-1]:
        text.add(node, express(node, text), node.args, named=uses[node] > 1)
    result = express(inner[-1], text)
    for name, expression in reversed(bound):
        result = f"(let (({name} {expression})) {result})"
    return result


def smtlib(design: Design) -> str:
    """Return the text of the file. It asks nothing: what is asked of ``d`` comes after it."""
    nodes = design.ordered([design.root])
    names = design.names(nodes, [f"umax{node.width}" for node in nodes if node.op == "umax"])
    stages = {node: name for node, name in names.items() if node.args}
    lines, result = functions(design.root, stages)
    unused = set(design.model.input_names) - {str(node.data) for node in nodes if node.op == "var"}
    declared = [
        f"(declare-const {name} {sort(fmt.width)})"
        for name, fmt in design.model.input_formats.items()
        if name in unused
    ]
    return "\n".join(
        [
            *design.comment(lambda line: f"; {line}"),
            "(set-logic QF_BV)",
            *declared,
            *lines,
            f"(define-fun d () {sort(design.root.width)} {result})",
            "",
        ]
    )
