"""The nodes below a node, as bits of an integer: what two words share, without a walk to the inputs."""

from __future__ import annotations

from dataclasses import dataclass, field

from tcsmt.language.terms import Term, operands_first
from tcsmt.prove.engine.stage_by_stage import says_range

__all__ = ["Cones"]


@dataclass
class Cones:
    """The nodes below each node, itself among them, remembered."""

    below: dict[Term, int] = field(default_factory=dict)

    def of(self, node: Term) -> int:
        """A bit for each node below."""
        for operand in operands_first([node], self.below):
            bits = 1 << len(self.below)
            for arg in operand.args:
                bits |= self.below[arg]
            self.below[operand] = bits
        return self.below[node]

    def edge(self, *roots: Term) -> list[Term]:
        """Return the nodes below all the roots that something uses which is not, in the order of a walk.

        What only extends a word, or adds a constant, is left to the word: it says where that lies.
        """
        shared = -1
        for root in roots:
            shared &= self.of(root)
        edge: dict[Term, None] = {}
        seen: set[Term] = set()
        pending = list(roots[::-1])
        while pending:
            node = pending.pop()
            if node in seen:
                continue
            seen.add(node)
            is_shared = self.of(node) & ~shared == 0
            if is_shared and not says_range(node):
                if node.value is None:
                    edge[node] = None
            else:
                pending += node.args[::-1]
        return list(edge)
