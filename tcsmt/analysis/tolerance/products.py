"""The rules of chains on what is known of each value: what a unit's instructions lose of their products."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.tolerance.enclosures import ElementRules, Enclosure
from tcsmt.analysis.tolerance.instruction import InstructionLoss
from tcsmt.analysis.tolerance.upward import added, dot_error, multiplied, number_above, scaled
from tcsmt.matrix_units.arithmetic.conversion import floats, integers_of_words
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, IntegerFormat, float_format
from tcsmt.matrix_units.models import Model
from tcsmt.programs.steps.program import Indices, ProductRun
from tcsmt.programs.steps.split import Split
from tcsmt.support.errors import InternalError

Array = np.ndarray[Any, np.dtype[Any]]
#: More than what 2^8 operations on bounds lose, each half of its result's last bit: sums, products, larger
#: ones.
_UP = 1 + 2.0**-44
#: Exponents of exact operands, below which their products might leave binary64.
_LEAST = -400
#: Units whose words have more bits may have products that are as small as what bounds lose.
_NARROW = 32


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
#: What an instruction of a unit loses on operands of exponents from the one to the other.
LossOf = Callable[[Model, int, int], InstructionLoss]


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
class _Operand:
    """Numbers of an operand as a unit reads them, zeros in place of others, and the exponents of those that
    are not zero.
    """

    values: Array
    e_min: int
    low: int
    high: int


@dataclass(frozen=True)
class EnclosureRules(ElementRules):
    """The rules of each step on enclosures.

    loss_of: what an instruction of a unit loses. together: instructions whose partial sums are bounded
    together.
    """

    loss_of: LossOf
    together: int = 1
    #: By the operand and the side: what has been read of it.
    _sides: dict[tuple[int, int], tuple[Enclosure, _Operand]] = field(default_factory=dict)
    _products: dict[tuple[int, int], Summed] = field(default_factory=dict)

    def split(self, x: Enclosure, *, split: Split, side: str) -> list[Enclosure]:
        """Return the words of each number; exactly, the last one is all that is left over."""
        if x.words is None:
            raise Unbounded("a split of numbers that other chains give")
        rest, parts = x, []
        for place, words in enumerate(self.arrays.split(x.words, split=split, side=side)):
            one = self.given(split.format, words, known=True)
            if place == split.words - 1:
                factor = 2.0 ** (split.scale * place)
                exact = Enclosure(rest.value * factor, rest.error * factor, rest.off)
                one = self.measured(split.format, words, exact)
            else:
                value = np.ldexp(one.value, -split.scale * place)
                left = rest.value - value
                error = added(rest.error, np.where(left == 0, 0.0, np.spacing(np.abs(left))))
                rest = Enclosure(left, error, rest.off)
            parts.append(one)
        return parts

    def chain(
        self, c: Enclosure | None, *operands: Any, unit: Model, runs: Sequence[ProductRun]
    ) -> Enclosure:
        """Instructions one after the other; some at a time, between whose ends no partial sum is larger than
        the mean of both ends and of Σ |a·b|.
        """
        if len(operands) > 2:
            raise Unbounded("no lemma is about block scales other than 1")
        start = self.constant_zero() if c is None else c
        taken = [(_word(operands[0], run, 0), _word(operands[1], run, 1)) for run in runs]
        sides = [(self._side(x, unit, 0), self._side(y, unit, 1)) for x, y in taken]
        loss = self._loss(unit, [side for pair in sides for side in pair])
        length = loss.k * self.together
        groups = [
            (number, run.indices[first : first + length])
            for number, run in enumerate(runs)
            for first in range(0, len(run.indices), length)
        ]
        every = sum(len(run.indices) for run in runs)
        wide = any(fmt.width > _NARROW for fmt in (unit.a_format, unit.b_format, unit.c_format))
        # of every sum of some groups' values in binary64, relative to Σ |a·b| and c
        share = number_above(dot_error(every + 2 * len(groups) + 2))
        value, size, off = start.value, start.size, start.off
        before, largest = np.abs(value), np.zeros(self.shape)
        for number, some in groups:
            own, count = self._summed(*taken[number], *sides[number])(some), -(-len(some) // loss.k)
            value = value + own.value
            after = np.abs(value)
            size = (size + own.size) * _UP
            sums = ((before + after + own.size) * 0.5 + (size * share + start.error)) * _UP
            off = (off + _lost(loss, count, own, sums, off, wide)) * (loss.growth(count) * _UP)
            largest = np.maximum(largest, sums + own.size)
            before = after
        self._below(loss.limit, added(largest, off))
        result = Enclosure(value, added(start.error, (size * share) * _UP), off)
        return (
            result
            if all(_is_exact(x) for pair in taken for x in pair)
            else self._exact(result, start, [run.indices for run in runs], taken)
        )

    def padding(self, c: Enclosure, *, unit: Model) -> Enclosure:
        """Return what an instruction makes of c where all that it multiplies is +0."""
        loss, nothing = self.loss_of(unit, 0, 0), np.zeros(self.shape)
        sums = c.size + nothing
        wide = any(fmt.width > _NARROW for fmt in (unit.a_format, unit.b_format, unit.c_format))
        none = SizedProducts(nothing, nothing, nothing, nothing)
        off = (c.off + _lost(loss, 1, none, sums, c.off, wide)) * (loss.growth(1) * _UP)
        self._below(loss.limit, added(sums, off))
        return Enclosure(c.value, c.error, off)

    def _exact(
        self,
        result: Enclosure,
        start: Enclosure,
        indices: Sequence[Indices],
        taken: Sequence[tuple[Enclosure, ...]],
    ) -> Enclosure:
        """Return a chain's result where its operands are off: what it is off by them is measured."""
        of = of_matrices if len(self.shape) > 1 else of_rows
        value, size, error = start.value, start.size, start.error
        for some, (x, y) in zip(indices, taken, strict=True):
            least = (_LEAST, _LEAST)
            own = of(x.value, y.value, least)(some)
            value, size = value + own.value, added(size, own.size)
            # |x|·dy + dx·|y| + dx·dy
            more = [
                of(first, second, least)(some).size
                for first, second in ((x.size, y.error), (x.error, y.size))
                if first.any() and second.any()
            ]
            error = added(error, own.error, *more)
        steps = number_above(dot_error(len(indices) + 2))
        error = added(error, multiplied(size, np.full_like(size, steps)))
        apart = np.abs(result.value - value)
        apart = np.where(apart > 0, np.nextafter(apart, np.inf), 0.0)
        return Enclosure(value, error, added(result.off, apart, result.error, error))

    def _side(self, x: Enclosure, unit: Model, side: int) -> _Operand:
        """Return an operand as a unit reads it; where it is not finite, no element has a bound."""
        if x.words is None:
            raise Unbounded("a chain multiplies numbers that other chains give")
        fmt = (unit.a_format, unit.b_format)[side]
        key = id(x), side
        if key not in self._sides:
            values, e_min = _read(fmt, x.words)
            bad = ~np.isfinite(values) | ~np.isfinite(x.off) | ~np.isfinite(x.error)
            values = np.where(bad, 0.0, values)
            axis = 1 if side == 0 or len(self.shape) == 1 else 0
            row = np.asarray(bad.any(axis=axis))
            if len(self.shape) > 1:
                row = row[:, None] if side == 0 else row[None, :]
            np.logical_or(self.overflows, row, out=self.overflows)
            sizes = np.abs(values)
            low, high = (
                (
                    max(int(np.frexp(end)[1]) - 1, e_min)
                    for end in (np.where(sizes > 0, sizes, np.inf).min(), sizes.max())
                )
                if sizes.any()
                else (0, 0)
            )
            self._sides[key] = x, _Operand(values, e_min, low, high)
        return self._sides[key][1]

    def _loss(self, unit: Model, sides: Sequence[_Operand]) -> InstructionLoss:
        low, high = min(side.low for side in sides), max(side.high for side in sides)
        loss = self.loss_of(unit, low, high)
        if high > loss.high:
            raise InternalError(f"operands up to 2^{high}, and lemmas up to 2^{loss.high}")
        return loss

    def _summed(self, x: Enclosure, y: Enclosure, left: _Operand, right: _Operand) -> Summed:
        key = id(x), id(y)
        if key not in self._products:
            of = of_matrices if len(self.shape) > 1 else of_rows
            self._products[key] = of(left.values, right.values, (left.e_min, right.e_min))
        return self._products[key]


def _word(operand: Any, run: ProductRun, side: int) -> Enclosure:
    """Return an operand, or the word of its split that a run takes."""
    word: Enclosure = operand if run.words is None else operand[run.words[side]]
    return word


def _is_exact(x: Enclosure) -> bool:
    return not x.off.any() and not x.error.any()


def _read(fmt: AnyFormat, words: Array) -> tuple[Array, int]:
    """Return the numbers of words, and the exponent of the smallest normal number."""
    if isinstance(fmt, IntegerFormat):
        return integers_of_words(fmt, words).astype(np.float64), 0
    number = float_format(fmt)
    return floats(number, words), number.e_min


def _lost(of: InstructionLoss, count: int, own: SizedProducts, sums: Array, off: Array, wide: bool) -> Array:
    """Return what so many instructions lose together. sums: no partial sum is larger. wide: whether bounds
    may be so small that binary64 does not have them.
    """
    loss = of.loss
    lost = sums * number_above(loss.sums * count)
    if loss.top:
        top = np.maximum(own.largest, sums) * count
        top = top if count == 1 else np.minimum(top, sums * count + own.size)
        lost = lost + top * number_above(loss.top)
    if loss.products:
        lost = lost + own.size * number_above(loss.products)
    if loss.largest:
        lost = lost + np.minimum(own.largest * count, own.size) * number_above(loss.largest)
    always = loss.always * count + (Fraction(1, 2**900) if wide else Fraction(0))
    if always:
        lost = lost + np.where(sums + own.size + off > 0, number_above(always), 0.0)
    return lost * _UP
