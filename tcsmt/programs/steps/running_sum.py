"""Sums outside a unit: plain, or compensated, which carry along what their roundings lose.

They are written as steps of a program. A compensated sum of x_1, x_2, ... keeps a total and an error, whose
exact sum is what was added so far, nearly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.rounding import Rounding
from tcsmt.matrix_units.models import Kind
from tcsmt.programs.steps.builder import Builder
from tcsmt.programs.steps.program import Value
from tcsmt.support.invariants import not_none

#: The name of a sum that is not compensated.
PLAIN = "none"


@dataclass(frozen=True)
class Outside:
    """IEEE additions of one format, each rounded once, as steps of a program that is being written."""

    build: Builder
    format: Format
    rounding: Rounding

    def plus(self, x: Value, shift: int, y: Value) -> Value:
        """x·2^-shift + y, rounded once."""
        return self.build.add(self.format, x, y, shift, self.rounding)

    def minus(self, x: Value, y: Value) -> Value:
        """x - y, as -y + x."""
        return self.plus(self.build.negate(self.format, y), 0, x)

    def scaled(self, x: Value, shift: int) -> Value:
        """x·2^-shift."""
        return self.plus(x, shift, self.zero) if shift else x

    def compensated(self, kind: str, total: Value, error: Value, x: Value, shift: int) -> tuple[Value, ...]:
        """Return the next total and error of a compensated sum, to which x·2^-shift is added."""
        _ = self.zero  # may be used inside of the compound step, and after it
        step = COMPENSATIONS[kind].step
        return self.build.compound(
            "compensated", (total, error, x), lambda: step(self, total, error, x, shift),
            scheme=kind, fmt=self.format, shift=shift, rounding=self.rounding,
        )  # fmt: skip

    @property
    def zero(self) -> Value:
        """Return +0."""
        return self.build.constant(self.format, 0)


@dataclass(frozen=True)
class Compensation:
    """A way to carry along what roundings lose.

    step: writes the next total and error, of the operations, the total, the error, x and the shift of x.
    adds_error: whether the result is the total plus the error, rounded once; else it is the total.
    exact_error: whether the error of the addition to the total is exact, where all is rounded to nearest.
    """

    title: str
    source: str
    step: Callable[[Outside, Value, Value, Value, int], tuple[Value, Value]]
    adds_error: bool
    exact_error: bool


def _kahan(of: Outside, total: Value, error: Value, x: Value, shift: int) -> tuple[Value, Value]:
    """The error is added to x before x is added to the total."""
    y = of.plus(x, shift, error)
    after = of.plus(y, 0, total)
    return after, of.minus(y, of.minus(after, total))


def _fast_two_sum(of: Outside, total: Value, error: Value, x: Value, shift: int) -> tuple[Value, Value]:
    """Add, and sum what each addition loses apart: by FastTwoSum, which is exact where x is the smaller
    one.
    """
    y = of.scaled(x, shift)
    after = of.plus(y, 0, total)
    return after, of.plus(of.minus(y, of.minus(after, total)), 0, error)


def _two_sum(of: Outside, total: Value, error: Value, x: Value, shift: int) -> tuple[Value, Value]:
    """Return the same by Knuth's TwoSum, which is exact."""
    after, lost = _exactly(of, total, of.scaled(x, shift))
    return after, of.plus(lost, 0, error)


def _double_word(of: Outside, total: Value, error: Value, x: Value, shift: int) -> tuple[Value, Value]:
    """Total and error are one number of two words, made so anew after each addition."""
    after, lost = _exactly(of, total, of.scaled(x, shift))
    lost = of.plus(lost, 0, error)
    high = of.plus(lost, 0, after)
    return high, of.minus(lost, of.minus(high, after))


def _exactly(of: Outside, x: Value, y: Value) -> tuple[Value, Value]:
    """TwoSum: x + y rounded, and what that loses."""
    total = of.plus(y, 0, x)
    second = of.minus(total, x)
    first = of.minus(total, second)
    return total, of.plus(of.minus(y, second), 0, of.minus(x, first))


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
class RunningSum:
    """A sum as it grows. compensated: one of :data:`COMPENSATIONS`, or :data:`PLAIN`."""

    compensated: str
    outside: Outside
    total: Value | None = None
    error: Value | None = None

    def add(self, x: Value, shift: int, number: int | None) -> None:
        """Add x·2^-shift, which is the result of the chain of that number (None: c, after all of them).

        The first x is the sum itself, and is not scaled.
        """
        outside, note, plain = self.outside, self.outside.build.note, self.compensated == PLAIN
        if self.total is None:
            self.total = note(x, Kind.SUM_OUTSIDE, number)
        elif plain:
            kind = Kind.RESULT if number is None else Kind.SUM_OUTSIDE
            self.total = note(outside.plus(x, shift, self.total), kind, number)
        else:
            error = outside.zero if self.error is None else self.error
            total, error = outside.compensated(self.compensated, self.total, error, x, shift)
            self.total = note(total, Kind.SUM_OUTSIDE, number)
            self.error = note(error, Kind.ERROR_OUTSIDE, number)

    def result(self) -> Value:
        """Return the sum of all."""
        total = not_none(self.total)
        if self.error is None or not COMPENSATIONS[self.compensated].adds_error:
            return total
        return self.outside.plus(self.error, 0, total)
