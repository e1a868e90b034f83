"""Candidates for equal words of two graphs: what looks alike on many rows, or leads to what does.

Nothing is proved here. A pair that is equal on all rows, maybe extended, shifted or counted from elsewhere,
is worth a query (:mod:`tcsmt.prove.engine.sat_sweeping`); one that is not differs on a row.

Some words have no counterpart, but lead to one that has. A stranger takes sums and maxima of two words at a
time, in an order and in widths of its own, where the first graph has one node for all the words; and extends
a number by two operations. What it has on the way is offered in terms of the first graph: operations on two
of its words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tcsmt.language.run.arrays import Program
from tcsmt.language.terms import Term, const, operands_first, total, umax
from tcsmt.prove.engine.stage_by_stage import says_range


@dataclass
class Cones:
    """The nodes below each node, itself among them, remembered."""

    below: dict[Term, int] = field(default_factory=dict)

    def of(self, node: Term) -> int:
        """Return a bit for each node below."""
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
            # a node is shared only if all that lies below it is
            is_shared = self.of(node) & ~shared == 0
            if is_shared and not says_range(node):
                if node.value is None:
                    edge[node] = None
            else:
                pending += node.args[::-1]
        return list(edge)


Array = np.ndarray[Any, np.dtype[Any]]
#: Words of fewer bits look alike too often.
_NARROWEST = 3
#: Of words that look alike, how many are offered.
_MOST = 3
#: Wider words are held as Python integers.
_MACHINE = 62


@dataclass(frozen=True)
class Values:
    """A node's values on the rows: as unsigned numbers, and in two's complement."""

    unsigned: Array
    signed: Array

    @classmethod
    def of(cls, width: int, words: Array) -> Values:
        """Return the values of words as :class:`.Program` gives them.

        words: (rows,). The values are int64, or Python integers where words are wider than 62 bits.
        """
        kind = np.dtype(np.int64) if width <= _MACHINE else np.dtype(object)
        unsigned = words.astype(kind)
        if kind == object:
            signed = np.array([word - (word >> (width - 1) << width) for word in unsigned], object)
        else:
            signed = unsigned - (unsigned >> (width - 1) << width)
        return cls(unsigned, signed)

    @property
    def constant(self) -> bool:
        """Return whether it is the same on every row."""
        return bool((self.unsigned == self.unsigned[0]).all())

    @property
    def zeros(self) -> int:
        """Return how many low bits are zero on every row; 0 where all are."""
        together = 0
        if self.unsigned.dtype == object:
            for word in self.unsigned:
                together |= word
        else:
            together = int(np.bitwise_or.reduce(self.unsigned))
        return (together & -together).bit_length() - 1 if together else 0


def values_of(nodes: Sequence[Term], rows: Mapping[str, Array]) -> dict[Term, Values]:
    """Return the values of nodes on rows of inputs. rows: words (rows,) by the name of an input."""
    columns = Program(nodes).run(rows)
    return {node: Values.of(node.width, words) for node, words in zip(nodes, columns, strict=True)}


def _key(words: Array) -> tuple[int, ...] | bytes:
    if words.dtype == object:
        if all(-(1 << _MACHINE) < word < 1 << _MACHINE for word in words):
            return words.astype(np.int64).tobytes()
        return tuple(words)
    return words.tobytes()


@dataclass
class CandidateEqualities:
    """The words of one graph, ``ours``, by what they look like, simplest first."""

    values: Mapping[Term, Values]
    by_value: dict[Any, list[tuple[Term, int]]] = field(default_factory=dict)
    by_step: dict[Any, list[Term]] = field(default_factory=dict)

    def add(self, ours: Sequence[Term]) -> None:
        """Add words of this graph, arguments first."""
        for node in ours:
            mine = self.values[node]
            if node.width < _NARROWEST or node.value is not None or mine.constant:
                continue
            zeros = mine.zeros
            for sign, words in (("", mine.unsigned), ("-", mine.signed)):
                self.by_value.setdefault((sign, _key(words >> zeros)), []).append((node, zeros))
                self.by_step.setdefault((sign, _key(words - words[0])), []).append(node)

    def to(self, node: Term) -> Iterator[Term]:
        """Yield terms over this graph's words that look like a node of another one, of its width."""
        mine = self.values[node]
        if node.width < _NARROWEST or mine.constant:
            return
        zeros, seen = mine.zeros, set()
        for sign, words in (("", mine.unsigned), ("-", mine.signed)):
            for candidate, its_zeros in self.by_value.get((sign, _key(words >> zeros)), [])[:_MOST]:
                if candidate.width == node.width and its_zeros == zeros:
                    equal = candidate
                else:
                    word = candidate[candidate.width - 1 : its_zeros]
                    equal = _shifted(_sized(word, node.width - zeros, signed=bool(sign)), zeros)
                if equal not in seen:
                    seen.add(equal)
                    yield equal
        for sign, words in (("", mine.unsigned), ("-", mine.signed)):
            for candidate in self.by_step.get((sign, _key(words - words[0])), [])[:_MOST]:
                other = self.values[candidate].signed if sign else self.values[candidate].unsigned
                equal = _sized(candidate, node.width, signed=bool(sign)) + (int(words[0]) - int(other[0]))
                if equal not in seen:
                    seen.add(equal)
                    yield equal


def _sized(word: Term, width: int, *, signed: bool) -> Term:
    """Return a word with another number of bits."""
    while word.op in ("sext", "zext") and word.args[0].width >= width:
        word = word.args[0]
    if word.width >= width:
        if word.op in ("sext", "zext"):
            return _sized(word.args[0], width, signed=word.op == "sext")
        return word[width - 1 : 0]
    return word.sext(width) if signed else word.zext(width)


def _shifted(word: Term, zeros: int) -> Term:
    return word.concat(const(0, zeros)) if zeros else word


#: Addends that make it worth looking at sums of some of them.
_FEWEST = 3


def maximum(node: Term) -> Term | None:
    """Return the maximum that a choice of the larger word is, of words without their extensions; else
    None.
    """
    if node.op != "ite" or node.args[0].op != "ult":
        return None
    condition, then, otherwise = node.args
    if condition.args != (otherwise, then):  # the other way round it is the minimum
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
        """Add words of this graph."""
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
        for sum_word in self.by_addend.get(next(iter(addends)), ()):
            if addends <= Counter(map(_core, sum_word.args)):
                core_args = {_core(arg): arg for arg in sum_word.args}
                parts = [core_args.get(part, part) for part in map(_core, node.args)]
                word = (
                    total(*parts)
                    if node is core and {part.width for part in parts} == {sum_word.width}
                    else core
                )
                if word.width == sum_word.width:
                    signed = any(arg.op == "sext" for arg in sum_word.args)
                    return _sized(word, node.width, signed=signed)
        return None


def _addends(word: Term) -> Iterator[Term]:
    """Yield the words of a sum, down to words that are no sums."""
    core = _core(word)
    if core.op == "add":
        for arg in core.args:
            yield from _addends(arg)
    else:
        yield core


def _core(word: Term) -> Term:
    """Return the word without extensions; and the whole sum of which it is the low part."""
    while word.op in ("sext", "zext") or (
        word.op == "extract" and word.args[0].op == "add" and word.data[1] == 0  # type: ignore[index]
    ):
        word = word.args[0]
    return word
