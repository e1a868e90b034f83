"""The operands of an instruction for one word of D, with the block scales, in one order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, TypeVar

__all__ = ["Operands"]

Lanes_co = TypeVar("Lanes_co", covariant=True)
One_co = TypeVar("One_co", covariant=True)
Word = TypeVar("Word")


@dataclass(frozen=True)
class Operands(Generic[Lanes_co, One_co]):
    """k of a, k of b, one c, and the block scales of a unit that has them.

    They may be terms, integers or text (a, b and the scales are sequences of them, c is one), or arrays of
    words for many rows: a and b of shape (rows, k), c of shape (rows,), scales of shape (rows, scales).
    The fields' order is that of :attr:`.Model.input_names`, of files' columns and of compiled kernels.
    """

    a: Lanes_co
    b: Lanes_co
    c: One_co
    scale_a: Lanes_co | None = None
    scale_b: Lanes_co | None = None

    @classmethod
    def split(cls, words: Sequence[Word], k: int, scales: int) -> Operands[tuple[Word, ...], Word]:
        """Of all inputs in order: k of a, k of b, c, and so many scales of a and of b.

        Raises ValueError for another number of words.
        """
        if len(words) != 2 * k + 1 + 2 * scales:
            raise ValueError(f"{len(words)} words for k = {k} and {scales} scales of each side")
        rest = iter(words)
        a, b, c = tuple(islice(rest, k)), tuple(islice(rest, k)), next(rest)
        return Operands(a, b, c, tuple(islice(rest, scales)) or None, tuple(rest) or None)

    @property
    def named(self) -> dict[str, Any]:
        """Each part that is there by its field's name, in order."""
        parts = {"a": self.a, "b": self.b, "c": self.c, "scale_a": self.scale_a, "scale_b": self.scale_b}
        return {name: part for name, part in parts.items() if part is not None}

    @property
    def parts(self) -> tuple[Any, ...]:
        """Return the parts that are there, in order."""
        return tuple(self.named.values())

    def map(self, change: Callable[[Any], Any]) -> Operands[Any, Any]:
        """With every part that is there changed."""
        return Operands(**{name: change(part) for name, part in self.named.items()})

    def flat(self: Operands[Sequence[Word], Word]) -> tuple[Word, ...]:
        """All inputs of one row in order, what :meth:`split` splits."""
        parts = self.named.items()
        return tuple(word for name, part in parts for word in ((part,) if name == "c" else part))
