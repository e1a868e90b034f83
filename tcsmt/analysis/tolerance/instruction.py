"""The error of one instruction of a chain, bounded by a linear function of the magnitudes of its terms.

The steps of an instruction, and what each of them loses at most, are those of the error budget
(:mod:`tcsmt.analysis.bounds.steps`, :mod:`tcsmt.analysis.bounds.fused_loss`): lemmas about the unit's own
graph. Here they are put together once for whatever the numbers are. With the error of the sum so far, and
with bounds of sizes, all not negative,

* ``before``: how far the sum so far is off;
* ``sums``: the magnitude of each exact partial sum that has the sum so far in it;
* ``products``: Σ |a·b| of the instruction, a subnormal operand counting as the smallest normal number;
* ``largest``: the largest of these |a·b|;
* ``top``: the larger of ``sums`` and ``largest``;

the result is off by at most ``before``·x0 + ``sums``·x1 + ``products``·x2 + ``largest``·x3 + ``top``·x4 +
x5, the x being these rational numbers. A fused sum aligns to 2^T, T being the exponent of a number that is
not zero, and no number is smaller than 2 to the power of its exponent, but a subnormal operand: so 2^T is at
most the largest product, or the sum so far with its error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache

from tcsmt.analysis.bounds.fused_loss import C, ErrorTerms, Unbounded, share_of
from tcsmt.analysis.bounds.gradual_loss import GradualSum
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.bounds.steps import FusedStep, IeeeStep, Source, StepResult, steps_of
from tcsmt.analysis.tolerance.upward import number_above
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, float_format
from tcsmt.matrix_units.models import Model

#: What is taken from the standard.
_IEEE = "an IEEE operation loses half of its result's last bit at most to nearest, else all (754-2019, 4.3)"
_ZERO, _ONE = Fraction(0), Fraction(1)
#: How far above its format's smallest normal number the results of tiny products may be.
_TINY = 16
#: Exponents of operands are asked about from multiples of this on.
_ROUND = 20


@dataclass(frozen=True)
class Linear:
    """``before``·x0 + ``sums``·x1 + ``products``·x2 + ``largest``·x3 + ``top``·x4 + ``always``."""

    before: Fraction = _ZERO
    sums: Fraction = _ZERO
    products: Fraction = _ZERO
    largest: Fraction = _ZERO
    top: Fraction = _ZERO
    always: Fraction = _ZERO

    def __add__(self, other: Linear) -> Linear:
        return Linear(**{name: getattr(self, name) + getattr(other, name) for name in _NAMES})

    def times(self, factor: Fraction) -> Linear:
        """Each of the numbers, multiplied."""
        return Linear(**{name: getattr(self, name) * factor for name in _NAMES})


_NAMES = tuple(Linear.__dataclass_fields__)


@dataclass(frozen=True)
class InstructionLoss:
    """What an instruction loses, and below what every sum in it must stay, its error included.

    k: its products. low, high: the exponents of operands that are not zero.
    """

    k: int
    low: int
    loss: Linear
    limit: Fraction
    high: int

    def growth(self, count: int) -> float:
        """By which so many instructions multiply an error that is there before them, at most."""
        return _growth(self.loss.before, count)


@cache
def _growth(factor: Fraction, count: int) -> float:
    return number_above(factor**count)


@dataclass(frozen=True)
class _Partial:
    """A partial sum: which of c and the lanes are in it, how often, and how far it is off."""

    content: Counter[int] = field(default_factory=Counter)
    off: Linear = field(default_factory=Linear)

    @property
    def has_sum(self) -> bool:
        """Return whether the sum so far is in it."""
        return self.content[C] > 0

    @property
    def size(self) -> Linear:
        """Return the magnitude of the exact partial sum at most."""
        return Linear(sums=_ONE) if self.has_sum else Linear(products=_ONE)


def least_exponent(unit: Model, low: int) -> int:
    """Return the exponent from which operands are asked about, where none that is not zero has one below
    ``low``.

    A few round numbers, so that few different lemmas are asked for.
    """
    smallest = min(float_format(fmt).e_min for fmt in (unit.a_format, unit.b_format))
    return max(min(low // _ROUND, -1) * _ROUND, smallest)


def greatest_exponent(unit: Model, high: int) -> int:
    """Return the same up to which operands are asked about, where none has an exponent above ``high``."""
    largest = max(float_format(fmt).e_max for fmt in (unit.a_format, unit.b_format))
    return min(max(-(-high // _ROUND), 1) * _ROUND, largest)


def instruction_loss(chain: StepwiseProof, unit: Model, low: int, high: int | None = None) -> InstructionLoss:
    """Return the loss of an instruction on finite operands, none of which but zeros has an exponent below
    ``low``.

    high: the largest exponent of an operand, where products of larger ones are other numbers (as they
    overflow); None: that of the formats. Its lemmas are added to the chain. Block scales are refused. Raises
    :class:`.Unbounded`, with the reason, where no lemma covers a step.
    """
    _check_formats(unit)
    if high is None:
        high = max(float_format(fmt).e_max for fmt in (unit.a_format, unit.b_format))
    steps = steps_of(chain, unit, low, high)
    partials: list[_Partial] = []
    limits: list[Fraction] = []

    def read(source: Source) -> _Partial:
        if isinstance(source, StepResult):
            return partials[source.step]
        return _Partial(Counter([source]), Linear(before=_ONE) if source == C else Linear())

    for step in steps:
        if isinstance(step, IeeeStep):
            partials.append(_operation(chain, unit, step, [read(source) for source in step.sources]))
            limits.append(step.operation.format.largest_finite)
        else:
            start = _Partial() if step.start is None else read(step.start)
            partials.append(_fused(chain, step, start, [read(source) for source in step.sources]))
            limits.append(Fraction(2) ** step.sum.format.e_max)
    last = partials[-1]
    if last.content != Counter([C, *range(unit.k)]):
        raise Unbounded("an instruction does not add c and each lane's product once")
    return InstructionLoss(unit.k, low, last.off, min(limits), high)


def _check_formats(unit: Model) -> None:
    formats: Mapping[str, AnyFormat] = unit.input_formats | {"d": unit.d_format}
    for name, fmt in formats.items():
        if not isinstance(fmt, Format):
            raise Unbounded(
                f"{name} is {fmt.name}: integers are exact or wrap; `tcsmt accuracy exact` says which"
            )
    if unit.scale_format is not None:
        raise Unbounded("no lemma is about block scales other than 1")


def _operation(chain: StepwiseProof, unit: Model, step: IeeeStep, parts: Sequence[_Partial]) -> _Partial:
    """An IEEE operation: the exact sum of its inputs, rounded once."""
    chain.know(_IEEE)
    exact = _joined(parts)
    off = exact.off
    if step.drops:
        off += Linear(always=Fraction(2) ** float_format(unit.c_format).e_min)
    if len(step.sources) == 1 and step.sources[0] in step.fits:
        return _Partial(exact.content, off)  # in a format that holds it
    operation = step.operation
    fmt, share = operation.format, share_of(operation.rounding)
    smallest = _ZERO
    if operation.flush:
        smallest = Fraction(2) ** fmt.e_min
    elif not step.fine:
        smallest = share * Fraction(2) ** (fmt.e_min - fmt.fraction_bits)
    rounded = (exact.size + off).times(share / 2**fmt.fraction_bits)
    return _Partial(exact.content, off + rounded + Linear(always=smallest))


def _fused(chain: StepwiseProof, step: FusedStep, start: _Partial, parts: Sequence[_Partial]) -> _Partial:
    """A fused sum; every number may be other than zero, which loses no less than zeros do."""
    exact, fused = _joined([start, *parts]), step.sum
    live = frozenset(range(len(parts))) | ({C} if start.content else set())
    off = exact.off
    if fused.drops_below is not None and start.content:
        off += Linear(always=Fraction(2) ** fused.drops_below)
    losses, tiny = _losses(chain, step, live)
    off += Linear(always=tiny)
    if losses is None:
        return _Partial(exact.content, off)
    if start.has_sum:
        top = Linear(top=_ONE) + off  # the sum so far may be larger by its error
    elif start.content:
        top = Linear(products=_ONE) + off  # products of earlier steps
    else:
        top = Linear(largest=_ONE)
    top += Linear(always=losses.floor)
    of_top, of_size = _rounding(losses, fused.precision, fused.sum.fraction_bits, fused.sum.word.width)
    lost = top.times(losses.cut + of_top) + (exact.size + off).times(of_size)
    lost += Linear(products=_miscounted(losses, fused.sum.fraction_bits))
    lost += Linear(always=losses.tiny_c_loss + losses.smallest_loss)
    return _Partial(exact.content, off + lost)


def _losses(
    chain: StepwiseProof, step: FusedStep, live: Collection[int]
) -> tuple[ErrorTerms | None, Fraction]:
    """Return what a fused sum loses, and what it loses where all products are too small for these lemmas.

    Where there may be such products, lemmas about sums of any size come first.
    """
    fused = step.sum
    if step.least >= fused.lowest:
        return fused.losses(chain, live), _ZERO
    found: list[ErrorTerms] = []

    def gradually() -> bool:
        try:
            found.append(GradualSum.of(fused).losses(chain, live))
        except Unbounded:
            return False
        return True

    if chain.attempt(gradually):
        return found[0], _ZERO
    tiny = _of_tiny_products(chain, step)
    return fused.losses(chain, live), tiny


def _of_tiny_products(chain: StepwiseProof, step: FusedStep) -> Fraction:
    """Return what is lost where all products are so small that the lemmas do not hold: sum and result are
    small then.

    Refused where that is so much that a bound would say nothing.
    """
    fused = step.sum
    highest = fused.lowest + fused.sum.word.width - fused.sum.fraction_bits
    if highest > fused.format.e_min + _TINY:
        raise Unbounded(f"exponents of products from {step.least}: the lemmas hold from {fused.lowest}")
    return fused.stays_small(chain)


def _joined(parts: Sequence[_Partial]) -> _Partial:
    """Return the exact sum of partial sums."""
    return _Partial(sum((p.content for p in parts), Counter()), sum((p.off for p in parts), Linear()))


def _rounding(losses: ErrorTerms, precision: int, bits: int, width: int) -> tuple[Fraction, Fraction]:
    """Return what the last rounding loses at most, relative to 2^T, and to the sum: both count.

    precision: bits of the result. bits, width: fraction bits and all bits of the word of the sum. A sum whose
    leading bit lies higher is larger, relative to 2^T, by what alignment cannot have lost.
    """
    of_top = of_size = _ZERO
    for place in range(precision, width - 1):
        last = 1 << (place - precision + 1)
        rounded = Fraction(last - 1) if losses.share == 1 else losses.share * last
        lower = Fraction(1 << place, 1 << bits) - losses.cut
        if lower > 0:
            of_size = max(of_size, rounded / 2**bits / lower)
        else:
            of_top = max(of_top, rounded / 2**bits)
    return of_top, of_size


def _miscounted(losses: ErrorTerms, bits: int) -> Fraction:
    """Return what a sum of -1 unit loses, relative to Σ |a·b|: it is one of numbers that nearly cancel."""
    if not losses.wrong_unit_loss:
        return _ZERO
    rest = 1 - losses.cut - Fraction(4, 2**bits)
    if rest <= 0:
        raise Unbounded("terms that nearly cancel may be those that alignment leaves of others")
    return losses.wrong_unit_loss / rest
