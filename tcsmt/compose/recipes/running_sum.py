"""Sums outside a unit: plain, or compensated, which carry along what their roundings lose.

Written once for whatever stands for words (:class:`Outside`): terms, or arrays of words. A compensated sum of
x_1, x_2, ... keeps a total and an error, whose exact sum is what was added so far, nearly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from tcsmt.matrix_units.models import Kind
from tcsmt.support.invariants import not_none

__all__ = ["COMPENSATIONS", "PLAIN", "Compensation", "Outside", "RunningSum"]

#: The name of a sum that is not compensated.
PLAIN = "none"

Word = TypeVar("Word")


class Outside(Protocol[Word]):
    """IEEE additions of one format, each rounded once, on whatever stands for words."""

    def plus(self, x: Word, shift: int, y: Word) -> Word:
        """x·2^-shift + y, rounded once."""

    def negated(self, x: Word) -> Word:
        """-x: x with the other sign."""

    def seen(self, kind: Kind, number: int | None, word: Word) -> Word:
        """Return the word, which is a step's result: of the chain of that number (None: of all)."""


@dataclass(frozen=True)
class Compensation:
    """A way to carry along what roundings lose.

    step: the next total and error, of the operations, the total, the error, x and the shift of x.
    adds_error: whether the result is the total plus the error, rounded once; else it is the total.
    exact_error: whether the error of the addition to the total is exact, where all is rounded to nearest.
    """

    title: str
    source: str
    step: Callable[[Any, Any, Any, Any, int, Any], tuple[Any, Any]]
    adds_error: bool
    exact_error: bool


def _minus(of: Outside[Word], x: Word, y: Word) -> Word:
    return of.plus(of.negated(y), 0, x)


def _scaled(of: Outside[Word], x: Word, shift: int, zero: Word) -> Word:
    return of.plus(x, shift, zero) if shift else x


def _kahan(of: Outside[Word], total: Word, error: Word, x: Word, shift: int, zero: Word) -> tuple[Word, Word]:
    """The error is added to x before x is added to the total."""
    y = of.plus(x, shift, error)
    after = of.plus(y, 0, total)
    return after, _minus(of, y, _minus(of, after, total))


def _fast_two_sum(
    of: Outside[Word], total: Word, error: Word, x: Word, shift: int, zero: Word
) -> tuple[Word, Word]:
    """Return what each addition loses is summed apart: by FastTwoSum, which is exact where x is the smaller
    one.
    """
    y = _scaled(of, x, shift, zero)
    after = of.plus(y, 0, total)
    return after, of.plus(_minus(of, y, _minus(of, after, total)), 0, error)


def _two_sum(
    of: Outside[Word], total: Word, error: Word, x: Word, shift: int, zero: Word
) -> tuple[Word, Word]:
    """Return the same by Knuth's TwoSum, which is exact."""
    after, lost = _exactly(of, total, _scaled(of, x, shift, zero))
    return after, of.plus(lost, 0, error)


def _double_word(
    of: Outside[Word], total: Word, error: Word, x: Word, shift: int, zero: Word
) -> tuple[Word, Word]:
    """Total and error are one number of two words, made so anew after each addition."""
    after, lost = _exactly(of, total, _scaled(of, x, shift, zero))
    lost = of.plus(lost, 0, error)
    high = of.plus(lost, 0, after)
    return high, _minus(of, lost, _minus(of, high, after))


def _exactly(of: Outside[Word], x: Word, y: Word) -> tuple[Word, Word]:
    """TwoSum: x + y rounded, and what that loses."""
    total = of.plus(y, 0, x)
    second = _minus(of, total, x)
    first = _minus(of, total, second)
    return total, of.plus(_minus(of, y, second), 0, _minus(of, x, first))


#: By name, as in ``markidis,compensated=kahan``.
COMPENSATIONS: Mapping[str, Compensation] = {
    "kahan": Compensation(
        "each rounding's error is added to the next summand", "Kahan 1965", _kahan, False, False
    ),
    "fast-two-sum": Compensation(
        "the errors by FastTwoSum are summed, and added at the end", "Dekker 1971", _fast_two_sum, True, False
    ),
    "two-sum": Compensation(
        "the errors by TwoSum are summed, and added at the end",
        "Knuth 1969; Ogita, Rump and Oishi 2005",
        _two_sum,
        True,
        True,
    ),
    "double-word": Compensation(
        "the total is an unevaluated sum of two words",
        "Dekker 1971; Joldes, Muller and Popescu 2017",
        _double_word,
        False,
        True,
    ),
}


@dataclass
class RunningSum(Generic[Word]):
    """A sum as it grows. compensated: one of :data:`COMPENSATIONS`, or :data:`PLAIN`."""

    compensated: str
    outside: Outside[Word]
    zero: Word
    total: Word | None = None
    error: Word | None = None

    def add(self, x: Word, shift: int, number: int | None) -> None:
        """Add x·2^-shift, which is the result of the chain of that number (None: c, after all of them).

        The first x is the sum itself, and is not scaled.
        """
        outside, plain = self.outside, self.compensated == PLAIN
        if self.total is None:
            self.total = outside.seen(Kind.SUM_OUTSIDE, number, x)
        elif plain:
            kind = Kind.RESULT if number is None else Kind.SUM_OUTSIDE
            self.total = outside.seen(kind, number, outside.plus(x, shift, self.total))
        else:
            error = self.zero if self.error is None else self.error
            step = COMPENSATIONS[self.compensated].step
            total, error = step(outside, self.total, error, x, shift, self.zero)
            self.total = outside.seen(Kind.SUM_OUTSIDE, number, total)
            self.error = outside.seen(Kind.ERROR_OUTSIDE, number, error)

    def result(self) -> Word:
        """Return the sum of all."""
        total = not_none(self.total)
        if self.error is None or not COMPENSATIONS[self.compensated].adds_error:
            return total
        return self.outside.plus(self.error, 0, total)
