"""Candidates for intermediate words of a stranger's design that have no counterpart, but lead to one that
has.

A stranger takes sums and maxima of two words at a time, in an order and in widths of its own, where the first
graph has one node for all the words; and extends a number by two operations. What it has on the way is
offered here in terms of the first graph: operations on two of its words. Nothing is proved here, as in
:mod:`.candidate_equalities`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tcsmt.language.terms import Term, total, umax

__all__ = ["PartialSums", "extended_number", "maximum"]

#: Addends that make it worth looking at sums of some of them.
_FEWEST = 3


def maximum(node: Term) -> Term | None:
    """Return the maximum that a choice of the larger word is, of words without their extensions; else
    None.
    """
    if node.op != "ite" or node.args[0].op != "ult":
        return None
    condition, then, otherwise = node.args
    if condition.args != (otherwise, then):
        return None
    words = [word.args[0] if word.op == "zext" else word for word in (then, otherwise)]
    width = max(word.width for word in words)
    return umax(*(word.zext(width) for word in words)).zext(node.width)


def extended_number(node: Term) -> Term | None:
    """Return the number above its least one that a word with its sign inverted is: half of an extension; else
    None.

    What the other half subtracts is often one with other constants by now.
    """
    if node.op != "xor" or {arg.op for arg in node.args} != {"const", "zext"}:
        return None
    sign, word = sorted(node.args, key=lambda arg: arg.op)
    narrow = word.args[0]
    if sign.value != 1 << (narrow.width - 1):
        return None
    return narrow.sext(node.width) + sign


@dataclass
class PartialSums:
    """The sums of one graph, by their addends without extensions."""

    by_addend: dict[Term, list[Term]] = field(default_factory=dict)

    def add(self, ours: Iterable[Term]) -> None:
        """Words of this graph."""
        for node in ours:
            if node.op == "add" and len(node.args) >= _FEWEST:
                for addend in dict.fromkeys(map(_core, node.args)):
                    self.by_addend.setdefault(addend, []).append(node)

    def of(self, node: Term) -> Term | None:
        """Return what a word may be, if it is a sum of some addends of one of this graph's sums; else
        None.
        """
        core = _core(node)
        if core.op != "add":
            return None
        addends = Counter(_addends(core))
        for whole in self.by_addend.get(next(iter(addends)), ()):
            if addends <= Counter(map(_core, whole.args)):
                own = {_core(arg): arg for arg in whole.args}
                parts = [own.get(part, part) for part in map(_core, node.args)]
                word = (
                    total(*parts)
                    if node is core and {part.width for part in parts} == {whole.width}
                    else core
                )
                if word.width == whole.width:
                    signed = any(arg.op == "sext" for arg in whole.args)
                    return _sized(word, node.width, signed=signed)
        return None


def _addends(word: Term) -> Iterator[Term]:
    """Down to words that are no sums."""
    core = _core(word)
    if core.op == "add":
        for arg in core.args:
            yield from _addends(arg)
    else:
        yield core


def _core(word: Term) -> Term:
    """Without extensions; and the whole sum of which it is the low part."""
    while word.op in ("sext", "zext") or (
        word.op == "extract" and word.args[0].op == "add" and word.data[1] == 0  # type: ignore[index]
    ):
        word = word.args[0]
    return word


def _sized(word: Term, width: int, *, signed: bool) -> Term:
    if word.width >= width:
        return word[width - 1 : 0]
    return word.sext(width) if signed else word.zext(width)
