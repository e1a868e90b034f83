"""A model as BTOR2: inputs a, b, c (and scales), the first lane in the lowest bits, and an output d."""

from __future__ import annotations

from tcsmt.language.write.btor2 import Btor2
from tcsmt.outside.exports.design import Design

__all__ = ["btor2"]


def btor2(design: Design) -> str:
    """Return the text of the file; the stages' names are the symbols of their lines."""
    nodes = design.ordered([design.root])
    file = Btor2()
    for operand in design.inputs:
        file.input(operand.terms, operand.name)
    file.nodes(nodes, design.names(nodes))
    file.output(design.root, "d")
    return "\n".join([*design.comment(lambda line: f"; {line}"), *file.lines, ""])
