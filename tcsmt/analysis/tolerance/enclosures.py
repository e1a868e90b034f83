"""The steps of a kernel on what is known of each element: its exact value, and how far the kernel's may be
off.

The steps are those that matrix products are computed by (:class:`.Schedule`), and so is their order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.tolerance.instruction import InstructionLoss
from tcsmt.analysis.tolerance.upward import added, dot_error, multiplied, number_above, scaled
from tcsmt.matrix_units.arithmetic.conversion import floats
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, float_format
from tcsmt.matrix_units.arithmetic.rounding import Rounding
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.models import Model
from tcsmt.programs.steps.program import Indices, ProductRun

Array = np.ndarray[Any, np.dtype[Any]]
_HALF_BIT = Fraction(1, 2**53)
#: More than what 2^8 operations on bounds lose, each half of its result's last bit: sums, products, larger
#: ones.
_UP = 1 + 2.0**-44
#: What a product of binary64 is off by where it is too small for that: its smallest number.
_SMALLEST = 5e-324


@dataclass(frozen=True)
class SizedProducts:
    """Of some products of each element, all alike in shape: what is known of them.

    value: their sum, off by ``error`` at most. size: Σ of their magnitudes or more, a subnormal operand
    counting as the smallest normal number. largest: the largest of these or more.
    """

    value: Array
    error: Array
    size: Array
    largest: Array


#: What is known of the products of some indices of K.
Summed = Callable[[Indices], SizedProducts]


def of_matrices(a: Array, b: Array, e_min: tuple[int, int]) -> Summed:
    """Return the products of A and B: numbers of shape (M, K) and (K, N). e_min: of their formats."""
    left, right = _lifted(a, e_min[0]), _lifted(b, e_min[1])

    def products(indices: Indices) -> SizedProducts:
        x, y = left[:, indices], right[indices]
        share = dot_error(len(indices))
        size = scaled(x @ y, 1 / (1 - share))
        largest = multiplied(x.max(axis=1)[:, None], y.max(axis=0)[None, :])
        return SizedProducts(a[:, indices] @ b[indices], scaled(size, share), size, np.minimum(largest, size))

    return products


def of_rows(a: Array, b: Array, e_min: tuple[int, int]) -> Summed:
    """Return the products of elements apart: numbers of shape (elements, K) both. e_min: of their formats."""
    left, right = _lifted(a, e_min[0]), _lifted(b, e_min[1])

    def products(indices: Indices) -> SizedProducts:
        sizes = multiplied(left[:, indices], right[:, indices])
        share = dot_error(len(indices))
        size = scaled(sizes.sum(axis=1), 1 / (1 - share))
        value = (a[:, indices] * b[:, indices]).sum(axis=1)
        return SizedProducts(value, scaled(size, share), size, np.minimum(sizes.max(axis=1), size))

    return products


def _lifted(x: Array, e_min: int) -> Array:
    """Magnitudes; none that is not zero is below 2 to the power of its exponent."""
    return np.where(x == 0, 0.0, np.maximum(np.abs(x), 2.0**e_min))


@dataclass(frozen=True)
class Enclosure:
    """A word of each element: its exact value is ``value``, off by ``error``; the kernel's is off by ``off``.

    zero: whether it is the word +0 or -0 everywhere.
    """

    value: Array
    error: Array
    off: Array
    zero: bool = False

    @property
    def size(self) -> Array:
        """Return the magnitude of the exact value at most."""
        return added(np.abs(self.value), self.error)

    @property
    def reach(self) -> Array:
        """Return the magnitude of the kernel's value at most."""
        return added(self.size, self.off)


@dataclass(frozen=True)
class EnclosureRules:
    """The rules of each step on enclosures, of one shape for all elements.

    c_format: in which C's words are. products: of indices of K. instruction: what one of the unit's loses.
    together: instructions whose partial sums are bounded together. wide: whether operands are binary64's.
    overflows: where a step may overflow, or no bound holds; booleans of ``shape``, which steps set.
    """

    shape: tuple[int, ...]
    products: Summed
    instruction: InstructionLoss
    together: int = 1
    wide: bool = False
    overflows: Array = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "overflows", np.zeros(self.shape, bool))

    def given(self, fmt: AnyFormat, words: Array) -> Enclosure:
        """Words as they are; of a shape that broadcasts."""
        values = np.broadcast_to(floats(float_format(fmt), words), self.shape)
        nothing = np.zeros(self.shape)
        return Enclosure(values, nothing, nothing, not values.any())

    def chain(
        self, c: Enclosure | None, *operands: object, unit: Model, runs: Sequence[ProductRun]
    ) -> Enclosure:
        """Instructions one after the other; some at a time, between whose ends no partial sum is larger than
        the mean of both ends and of Σ |a·b|.
        """
        start, indices = self.constant_zero() if c is None else c, runs[0].indices
        length = self.instruction.k * self.together
        groups = [indices[first : first + length] for first in range(0, len(indices), length)]
        # of every sum of some groups' values in binary64, relative to Σ |a·b| and c
        share = number_above(dot_error(len(indices) + 2 * len(groups) + 2))
        value, size, off = start.value, start.size, start.off
        before, largest = np.abs(value), np.zeros(self.shape)
        for some in groups:
            own, count = self.products(some), -(-len(some) // self.instruction.k)
            value = value + own.value
            after = np.abs(value)
            size = (size + own.size) * _UP
            sums = ((before + after + own.size) * 0.5 + (size * share + start.error)) * _UP
            off = (off + self._lost(count, own, sums, off)) * (self.instruction.growth(count) * _UP)
            largest = np.maximum(largest, sums + own.size)
            before = after
        self._below(self.instruction.limit, added(largest, off))
        return Enclosure(value, added(start.error, (size * share) * _UP), off)

    def _lost(self, count: int, own: SizedProducts, sums: Array, off: Array) -> Array:
        """Return what so many instructions lose together. sums: no partial sum is larger."""
        loss = self.instruction.loss
        lost = sums * number_above(loss.sums * count)
        if loss.top:
            top = np.maximum(own.largest, sums) * count
            top = top if count == 1 else np.minimum(top, sums * count + own.size)
            lost = lost + top * number_above(loss.top)
        if loss.products:
            lost = lost + own.size * number_above(loss.products)
        if loss.largest:
            lost = lost + np.minimum(own.largest * count, own.size) * number_above(loss.largest)
        always = loss.always * count + self._underflow
        if always:
            lost = lost + np.where(sums + own.size + off > 0, number_above(always), 0.0)
        return lost * _UP

    @property
    def _underflow(self) -> Fraction:
        """More than what operations on bounds can lose by underflow, where numbers are so small."""
        return Fraction(1, 2**900) if self.wide else Fraction(0)

    def constant_zero(self) -> Enclosure:
        """+0 everywhere."""
        nothing = np.zeros(self.shape)
        return Enclosure(nothing, nothing, nothing, zero=True)

    def constant(self, *, fmt: AnyFormat, word: int) -> Enclosure:
        """Return the same word everywhere."""
        number = float_format(fmt)
        if number.is_nan(word) or number.is_infinite(word):
            raise Unbounded(f"alpha or beta is {number.describe(word)} in {number.name}")
        return self.given(fmt, np.full(self.shape, word, unsigned(fmt)))

    def add(self, x: Enclosure, y: Enclosure, *, fmt: AnyFormat, shift: int, rounding: Rounding) -> Enclosure:
        """x + y, to nearest even: a sum of two numbers of the format that is subnormal is exact."""
        if x.zero or y.zero:
            return y if x.zero else x
        return self._rounded(_sum(x, y), float_format(fmt), Fraction(1, 2), exact_below=True)

    def multiply_add(self, x: Enclosure, y: Enclosure, z: Enclosure, *, fmt: Format) -> Enclosure:
        """x·y + z, rounded once to nearest even."""
        value = x.value * y.value
        error = added(
            multiplied(x.size, y.error),
            multiplied(x.error, y.size),
            multiplied(x.error, y.error),
            _half_bit(value),
            np.where((x.value != 0) & (y.value != 0), _SMALLEST, 0.0),
        )
        off = added(multiplied(x.size, y.off), multiplied(x.off, y.size), multiplied(x.off, y.off))
        product = Enclosure(value, error, off)
        return self._rounded(product if z.zero else _sum(product, z), fmt, Fraction(1, 2))

    def convert(
        self, x: Enclosure, *, source: Format, target: Format, rounding: Rounding, saturate: bool
    ) -> Enclosure:
        """x in another format, rounded once."""
        if target.holds(source):
            return x
        return self._rounded(
            x, target, Fraction(1, 2) if rounding.nearest else Fraction(1), saturate=saturate
        )

    def convert_randomly(
        self, x: Enclosure, random: Enclosure, *, source: Format, target: Format, bits: int, saturate: bool
    ) -> Enclosure:
        """x in another format: one of its two neighbours, whatever the random bits are."""
        return self._rounded(x, target, Fraction(1), saturate=saturate, up=True)

    def _rounded(
        self,
        x: Enclosure,
        fmt: Format,
        share: Fraction,
        *,
        exact_below: bool = False,
        saturate: bool = False,
        up: bool = False,
    ) -> Enclosure:
        """Rounded to a format: off by a share of the last bit more. exact_below: but of subnormal results.

        saturate: what is larger than the largest number becomes that number. up: a number may be rounded to
        the next one although it is a number of the format's that is the largest.
        """
        reach = x.reach
        lost = scaled(reach, share / 2**fmt.fraction_bits)
        if not exact_below:
            last = share * Fraction(2) ** (fmt.e_min - fmt.fraction_bits)
            lost = np.where(reach > 0, np.maximum(lost, number_above(last)), lost)
        largest = fmt.largest_finite
        if saturate:
            # what is cut off of a number that is too large
            lost = np.maximum(lost, np.maximum(0.0, _next_above(reach - float(largest))))
        else:
            self._below(largest, added(reach, lost) if up else reach)
        return Enclosure(x.value, x.error, added(x.off, lost))

    def _below(self, limit: Fraction, reach: Array) -> None:
        """Note where a value may not be below a limit: there it may overflow, or no lemma holds."""
        below = float(limit)
        if Fraction(below) > limit:
            below = float(np.nextafter(below, 0.0))
        np.logical_or(self.overflows, ~(reach < below), out=self.overflows)


def _next_above(x: Array) -> Array:
    return np.nextafter(x, np.inf)


def _half_bit(x: Array) -> Array:
    """Return what a rounded result of binary64 may be off by."""
    return scaled(np.abs(x), _HALF_BIT)


def _sum(x: Enclosure, y: Enclosure) -> Enclosure:
    """Return the exact sum of both."""
    value = x.value + y.value
    return Enclosure(value, added(x.error, y.error, _half_bit(value)), added(x.off, y.off))
