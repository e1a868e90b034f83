"""Lattices of a computation's numbers: a range, and the last bit that any of them has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tcsmt.matrix_units.arithmetic.formats import AnyFormat, IntegerFormat, float_format, leading_exponent


class Inexact(Exception):
    """A step that is not proved to be exact for numbers of some ranges, and why."""


@dataclass(frozen=True)
class Lattice:
    """Multiples of 2^last from ``low`` to ``high``, and zero."""

    low: Fraction
    high: Fraction
    last: int

    @property
    def zero(self) -> bool:
        """Return whether zero is the only number."""
        return not self.low and not self.high

    @property
    def size(self) -> Fraction:
        """Return the largest magnitude."""
        return max(-self.low, self.high)

    @property
    def leading(self) -> int:
        """Return the largest exponent of a leading bit; of zero alone there is none."""
        return leading_exponent(self.size)

    def __add__(self, other: Lattice) -> Lattice:
        if self.zero or other.zero:
            return self if other.zero else other
        return Lattice(self.low + other.low, self.high + other.high, min(self.last, other.last))

    def __mul__(self, other: Lattice) -> Lattice:
        ends = [x * y for x in (self.low, self.high) for y in (other.low, other.high)]
        return Lattice(min(ends), max(ends), self.last + other.last)

    def times(self, count: int) -> Lattice:
        """Sums of so many of the numbers."""
        return Lattice(self.low * count, self.high * count, self.last) if count else ZERO

    def multiplied(self, factor: Fraction) -> Lattice:
        """Return the numbers times an integer multiple of a power of two, which is not 0."""
        if self.zero:
            return self
        low, high = sorted((self.low * factor, self.high * factor))
        size, parts = abs(factor.numerator), factor.denominator
        return Lattice(low, high, self.last + (size & -size).bit_length() - parts.bit_length())

    def shifted(self, places: int) -> Lattice:
        """Return the numbers times 2^places."""
        factor = Fraction(2) ** places
        return Lattice(self.low * factor, self.high * factor, self.last + places)

    def __str__(self) -> str:
        unit = "integers" if not self.last else f"multiples of 2^{self.last}"
        return f"{unit} from {self.low} to {self.high}"


ZERO = Lattice(Fraction(0), Fraction(0), 0)


def integers_up_to(fmt: AnyFormat, limit: int) -> Lattice:
    """Return the integers of a format that are no larger in magnitude than ``limit``."""
    if isinstance(fmt, IntegerFormat):
        unit = 1 << fmt.fraction_bits
        low, high = -(-fmt.low // unit), fmt.high // unit
        return Lattice(Fraction(max(low, -limit)), Fraction(min(high, limit)), 0)
    fmt = float_format(fmt)
    most = min(limit, fmt.largest_finite.numerator // fmt.largest_finite.denominator)
    spare = max(0, most.bit_length() - fmt.precision)
    largest = Fraction(most >> spare << spare)
    return Lattice(-largest if fmt.signed else Fraction(0), largest, 0)


def largest_integer(formats: Sequence[AnyFormat]) -> int:
    """Return the largest magnitude up to which each format has every integer of its range: 0 where one has
    not 1.
    """
    held = [_all_integers(fmt) for fmt in formats]
    return min(
        (all_up_to for all_up_to, size in held if all_up_to < size), default=max(size for _, size in held)
    )


def missing_integer(formats: Sequence[AnyFormat], limit: int) -> str:
    """Why not every integer up to a limit is in the formats, but for their range; "" where it is."""
    most = largest_integer(formats)
    if limit <= most:
        return ""
    for fmt in formats:
        all_up_to, size = _all_integers(fmt)
        if all_up_to == most < size:
            return f"{fmt.name} does not have the integer {most + 1}: at most {most}"
    names = " and ".join(dict.fromkeys(fmt.name for fmt in formats))
    return f"no integer of {names} is larger in magnitude than {most}"


def _all_integers(fmt: AnyFormat) -> tuple[int, int]:
    """Up to which magnitude a format has every integer of its range, and the largest magnitude of any."""
    size = int(integers_up_to(fmt, 1 << 2048).size)
    if isinstance(fmt, IntegerFormat):
        return size, size
    fmt = float_format(fmt)
    # a step of 1 or less at every magnitude up to 2^precision; below the normal numbers, by subnormal ones
    fine = fmt.e_min <= (fmt.fraction_bits if fmt.has_subnormals else 0)
    return min(1 << fmt.precision, size) if fine else 0, size
