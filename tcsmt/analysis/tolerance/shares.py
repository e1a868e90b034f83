"""The reading of programs on shares: how far each value may be off, as a part of what it is made of.

What a value is made of are the products of each chain, c, a bias, and numbers that are there whatever these
are. A value is an exact combination of them (``value``), and is off by so much of each at most (``off``). So
the error that a compensated sum keeps is a combination of nothing, which is off. Where a maximum or a
condition chooses, a value is one of several combinations, whichever is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from tcsmt.analysis.bounds.compensated import KNUTH
from tcsmt.analysis.bounds.fused_loss import Unbounded, share_of
from tcsmt.analysis.tolerance.compensated_loss import compensated_loss
from tcsmt.analysis.tolerance.upward import added, number_above, scaled
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, float_format
from tcsmt.matrix_units.arithmetic.rounding import Rounding
from tcsmt.matrix_units.models import Model
from tcsmt.programs.steps.program import ProductRun
from tcsmt.programs.steps.running_sum import COMPENSATIONS
from tcsmt.programs.steps.split import Split

Array = np.ndarray[Any, np.dtype[Any]]
_HALF = Fraction(1, 2)
#: More than what sums of so many bounds, and of weights of words, lose in binary64.
_UP = 1 + 2.0**-40


@dataclass(frozen=True)
class ChainShares:
    """What a chain loses: of c and its products together, of its products, and whatever they are.

    limit: below what every sum must stay, where that has not been shown. before: by what the chain multiplies
    an error that c has (None: c must have none).
    """

    sums: Fraction
    products: Fraction = Fraction(0)
    always: Fraction = Fraction(0)
    limit: Fraction | None = None
    before: Fraction | None = None


@dataclass(frozen=True)
class Pieces:
    """What the words of an operand's split, or its numbers once rounded, are of its numbers.

    sizes: of each word, relative to the number; left: what is left over. scale: word j counts 2^(-j·scale).
    """

    split: Split | None = None
    sizes: tuple[Fraction, ...] = (Fraction(1),)
    left: Fraction = Fraction(0)

    @property
    def scale(self) -> int:
        """Return the split's scale."""
        return 0 if self.split is None else self.split.scale

    @property
    def whole(self) -> bool:
        """Return whether the unit takes the numbers as they are."""
        return self.split is None and not self.left and self.sizes == (Fraction(1),)


@dataclass(frozen=True)
class Share:
    """A value, by what it is made of. value: how often each counts in it, exactly, signs and all; off: how
    much of each it is off.

    number: a constant's. both: of a total that has an error beside it, how far both together are off;
    partner: is the same object in the two. others: of which other combinations it may be one.
    """

    value: Array
    off: Array
    number: Fraction | None = None
    both: Array | None = None
    partner: object = None
    others: tuple[Array, ...] = ()

    @property
    def values(self) -> tuple[Array, ...]:
        """Return all combinations, of which it is one."""
        return self.value, *self.others


@dataclass(frozen=True)
class ComparedShares:
    """A truth value: of two values that are compared."""

    x: Share
    y: Share


@dataclass
class ShareRules:
    """The rules of each step on shares.

    lost: what a chain of a unit loses that multiplies these runs, whether it begins with c, and whether it is
    one run of the unit's own words. most: what each of the things is at most: chains of products, then c,
    the bias, and 1. runs: what each chain multiplies, in order. pieces: of a split of A or of B. narrowed:
    what rounding an operand to another format loses, relative to it.
    """

    lost: Callable[[Model, Sequence[ProductRun], bool, bool], ChainShares]
    most: Array
    runs: list[Sequence[ProductRun]]
    k: int
    pieces: Callable[[Split, str], Pieces]
    know: Callable[[str], object] = lambda what: None
    narrowed: Callable[[Format, Format, Rounding], Fraction] | None = None
    weights: Array = field(init=False)
    operands: list[tuple[Pieces, Pieces]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.weights = np.ones_like(self.most)
        chains = [np.concatenate([np.unique(run.indices) for run in runs]) for runs in self.runs]
        times = np.bincount(np.concatenate([np.unique(chain) for chain in chains]), minlength=self.k)
        #: products that the same chains have, as rows: which chains; None: no two chains share any
        self._atoms: Array | None = None
        if (times > 1).any():
            if len(chains) * self.k > _MOST_SHARED:
                raise Unbounded(f"{len(chains)} chains share products: too many for a bound")
            there = np.zeros((self.k, len(chains)), bool)
            for number, chain in enumerate(chains):
                there[chain, number] = True
            self._atoms = np.unique(there, axis=0)

    def unit(self, place: int) -> Share:
        """Return what counts once in itself, exactly."""
        value = np.zeros_like(self.most)
        value[place] = 1.0
        return Share(value, np.zeros_like(self.most))

    def size(self, x: Share) -> Array:
        """Return the magnitude of the exact value, at most."""
        size: Array = np.max(np.abs(x.values), axis=0)
        weighted = self.weights != 1
        return np.where(weighted, np.nextafter(size * self.weights, np.inf), size) if weighted.any() else size

    def reach(self, x: Share) -> Array:
        """Return the magnitude of the value with its error, at most."""
        return added(self.size(x), x.off)

    def of_products(self, shares: Array) -> float:
        """Return what shares of the chains' products are, at most, as a part of all products."""
        if self._atoms is None:
            return float(shares.max(initial=0.0))
        return float((self._atoms @ shares).max()) * _UP

    # --- operands and chains

    def split(self, x: Pieces, *, split: Split, side: str) -> Pieces:
        """Return what the words keep. x: an operand as it is."""
        if not x.whole:
            raise Unbounded("a split of an operand that is rounded")
        return self.pieces(split, side)

    def quantise(self, x: Pieces, *largest: Share, recipe: str, role: str) -> Any:
        """Refuse: what an element loses is relative to the largest number of its block."""
        raise Unbounded(f"operands are quantised ({recipe}): no bound is relative to their own numbers")

    def chain(self, c: Any, a: Any, b: Any, *scales: Any, unit: Model, runs: Sequence[ProductRun]) -> Share:
        """A chain begins with what is given, or with zero."""
        if scales:
            raise Unbounded("no lemma is about block scales other than 1")
        if not isinstance(a, Pieces) or not isinstance(b, Pieces):
            raise Unbounded("a chain multiplies numbers that other steps give")
        if c is not None:
            self._require_sums(c)
        place = len(self.operands)
        self.operands.append((a, b))
        self._weigh(place, runs)
        products = self.unit(place)
        plain = len(runs) == 1 and a.split is None is b.split
        loss = self.lost(unit, runs, c is not None, plain)
        size = self.size(products)
        if c is None:
            return Share(products.value, self._off(loss, np.zeros_like(size), size, size))
        before = np.zeros_like(size)
        constants = [value[-1] for value in c.values if value[-1]]
        if constants:
            raise Unbounded(f"a chain begins with the constant {constants[0]:.4g}")
        if loss.limit is None and not all(self._given(value) for value in c.values):
            raise Unbounded("a chain begins with what is not c: it may overflow, or be larger than c")
        if c.off.any():
            if loss.before is None:
                raise Unbounded("a chain begins with a sum that is off")
            before = scaled(c.off, loss.before)
        sums = [_exactly(value, products.value) for value in c.values]
        return _one_of(sums, self._off(loss, before, added(self.reach(c), size), size))

    def _given(self, value: Array) -> bool:
        """Return whether a combination is nothing, or c or the bias as it is, or its opposite."""
        return bool(np.abs(value).sum() == np.abs(value[-3:-1]).max())

    def _weigh(self, place: int, runs: Sequence[ProductRun]) -> None:
        """Note how large a chain's words make a product of two numbers: the largest of all its products."""
        a, b = self.operands[place]
        alone = len(runs) == 1 and len(np.unique(runs[0].indices)) == len(runs[0].indices)
        if a.whole and b.whole and alone:
            return
        weights = np.zeros(self.k)
        for run in runs:
            i, j = run.words or (0, 0)
            scale = Fraction(2) ** (a.scale * i + b.scale * j)
            np.add.at(weights, run.indices, number_above(a.sizes[i] * b.sizes[j] * scale))
        self.weights[place] = float(weights.max()) * _UP

    def _off(self, loss: ChainShares, before: Array, sums: Array, products: Array) -> Array:
        off = added(before, scaled(sums, loss.sums), scaled(products, loss.products))
        off[-1] += number_above(loss.always)
        if loss.limit is not None:
            self._check(loss.limit, added(sums, products, off), "a sum in the unit")
        return off

    # --- operations

    def constant(self, *, fmt: AnyFormat, word: int) -> Share:
        """A number, such as alpha: so many of 1, which is the last of the things that values are made of."""
        number = float_format(fmt)
        if number.is_nan(word) or number.is_infinite(word):
            raise Unbounded(f"alpha or beta is {number.describe(word)} in {number.name}")
        value = _times(self.unit(-1).value, number.value(word))
        return Share(value, np.zeros_like(value), number.value(word))

    def add(self, x: Share, y: Share, *, fmt: AnyFormat, shift: int, rounding: Rounding) -> Share:
        """x·2^-shift + y; nothing is lost of a subnormal sum that is not shifted, or of zeros."""
        self._require_sums(x, y)
        if y.number == 0 and not shift:
            return x
        if x.number == 0:
            return y
        total = self._sum(self._shifted(x, shift), y)
        if not shift and x.partner is not None and x.partner is y.partner:  # a total and its own error
            both = [one.both for one in (x, y) if one.both is not None]
            total = replace(total, off=both[0]) if len(both) == 1 else total
        return self._rounded(total, float_format(fmt), share_of(rounding), always=bool(shift))

    def multiply_add(self, x: Share, y: Share, z: Share, *, fmt: Format) -> Share:
        """x times a constant, plus z; to nearest."""
        self._require_sums(x, y, z)
        if y.number is None:
            x, y = y, x
        if y.number is None:
            raise Unbounded("a product of two sums")
        product = _one_of([_times(value, y.number) for value in x.values], scaled(x.off, abs(y.number)))
        return self._rounded(product if z.number == 0 else self._sum(product, z), fmt, _HALF)

    def negate(self, x: Share, *, fmt: Format) -> Share:
        """-x."""
        self._require_sums(x)
        self._require_sign(fmt)
        opposite = _one_of([-value for value in x.values], x.off)
        return replace(opposite, number=None if x.number is None else -x.number)

    def maximum(self, x: Share, y: Any = None, *, fmt: AnyFormat, nan: str, side: str = "") -> Share:
        """Return the larger value: it is off by no more than the one that is off by more."""
        self._require_sums(x, y)
        return _one_of([*x.values, *y.values], np.maximum(x.off, y.off))

    def compare(self, x: Any, y: Any, *, fmt: AnyFormat, relation: str) -> ComparedShares:
        """Compare two values."""
        self._require_sums(x, y)
        return ComparedShares(x, y)

    def select(self, condition: ComparedShares, x: Share, y: Share, *, fmt: AnyFormat) -> Share:
        """Return either value, off by the worse error.

        The exact condition may choose the other one. It does so only where the values that are compared are
        closer to each other than they are off. Both values must differ by a multiple of that difference, so
        that they are close to each other there, too.
        """
        self._require_sums(x, y)
        off = np.maximum(x.off, y.off)
        doubt = added(condition.x.off, condition.y.off)
        if not self.exact_operands:
            raise Unbounded("a condition beside operands that are split or rounded")
        if doubt.any():
            sides = (x, y, condition.x, condition.y)
            factor = None
            if all(len(one.values) == 1 for one in sides):
                factor = _multiple(
                    _exactly(x.value, -y.value), _exactly(condition.x.value, -condition.y.value)
                )
            if factor is None:
                raise Unbounded(
                    "a condition on what is off may choose a value that is not near the other one"
                )
            off = added(off, scaled(doubt, factor))
        return _one_of([*x.values, *y.values], off)

    def _require_sums(self, *values: Any) -> None:
        """Refuse words of operands, and conditions, in the place of numbers of the element."""
        if not all(isinstance(value, Share) for value in values):
            raise Unbounded("operands of a chain, maxima along K, and conditions are no sums")

    @property
    def exact_operands(self) -> bool:
        """Return whether chains multiply the numbers as they are."""
        return all(side.whole for sides in self.operands for side in sides)

    def convert(self, x: Any, *, source: Format, target: Format, rounding: Rounding, saturate: bool) -> Any:
        """x in another format; nothing is lost in one that holds it."""
        if target.holds(source):
            return x
        self._require_sign(target)
        if isinstance(x, Pieces):
            if self.narrowed is None or not x.whole:
                raise Unbounded(f"operands are rounded from {source.name} to {target.name}")
            lost = self.narrowed(source, target, rounding)
            return Pieces(None, (1 + lost,), lost)
        self._require_sums(x)
        return self._rounded(x, target, share_of(rounding))

    def convert_randomly(
        self, x: Share, random: Share, *, source: Format, target: Format, bits: int, saturate: bool
    ) -> Share:
        """One of x's two neighbours, which may be above the largest number where x is close to that."""
        self._require_sums(x)
        rounded = self._rounded(x, target, Fraction(1))
        self._check(target.largest_finite, self.reach(rounded), f"a result in {target.name}")
        return rounded

    def compensated(
        self,
        total: Share,
        error: Share,
        x: Share,
        *,
        scheme: str,
        fmt: Format,
        shift: int,
        rounding: Rounding,
    ) -> tuple[Share, Share]:
        """Return the next total and error of a compensated sum, as ``compensated.py`` derives them."""
        self._require_sums(total, error, x)
        if COMPENSATIONS[scheme].exact_error:
            if not rounding.ties_to_even:
                raise Unbounded(f"{scheme} is exact to nearest alone, not with {rounding.name}")
            self.know(KNUTH)
        if total.others or x.others:
            raise Unbounded(f"{scheme}: of a value that a condition chooses")
        begins = total.both is None and error.number == 0
        if not begins and (total.partner is None or total.partner is not error.partner):
            raise Unbounded(f"{scheme}: the error is not that of the total")
        u = share_of(rounding) / 2**fmt.fraction_bits
        summand = self._shifted(x, shift)
        scaling = np.zeros_like(self.most)
        if shift:
            scaling[-1] = number_above(2 * u * Fraction(2) ** fmt.e_min)
        own, e = self.reach(summand), error.off
        held = total.off if total.both is None else total.both
        value = _exactly(total.value, summand.value)
        if value[-1] and (shift or not _has(fmt, Fraction(float(value[-1])))):
            raise Unbounded(f"{scheme}: of the constant {value[-1]:.4g}, which is rounded")
        before = added(self.size(Share(value, held)), held, summand.off)  # of total + error + x
        lost, error_off, reach = compensated_loss(scheme, u, before, own, e, scaling)
        self._check(fmt.largest_finite, reach, f"a compensated sum in {fmt.name}")
        both = added(held, summand.off, scaling, lost)
        pair = object()
        nothing = np.zeros_like(self.most)
        return (
            Share(value, added(both, error_off), both=both, partner=pair),
            Share(nothing, error_off, partner=pair),
        )

    def _shifted(self, x: Share, shift: int) -> Share:
        if not shift:
            return x
        factor = Fraction(1, 2**shift)
        moved = _one_of([_times(value, factor) for value in x.values], scaled(x.off, factor))
        return replace(moved, number=x.number)

    def _sum(self, x: Share, y: Share) -> Share:
        for one in (x, y):
            if one.number:
                raise Unbounded(f"the constant {float(one.number):.4g} is added")
        return _one_of([_exactly(one, two) for one in x.values for two in y.values], added(x.off, y.off))

    def _require_sign(self, fmt: Format) -> None:
        """Refuse a format without a sign: any number may be below 0."""
        if not fmt.signed:
            raise Unbounded(f"{fmt.name} has no sign, and what is rounded to it may be negative")

    def _rounded(self, x: Share, fmt: Format, share: Fraction, *, always: bool = True) -> Share:
        """x rounded. With zeros alone as inputs nothing may be lost: what is lost is relative to these."""
        self._require_sign(fmt)
        for value in x.values:
            if value[-1] and not _has(fmt, Fraction(float(value[-1]))):
                raise Unbounded(f"the constant {value[-1]:.4g} is rounded to {fmt.name}: inputs may be zero")
        reach = self.reach(x)
        self._check(fmt.largest_finite, reach, f"a sum in {fmt.name}")
        lost = scaled(reach, share / 2**fmt.fraction_bits)
        if always:
            lost[-1] += number_above(share * Fraction(2) ** (fmt.e_min - fmt.fraction_bits))
        return _one_of(x.values, added(x.off, lost))

    def _check(self, limit: Fraction, reach: Array, what: str) -> None:
        """Refuse what may overflow: of the chains together, the largest share of all products counts."""
        products = self.of_products(reach[:-3]) * float(self.most[:-3].max(initial=0.0))
        others = np.where(reach[-3:] > 0, reach[-3:] * self.most[-3:], 0.0)
        largest = (products + float(others.sum())) * _UP
        if not largest < limit:
            raise Unbounded(f"{what} may overflow: it may reach {largest:.4g}, of {float(limit):.4g}")

    # --- the result

    def missing(self, value: Array, target: Fraction) -> tuple[float, float]:
        """Return how much of target·Σ a·b an exact result lacks, or has too much of, as a part of Σ |a·b|;
        and what splits, or rounding operands, leave over of it.

        Raises :class:`.Unbounded` where chains split operands in other ways.
        """
        if len(set(self.operands)) != 1:
            raise Unbounded("operands are split in more than one way")
        (a, b), whole = self.operands[0], np.zeros(self.k)
        for i, left in enumerate(a.sizes):
            for j, right in enumerate(b.sizes):
                counted, scale = np.zeros(self.k), Fraction(2) ** (a.scale * i + b.scale * j)
                for number, runs in enumerate(self.runs):
                    own = [run.indices for run in runs if (run.words or (0, 0)) == (i, j)]
                    if own and value[number]:
                        at, times = np.unique(np.concatenate(own), return_counts=True)
                        factor = Fraction(float(value[number])) * scale
                        counted[at] = _exactly(counted[at], _times(times.astype(float), factor))
                lacks = np.abs(counted - float(target))
                if lacks.any():
                    whole += lacks * (_UP * number_above(left * right))
        rest = a.left + min(1 + a.left, sum(a.sizes, Fraction(0))) * b.left
        return float(whole.max(initial=0.0)) * _UP, number_above(abs(target) * rest)


#: Chains times products, where chains share products.
_MOST_SHARED = 1 << 24
#: Combinations of which a value may be one.
_MOST_CHOICES = 32


def _one_of(values: Sequence[Array], off: Array) -> Share:
    """Return a value that is one of some combinations, of which equal ones are one."""
    value, *others = {one.tobytes(): one for one in (part + 0.0 for part in values)}.values()
    if len(others) >= _MOST_CHOICES:
        raise Unbounded(f"conditions and maxima choose from more than {_MOST_CHOICES} values")
    return Share(value, off, others=tuple(others))


def _has(fmt: Format, number: Fraction) -> bool:
    """Return whether a number is one of the format's."""
    try:
        fmt.word(number)
    except ValueError:
        return False
    return True


def _multiple(x: Array, y: Array) -> Fraction | None:
    """Return |factor| where x is a factor times y in each place; None: it is not."""
    live = np.flatnonzero(y)
    if not x.any():
        return Fraction(0)
    if not live.size or (x[y == 0] != 0).any():
        return None
    factors = {Fraction(float(x[at])) / Fraction(float(y[at])) for at in live}
    return abs(factors.pop()) if len(factors) == 1 else None


def _exactly(x: Array, y: Array) -> Array:
    """x + y. Raises :class:`.Unbounded` where binary64 does not have that (by TwoSum)."""
    total = x + y
    second = total - x
    if ((x - (total - second)) + (y - second)).any():
        raise Unbounded("factors of sums that binary64 does not have")
    return total


def _times(x: Array, factor: Fraction) -> Array:
    """x times a factor. Raises :class:`.Unbounded` where binary64 does not have that."""
    result = x * float(factor)
    for one, product in zip(*np.unique(np.stack([x, result]), axis=1), strict=True):
        if Fraction(float(one)) * factor != Fraction(float(product)):
            raise Unbounded("factors of sums that binary64 does not have")
    return result
