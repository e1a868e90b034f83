"""The part of a graph that depends on one operand word: computed once for each word of a matrix, before
products.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from tcsmt.language.terms import Term, operands_first, substitute, var
from tcsmt.language.write.llvm import container

#: Bits of the narrowest elements.
_LEAST = 16


@dataclass(frozen=True)
class PreparedWords:
    """Results that are computed of an operand's words. terms: for each result, one term for each lane."""

    name: str
    words: tuple[Term, ...]
    terms: tuple[tuple[Term, ...], ...]

    @cached_property
    def inputs(self) -> list[list[Term]]:
        """Return variables that stand for the results."""
        return [
            [var(f"{self.name}.{number}, lane {lane}", term.width) for lane, term in enumerate(lanes)]
            for number, lanes in enumerate(self.terms)
        ]

    @property
    def bits(self) -> list[int]:
        """Return how many bits the elements have that hold each result."""
        return [max(_LEAST, container(lanes[0].width)) for lanes in self.terms]


def prepared(operands: Mapping[str, Sequence[Term]], roots: Sequence[Term]) -> list[PreparedWords] | None:
    """Return what is computed of single operand words, as far as it goes; None where lanes differ in it.

    operands: the variables of each, in lane order. Terms of no other variable are computed of one word; those
    that something else is made of are the results.
    """
    owner: dict[Term, Term | None] = {term: term for terms in operands.values() for term in terms}
    results: dict[Term, dict[Term, None]] = {term: {} for term in owner}
    nodes = operands_first(roots)
    for node in nodes:
        owners = {owner[arg] for arg in node.args if arg.op != "const"}
        if node not in owner:
            owner[node] = owners.pop() if len(owners) == 1 else None
    for node in nodes:
        if owner[node] is None:
            for arg in node.args:
                owner_name = owner[arg]
                if owner_name is not None:
                    results[owner_name][arg] = None
    found = []
    for name, words in operands.items():
        first = list(results[words[0]])
        lanes = [substitute(first, {words[0]: word}) for word in words]
        # one function prepares every lane: a lane of which something else is needed would be read wrongly
        if any(set(lane) != set(results[word]) for lane, word in zip(lanes, words, strict=True)):
            return None
        found.append(PreparedWords(name, tuple(words), tuple(zip(*lanes, strict=True))))
    return found
