"""The steps of a program on what is known of each value: its exact value, and how far the program's is off.

Exact is what the steps give without any rounding. Of values along K, and of what is made of inputs alone, the
words are known, too: these are computed, and how far they are off is measured. Of all others it is bounded.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from tcsmt.analysis.bounds.compensated import KNUTH
from tcsmt.analysis.bounds.fused_loss import Unbounded, share_of
from tcsmt.analysis.tolerance.compensated_loss import compensated_loss
from tcsmt.analysis.tolerance.upward import added, multiplied, number_above, scaled
from tcsmt.matrix_units.arithmetic.conversion import QUIET, floats, integers_of_words
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, IntegerFormat, float_format
from tcsmt.matrix_units.arithmetic.rounding import Rounding
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.programs.steps.on_arrays import ArrayRules, no_chain
from tcsmt.programs.steps.program import TRUTH
from tcsmt.programs.steps.running_sum import COMPENSATIONS
from tcsmt.programs.steps.trees import SumOrder

Array = np.ndarray[Any, np.dtype[Any]]
_HALF_BIT = Fraction(1, 2**53)
_HALF, _ONE = Fraction(1, 2), Fraction(1)
#: Of a significand of binary64.
_BITS = 53
#: What a product of binary64 is off by where it is too small for that: its smallest number.
_SMALLEST = 5e-324
#: Below this, a power of two times a number of binary64 may not be one.
_TINY = 2.0**-960
#: More than NumPy's exp2 and expm1 are off, relative to their results.
_DOUBT = 2.0**-48


@dataclass(frozen=True, eq=False)
class Enclosure:
    """A value: exactly it is ``value``, off by ``error`` at most; the program's is off by ``off``.

    zero: whether it is the word +0 or -0 everywhere. words: the program's, where they are known. both: of a
    total with an error beside it, how far both together are off; partner: the same object in the two.
    """

    value: Array
    error: Array
    off: Array
    zero: bool = False
    words: Array | None = None
    both: Array | None = None
    partner: object = None

    @property
    def size(self) -> Array:
        """Return the magnitude of the exact value at most."""
        return added(np.abs(self.value), self.error)

    @property
    def reach(self) -> Array:
        """Return the magnitude of the program's value at most."""
        return added(self.size, self.off)

    def at(self, place: Any) -> Enclosure:
        """Return some of the values. place: an index of arrays."""
        words = None if self.words is None else self.words[place]
        return Enclosure(self.value[place], self.error[place], self.off[place], words=words)


@dataclass(frozen=True)
class ElementRules:
    """The rules of each operation on enclosures.

    shape: of values without axes: (elements,), or (M, N) of matrices, as :class:`.ArrayRules` has it.
    overflows: where a step may overflow, or no bound holds; booleans of ``shape``, which steps set.
    arrays: the rules by which known words are computed.
    """

    shape: tuple[int, ...]
    arrays: ArrayRules = field(init=False)
    overflows: Array = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "overflows", np.zeros(self.shape, bool))
        object.__setattr__(self, "arrays", ArrayRules(self.shape, no_chain, QUIET))

    # --- what is given

    def given(self, fmt: AnyFormat, words: Array, *, known: bool = False) -> Enclosure:
        """Return an input's words. known: whether what is made of them alone is computed, not bounded."""
        values = numbers(fmt, words)
        finite = np.isfinite(values)
        unknown = np.where(finite, 0.0, np.inf)
        values = np.where(finite, values, 0.0)
        zero = not values.any() and bool(finite.all())
        return Enclosure(values, unknown, unknown, zero, words if known else None)

    def constant_zero(self) -> Enclosure:
        """+0 everywhere."""
        nothing = np.zeros(self.shape)
        return Enclosure(nothing, nothing, nothing, zero=True)

    def constant(self, *, fmt: AnyFormat, word: int) -> Enclosure:
        """Return the same word everywhere."""
        number = fmt if isinstance(fmt, IntegerFormat) else float_format(fmt)
        if isinstance(number, Format) and (number.is_nan(word) or number.is_infinite(word)):
            raise Unbounded(f"a constant is {number.describe(word)} in {number.name}")
        one = self.given(fmt, np.array(word, unsigned(fmt)))
        return replace(one, words=self.arrays.constant(fmt=fmt, word=word))

    # --- operations

    def add(self, x: Enclosure, y: Enclosure, *, fmt: AnyFormat, shift: int, rounding: Rounding) -> Enclosure:
        """x·2^-shift + y, rounded once: a sum of two numbers of the format that is subnormal is exact."""
        if x.zero or (y.zero and not shift):
            return y if x.zero else x
        left, right = self._aligned(x, y)
        total = _total(left, right)
        if total is None:
            left = _shifted(left, shift)
            total = left if y.zero else _sum(left, right)
        how = {"fmt": fmt, "shift": shift, "rounding": rounding}
        return self._result("add", (x, y), fmt, total, how, share_of(rounding), exact_below=not shift)

    def multiply(self, x: Enclosure, y: Enclosure, *, fmt: AnyFormat, rounding: Rounding) -> Enclosure:
        """x·y, rounded once."""
        how = {"fmt": fmt, "rounding": rounding}
        return self._result("multiply", (x, y), fmt, _product(*self._aligned(x, y)), how, share_of(rounding))

    def multiply_add(self, x: Enclosure, y: Enclosure, z: Enclosure, *, fmt: Format) -> Enclosure:
        """x·y + z, rounded once to nearest even."""
        left, right, last = self._aligned(x, y, z)
        product = _product(left, right)
        total = product if z.zero else _sum(product, last)
        return self._result("multiply_add", (x, y, z), fmt, total, {"fmt": fmt}, _HALF)

    def divide(self, x: Enclosure, y: Enclosure, *, fmt: Format, rounding: Rounding) -> Enclosure:
        """x / y, rounded once; there is no bound where y may be 0."""
        left, right = self._aligned(x, y)
        how = {"fmt": fmt, "rounding": rounding}
        return self._result("divide", (x, y), fmt, _quotient(left, right), how, share_of(rounding))

    def negate(self, x: Enclosure, *, fmt: AnyFormat) -> Enclosure:
        """-x."""
        opposite = Enclosure(-x.value, x.error, x.off, x.zero)
        if x.words is not None:
            return replace(opposite, words=self.arrays.negate(x.words, fmt=fmt))
        if isinstance(fmt, IntegerFormat):
            self._within(fmt, opposite)
        else:
            self._signed(float_format(fmt), opposite)
        return opposite

    def maximum(
        self, x: Enclosure, y: Enclosure | None = None, *, fmt: AnyFormat, nan: str, side: str = "a"
    ) -> Enclosure:
        """Return the larger one: it is off by no more than the one that is off by more."""
        if y is None:
            largest, *others = self._along(x, side)
            for one in others:
                largest = self.maximum(largest, one, fmt=fmt, nan=nan)
            return largest
        left, right = self._aligned(x, y)
        larger = Enclosure(
            np.maximum(left.value, right.value),
            np.maximum(left.error, right.error),
            np.maximum(left.off, right.off),
        )
        return self._known("maximum", (x, y), fmt, larger, {"fmt": fmt, "nan": nan}) or larger

    def compare(self, x: Enclosure, y: Enclosure, *, fmt: AnyFormat, relation: str) -> Enclosure:
        """Return 1 where it holds, else 0; off by 1 where the program's numbers may say otherwise."""
        left, right = self._aligned(x, y)
        value = {"equal": np.equal, "less": np.less, "less_equal": np.less_equal}[relation](
            left.value, right.value
        ).astype(np.float64)
        apart = np.abs(left.value - right.value)
        exact = added(left.error, right.error)
        # the numbers as they are may be equal only where all of them are exact, in binary64, too
        doubtful = (exact > 0) & ~(apart > exact)
        all_off = added(exact, left.off, right.off)
        unsure = (all_off > 0) & ~(apart > all_off)
        truth = Enclosure(value, doubtful.astype(np.float64), unsure.astype(np.float64))
        return self._known("compare", (x, y), TRUTH, truth, {"fmt": fmt, "relation": relation}) or truth

    def select(self, condition: Enclosure, x: Enclosure, y: Enclosure, *, fmt: AnyFormat) -> Enclosure:
        """Return x where the condition holds, else y; where it is in doubt, the hull of both."""
        truth, left, right = self._aligned(condition, x, y)
        holds = truth.value != 0
        chosen, other = ((left, right), (right, left))
        value, error, off = (
            np.where(holds, getattr(chosen[0], name), getattr(other[0], name))
            for name in ("value", "error", "off")
        )
        apart = added(np.abs(left.value - right.value), left.error, right.error)
        either = added(np.maximum(left.off, right.off), apart)
        unsure = (truth.error > 0) | (truth.off > 0)
        result = Enclosure(
            value, np.where(truth.error > 0, added(error, apart), error), np.where(unsure, either, off)
        )
        return self._known("select", (condition, x, y), fmt, result, {"fmt": fmt}) or result

    def function(self, x: Enclosure, *, name: str, fmt: Format) -> Enclosure:
        """Return 2^x to nearest: it grows with x. Other functions are refused."""
        if name != "ex2":
            raise Unbounded(f"no rule is about the function {name}")
        value = np.exp2(x.value)
        doubt = added(multiplied(value, np.full_like(value, 2 * _DOUBT)), np.full_like(value, _SMALLEST))
        error = added(doubt, _grown(added(value, doubt), x.error))
        power = Enclosure(value, error, _grown(added(value, error), x.off))
        return self._result("function", (x,), fmt, power, {"name": name, "fmt": fmt}, _HALF)

    def sum(
        self, x: Enclosure, *, fmt: AnyFormat, tree: SumOrder, rounding: Rounding, side: str
    ) -> Enclosure:
        """Return the sum along an axis, each addition rounded."""
        return tree.sum(
            self._along(x, side), lambda x, y: self.add(x, y, fmt=fmt, shift=0, rounding=rounding)
        )

    def pick(self, x: Enclosure, *, at: int, side: str) -> Enclosure:
        """Return one of the values along an axis."""
        return self._along(x, side)[at]

    def convert(
        self, x: Enclosure, *, source: AnyFormat, target: AnyFormat, rounding: Rounding, saturate: bool
    ) -> Enclosure:
        """x in another format, rounded once."""
        how = {"source": source, "target": target, "rounding": rounding, "saturate": saturate}
        if isinstance(source, IntegerFormat) or isinstance(target, IntegerFormat):
            exact = replace(x, words=None)
            if isinstance(target, Format):
                if getattr(source, "fraction_bits", 0):
                    raise Unbounded(f"no rule is about {source.name} in {target.name}")
                return self._result("convert", (x,), target, exact, how, share_of(rounding), integer=True)
            return self._known("convert", (x,), target, exact, how) or exact
        if target.holds(source):
            return self._known("convert", (x,), target, x, how) or x
        return self._result("convert", (x,), target, x, how, share_of(rounding), saturate=saturate)

    def convert_randomly(
        self, x: Enclosure, random: Enclosure, *, source: Format, target: Format, bits: int, saturate: bool
    ) -> Enclosure:
        """x in another format: one of its two neighbours, whatever the random bits are."""
        return self._rounded(x, target, _ONE, saturate=saturate, up=True)

    def compensated(
        self,
        total: Enclosure,
        error: Enclosure,
        x: Enclosure,
        *,
        scheme: str,
        fmt: Format,
        shift: int,
        rounding: Rounding,
    ) -> tuple[Enclosure, Enclosure]:
        """Return the next total and error of a compensated sum, by the rule of all of its steps.

        Exactly, the error is 0.
        """
        if COMPENSATIONS[scheme].exact_error and not rounding.ties_to_even:
            raise Unbounded(f"{scheme} is exact to nearest alone, not with {rounding.name} ({KNUTH})")
        if not error.zero and (total.partner is None or total.partner is not error.partner):
            raise Unbounded(f"{scheme}: the error is not that of the total")
        u = share_of(rounding) / 2**fmt.fraction_bits
        summand = _shifted(x, shift)
        held = total.off if total.both is None or error.zero else total.both
        exact = _sum(Enclosure(total.value, total.error, held), summand)
        scaling = np.zeros_like(exact.value)
        if shift:
            scaling = scaling + number_above(2 * u * Fraction(2) ** fmt.e_min)
        before, own, e = (part + np.zeros_like(scaling) for part in (exact.reach, summand.reach, error.off))
        lost, error_off, reach = compensated_loss(scheme, u, before, own, e, scaling)
        self._below(fmt.largest_finite, reach)
        both, pair, nothing = added(exact.off, scaling, lost), object(), np.zeros_like(scaling)
        return (
            Enclosure(exact.value, exact.error, added(both, error_off), both=both, partner=pair),
            Enclosure(nothing, nothing, error_off, partner=pair),
        )

    # --- results

    def _result(
        self,
        kind: str,
        takes: tuple[Enclosure, ...],
        fmt: AnyFormat,
        exact: Enclosure,
        how: dict[str, Any],
        share: Fraction,
        **rounded: bool,
    ) -> Enclosure:
        """Return an operation's result: its words where all that it takes is known, else rounded.

        exact: of the program's numbers before they are rounded. Integers wrap where there is no bound.
        """
        known = self._known(kind, takes, fmt, exact, how)
        if known is not None:
            return known
        if isinstance(fmt, IntegerFormat):
            self._within(fmt, exact)
            return exact
        return self._rounded(exact, float_format(fmt), share, **rounded)

    def _known(
        self, kind: str, takes: tuple[Enclosure, ...], fmt: AnyFormat, exact: Enclosure, how: dict[str, Any]
    ) -> Enclosure | None:
        """Return the words, and how far they are off; None where what the step takes is not known."""
        if any(x.words is None for x in takes):
            return None
        return self.measured(fmt, getattr(self.arrays, kind)(*(x.words for x in takes), **how), exact)

    def measured(self, fmt: AnyFormat, words: Array, exact: Enclosure) -> Enclosure:
        """Return words with how far they are off the exact value; infinitely where they are not finite."""
        one = self.given(fmt, words, known=True)
        apart = np.abs(one.value - exact.value)
        off = added(np.where(apart > 0, np.nextafter(apart, np.inf), 0.0), exact.error, one.off)
        value, error = (part + np.zeros_like(off) for part in (exact.value, exact.error))
        return Enclosure(value, error, off, one.zero and not off.any(), words)

    def _rounded(
        self,
        x: Enclosure,
        fmt: Format,
        share: Fraction,
        *,
        exact_below: bool = False,
        saturate: bool = False,
        up: bool = False,
        integer: bool = False,
    ) -> Enclosure:
        """Rounded to a format: off by a share of the last bit more. exact_below: but of subnormal results.

        saturate: what is larger than the largest number becomes that number. up: a number may be rounded to
        the next one although it is a number of the format's that is the largest. integer: whether it is one,
        of which nothing is lost up to as many bits as a significand has.
        """
        self._signed(fmt, x)
        reach = x.reach
        lost = scaled(reach, share / 2**fmt.fraction_bits)
        if integer:
            lost = np.where(reach <= 2.0**fmt.precision, 0.0, lost)
        elif not exact_below:
            last = share * Fraction(2) ** (fmt.e_min - fmt.fraction_bits)
            lost = np.where(reach > 0, np.maximum(lost, number_above(last)), lost)
        largest = fmt.largest_finite
        if saturate:
            # what is cut off of a number that is too large
            lost = np.maximum(lost, np.maximum(0.0, np.nextafter(reach - float(largest), np.inf)))
        else:
            self._below(largest, added(reach, lost) if up else reach)
        return Enclosure(x.value, x.error, added(x.off, lost))

    def _below(self, limit: Fraction, reach: Array) -> None:
        """Note where a value may not be below a limit: there it may overflow, or no lemma holds."""
        below = float(limit)
        if Fraction(below) > limit:
            below = float(np.nextafter(below, 0.0))
        np.logical_or(self.overflows, ~(reach < below), out=self.overflows)

    def _signed(self, fmt: Format, x: Enclosure) -> None:
        """Note where a number may be negative, of a format without a sign; refuse one without a zero."""
        if not fmt.has_subnormals:
            raise Unbounded(f"{fmt.name} has no zero: no rule is about numbers that are rounded to it")
        if not fmt.signed:
            np.logical_or(self.overflows, ~(x.value >= added(x.error, x.off)), out=self.overflows)

    def _within(self, fmt: IntegerFormat, x: Enclosure) -> None:
        """Note where an integer may lie outside of its format."""
        unit = Fraction(1, 1 << fmt.fraction_bits)
        low, high = float(fmt.low * unit), float(fmt.high * unit)
        apart = added(x.error, x.off)
        inside = (x.value - apart >= low) & (added(np.abs(x.value), apart) <= high)
        np.logical_or(self.overflows, ~inside, out=self.overflows)

    # --- axes

    def _aligned(self, *takes: Enclosure) -> tuple[Enclosure, ...]:
        """Return values that broadcast: of elements apart, those of a row get an axis along K beside them."""
        most = max(x.value.ndim for x in takes)
        if len(self.shape) > 1 or most < 2:
            return takes
        return tuple(
            Enclosure(x.value[:, None], x.error[:, None], x.off[:, None], x.zero) if x.value.ndim == 1 else x
            for x in takes
        )

    def _along(self, x: Enclosure, side: str) -> list[Enclosure]:
        """Return the values along an axis, each of a row or a column, as :class:`.ArrayRules` has them."""
        if len(self.shape) == 1:
            return [x.at((slice(None), n)) for n in range(x.value.shape[1])]
        if side == "b":
            return [x.at((slice(n, n + 1), slice(None))) for n in range(x.value.shape[0])]
        return [x.at((slice(None), slice(n, n + 1))) for n in range(x.value.shape[1])]


def numbers(fmt: AnyFormat, words: Array) -> Array:
    """Return the numbers of words, in binary64."""
    if isinstance(fmt, IntegerFormat):
        if fmt.bits > _BITS:
            raise Unbounded(f"binary64 does not hold all numbers of {fmt.name}")
        return integers_of_words(fmt, words) * 2.0**-fmt.fraction_bits
    return floats(float_format(fmt), words)


def _half_bit(x: Array) -> Array:
    """Return what a rounded result of binary64 may be off by."""
    return scaled(np.abs(x), _HALF_BIT)


def _shifted(x: Enclosure, shift: int) -> Enclosure:
    """x·2^-shift."""
    if not shift:
        return x
    value, factor = np.ldexp(x.value, -shift), Fraction(1, 2**shift)
    tiny = np.where((x.value != 0) & (np.abs(value) < _TINY), _SMALLEST, 0.0)
    return Enclosure(value, added(scaled(x.error, factor), tiny), scaled(x.off, factor))


def _total(x: Enclosure, y: Enclosure) -> Enclosure | None:
    """Return the sum of a total and its own error; None: they are none."""
    if x.partner is None or x.partner is not y.partner:
        return None
    (total,) = (one for one in (x, y) if one.both is not None)
    assert total.both is not None
    return Enclosure(total.value, total.error, total.both)


def _sum(x: Enclosure, y: Enclosure) -> Enclosure:
    """Return the exact sum of both."""
    value = x.value + y.value
    return Enclosure(value, added(x.error, y.error, _half_bit(value)), added(x.off, y.off))


def _product(x: Enclosure, y: Enclosure) -> Enclosure:
    """Return the exact product of both."""
    value = x.value * y.value
    error = added(
        multiplied(x.size, y.error),
        multiplied(x.error, y.size),
        multiplied(x.error, y.error),
        _half_bit(value),
        np.where((x.value != 0) & (y.value != 0), _SMALLEST, 0.0),
    )
    off = added(multiplied(x.size, y.off), multiplied(x.off, y.size), multiplied(x.off, y.off))
    # zero times what may be infinite is no number
    error = np.where(np.isfinite(x.error) & np.isfinite(y.error), error, np.inf)
    return Enclosure(value, error, np.where(np.isfinite(x.off) & np.isfinite(y.off), off, np.inf))


def _quotient(x: Enclosure, y: Enclosure) -> Enclosure:
    """Return the exact quotient: |x'/y' - x/y| <= (|x' - x| + |x/y|·|y' - y|) / |y'|."""
    with np.errstate(divide="ignore", invalid="ignore"):
        value = x.value / y.value
        size = np.abs(y.value)
        least = np.nextafter(np.nextafter(size, 0.0) - y.error, 0.0)  # of the exact divisor
        last = np.nextafter(least - y.off, 0.0)  # of the program's
        error = added(x.error, multiplied(np.abs(value), y.error)) / least
        error = added(np.nextafter(error, np.inf), _half_bit(value), np.full_like(value, _SMALLEST))
        off = added(x.off, multiplied(added(np.abs(value), error), y.off)) / last
        off = np.where(off > 0, np.nextafter(off, np.inf), off)
    # where there is no exact quotient, nothing is known of what is made of it
    exactly = (least > 0) & np.isfinite(error)
    sure = exactly & (last > 0) & np.isfinite(off)
    return Enclosure(
        np.where(exactly, value, 0.0), np.where(exactly, error, np.inf), np.where(sure, off, np.inf)
    )


def _grown(value: Array, apart: Array) -> Array:
    """Return how much 2^x grows, at most, where x grows by so much: value·(2^apart - 1)."""
    with np.errstate(over="ignore"):
        growth = np.expm1(apart * (np.log(2.0) * (1 + _DOUBT))) * (1 + _DOUBT)
    return multiplied(value, np.where(apart > 0, np.nextafter(growth, np.inf), 0.0))
