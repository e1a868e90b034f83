"""A model as SMT-LIB 2.6: constants for its inputs, a ``define-fun`` for each stage, and ``d``."""

from __future__ import annotations

from tcsmt.language.write.smtlib import sort
from tcsmt.language.write.smtlib_functions import functions
from tcsmt.outside.exports.design import Design

__all__ = ["smtlib"]


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
