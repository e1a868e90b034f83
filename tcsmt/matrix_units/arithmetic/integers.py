"""Whole numbers of a known range as words in two's complement: nothing that is made of them can wrap.

Exponents are compared and subtracted in proofs, with fraction bits added. How far they reach depends on
a model's parameters, so that the width of each word follows from the range of the number that it holds.
"""

from __future__ import annotations

from dataclasses import dataclass

from tcsmt.language.terms import Term, const
from tcsmt.matrix_units.arithmetic.datapath import Exponent

#: No word is narrower. Sums and differences of the usual exponents fit, so that questions about different
#: stages, which are alike, are one script.
_LEAST = 12


@dataclass(frozen=True)
class Integer:
    """A number from ``low`` to ``high``, as a word that is wide enough for both.

    Sums and differences are as wide as they need to be; a plain number may stand for an :class:`Integer`.
    """

    word: Term
    low: int
    high: int

    def __add__(self, other: Integer | int) -> Integer:
        other = _number(other)
        low, high = self.low + other.low, self.high + other.high
        width = _width(low, high)
        return Integer(self._to(width) + other._to(width), low, high)

    def __sub__(self, other: Integer | int) -> Integer:
        other = _number(other)
        low, high = self.low - other.high, self.high - other.low
        width = _width(low, high)
        return Integer(self._to(width) - other._to(width), low, high)

    def slt(self, other: Integer | int) -> Term:
        """Return 1 if self < other."""
        x, y = self._with(other)
        return x.slt(y)

    def sle(self, other: Integer | int) -> Term:
        """Return 1 if self <= other."""
        x, y = self._with(other)
        return x.sle(y)

    def ne(self, other: Integer | int) -> Term:
        """Return 1 if they are different numbers."""
        return ~self.eq(other)

    def eq(self, other: Integer | int) -> Term:
        """Return 1 if both are the same number."""
        x, y = self._with(other)
        return x.eq(y)

    def at_most(self, limit: int) -> Integer:
        """Return the smaller one of the number and ``limit``."""
        x, y = self._with(limit)
        return Integer(x.sle(y).ite(x, y), min(self.low, limit), min(self.high, limit))

    def at_least(self, limit: int) -> Integer:
        """Return the larger one of the number and ``limit``."""
        x, y = self._with(limit)
        return Integer(x.slt(y).ite(y, x), max(self.low, limit), max(self.high, limit))

    def unsigned(self, width: int) -> Term:
        """Return the word with ``width`` bits, of a number that is not below 0 and small enough for them.

        (Of any other, the low bits.)
        """
        return self.word.zext(max(width, self.word.width))[width - 1 : 0]

    def _with(self, other: Integer | int) -> tuple[Term, Term]:
        other = _number(other)
        width = max(self.word.width, other.word.width)
        return self._to(width), other._to(width)

    def _to(self, width: int) -> Term:
        """Return the number's word with more bits; with fewer, where they hold what is made of it."""
        return self.word.sext(max(width, self.word.width))[width - 1 : 0]


def signed(x: Exponent) -> Integer:
    """Return an exponent. Its word may be a free variable, so that every value of the word counts."""
    high = x.low + (1 << x.term.width) - 1
    return Integer(x.term.zext(_width(x.low, high)) + x.low, x.low, high)


def signed_word(value: int) -> Integer:
    """Return a known number."""
    width = _width(value, value)
    return Integer(const(value % (1 << width), width), value, value)


def _number(x: Integer | int) -> Integer:
    return x if isinstance(x, Integer) else signed_word(x)


def _width(low: int, high: int) -> int:
    return max(_LEAST, 1 + max(high, -low - 1, 0).bit_length())
