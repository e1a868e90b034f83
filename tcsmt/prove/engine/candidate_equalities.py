"""Words of two graphs that look alike: equal on many rows, maybe extended, shifted or counted from elsewhere.

Nothing is proved here. A pair that looks alike is worth a query (:mod:`tcsmt.prove.engine.sweeping`); one
that does not differs on a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tcsmt.language.run.arrays import Program
from tcsmt.language.terms import Term, const

__all__ = ["CandidateEqualities", "Values", "values_of"]

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
        """From words as :class:`.Program` gives them.

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
        """Words of this graph, arguments first."""
        for node in ours:
            mine = self.values[node]
            if node.width < _NARROWEST or node.value is not None or mine.constant:
                continue
            zeros = mine.zeros
            for sign, words in (("", mine.unsigned), ("-", mine.signed)):
                self.by_value.setdefault((sign, _key(words >> zeros)), []).append((node, zeros))
                self.by_step.setdefault((sign, _key(words - words[0])), []).append(node)

    def to(self, node: Term) -> Iterator[Term]:
        """Terms over this graph's words that look like a node of another one, of its width."""
        mine = self.values[node]
        if node.width < _NARROWEST or mine.constant:
            return
        zeros, seen = mine.zeros, set()
        for sign, words in (("", mine.unsigned), ("-", mine.signed)):
            for candidate, own in self.by_value.get((sign, _key(words >> zeros)), [])[:_MOST]:
                if candidate.width == node.width and own == zeros:
                    equal = candidate
                else:
                    word = candidate[candidate.width - 1 : own]
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
    """A word with another number of bits."""
    while word.op in ("sext", "zext") and word.args[0].width >= width:
        word = word.args[0]
    if word.width >= width:
        if word.op in ("sext", "zext"):
            return _sized(word.args[0], width, signed=word.op == "sext")
        return word[width - 1 : 0]
    return word.sext(width) if signed else word.zext(width)


def _shifted(word: Term, zeros: int) -> Term:
    return word.concat(const(0, zeros)) if zeros else word
