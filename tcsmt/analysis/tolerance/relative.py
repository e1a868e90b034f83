"""A proved bound of a kernel's error on a domain, relative to |alpha|·Σ|a·b| + |beta·c| + |bias|.

The kernel's own steps run on vectors of bounds: for Σ|a·b| of each chain, for c and for the bias, by how
much each of them counts in a sum, and in what the sum is off; and a last number, by which it is off whatever
they are. A sum's share of each is one more linear function of them, so that the largest share counts for
their sum: disjoint parts of the dot product share what the largest of their losses is.

What a chain of instructions loses is bounded in two ways, and the smaller bound counts: by the error budget,
instruction after instruction (:func:`.chain_loss`), and by what one instruction loses of sums of any size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np

from tcsmt.analysis.bounds.budget import chain_loss
from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.tolerance.exact import in_kernel
from tcsmt.analysis.tolerance.instruction import InstructionLoss, instruction_loss
from tcsmt.analysis.tolerance.upward import added, number_above, scaled
from tcsmt.compose.kernels.kernel import Kernel
from tcsmt.compose.kernels.schedule import Schedule
from tcsmt.compose.programs.steps import ProductRun, read
from tcsmt.matrix_units.arithmetic.any_format import AnyFormat
from tcsmt.matrix_units.arithmetic.formats import Format, float_format
from tcsmt.matrix_units.arithmetic.rounding import Rounding
from tcsmt.matrix_units.models import Model
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import InternalError

__all__ = ["relative_bound"]

Array = np.ndarray[Any, np.dtype[Any]]
_HALF = Fraction(1, 2)


@dataclass(frozen=True)
class _Share:
    """A word, by what it is made of. size: of its magnitude; off: of its error. number: a constant's."""

    size: Array
    off: Array
    number: Fraction | None = None

    @property
    def reach(self) -> Array:
        """Of its magnitude with its error."""
        return added(self.size, self.off)

    def times(self, factor: Fraction) -> _Share:
        """Multiplied by a number."""
        return _Share(scaled(self.size, abs(factor)), scaled(self.off, abs(factor)))


@dataclass(frozen=True)
class _ChainShares:
    """What a chain loses: of c and its products together, of its products, and whatever they are.

    limit: below what every sum must stay, where that has not been shown.
    """

    sums: Fraction
    products: Fraction = Fraction(0)
    always: Fraction = Fraction(0)
    limit: Fraction | None = None


#: The loss of a chain of so many products; and whether it begins with C.
_ChainLoss = Callable[[int, bool], _ChainShares]


def _of_any_sums(loss: InstructionLoss, length: int, has_c: bool) -> _ChainShares:
    """Every partial sum may be as large as c and all products of the chain."""
    count = -(-length // loss.k)
    one, growth = loss.loss, loss.loss.before**count
    return _ChainShares(
        (one.sums + one.top) * count * growth,
        (one.products + one.largest) * growth,
        one.always * count * growth,
        loss.limit,
    )


@dataclass(frozen=True)
class _ShareRules:
    """The rules of a kernel's steps on shares.

    lost: what a chain of so many products loses of c, if it begins with one, and of its products. most: what
    each of the things that a word is made of is at most.
    """

    lost: _ChainLoss
    most: Array
    places: list[int]

    def unit(self, place: int) -> _Share:
        """Return what counts once in itself, exactly."""
        size = np.zeros_like(self.most)
        size[place] = 1.0
        return _Share(size, np.zeros_like(self.most))

    def chain(self, c: _Share | None, *operands: object, unit: Model, runs: Sequence[ProductRun]) -> _Share:
        """A chain begins with C as it is given, or with zero."""
        products, length = self.unit(self.places.pop(0)), len(runs[0].indices)
        if c is None:
            loss = self.lost(length, False)
            return _Share(products.size, self._off(loss, products.size, products.size))
        if c.off.any():
            raise InternalError("a chain begins with a C that is off")
        sums = added(c.size, products.size)
        return _Share(sums, self._off(self.lost(length, True), sums, products.size))

    def _off(self, loss: _ChainShares, sums: Array, products: Array) -> Array:
        off = added(scaled(sums, loss.sums), scaled(products, loss.products))
        off[-1] += number_above(loss.always)
        if loss.limit is not None:
            self._check(loss.limit, added(sums, products, off), "a sum in the unit")
        return off

    def constant(self, *, fmt: AnyFormat, word: int) -> _Share:
        """A number: alpha, beta or zero."""
        number = float_format(fmt)
        if number.is_nan(word) or number.is_infinite(word):
            raise Unbounded(f"alpha or beta is {number.describe(word)} in {number.name}")
        nothing = np.zeros_like(self.most)
        return _Share(nothing, nothing, number.value(word))

    def add(self, x: _Share, y: _Share, *, fmt: AnyFormat, shift: int, rounding: Rounding) -> _Share:
        """x + y, to nearest; nothing is lost of a subnormal sum, or where one of both is 0."""
        if x.number == 0 or y.number == 0:
            return y if x.number == 0 else x
        return self._rounded(_sum(x, y), float_format(fmt), _HALF, always=False)

    def multiply_add(self, x: _Share, y: _Share, z: _Share, *, fmt: Format) -> _Share:
        """x times a constant, plus z; to nearest."""
        assert y.number is not None
        product = x.times(y.number)
        return self._rounded(product if z.number == 0 else _sum(product, z), fmt, _HALF)

    def convert(
        self, x: _Share, *, source: Format, target: Format, rounding: Rounding, saturate: bool
    ) -> _Share:
        """x in another format; nothing is lost in one that holds it."""
        if target.holds(source):
            return x
        return self._rounded(x, target, _HALF if rounding.nearest else Fraction(1))

    def convert_randomly(
        self, x: _Share, random: _Share, *, source: Format, target: Format, bits: int, saturate: bool
    ) -> _Share:
        """One of x's two neighbours, which may be above the largest number where x is close to that."""
        rounded = self._rounded(x, target, Fraction(1))
        self._check(target.largest_finite, rounded.reach, f"a result in {target.name}")
        return rounded

    def _rounded(self, x: _Share, fmt: Format, share: Fraction, *, always: bool = True) -> _Share:
        self._check(fmt.largest_finite, x.reach, f"a sum in {fmt.name}")
        lost = scaled(x.reach, share / 2**fmt.fraction_bits)
        if always:
            lost[-1] += number_above(share * Fraction(2) ** (fmt.e_min - fmt.fraction_bits))
        return _Share(x.size, added(x.off, lost))

    def _check(self, limit: Fraction, reach: Array, what: str) -> None:
        """Refuse what may overflow: of the chains together, the largest share of all products counts."""
        parts = np.where(reach > 0, reach * self.most, 0.0)
        largest = float(parts[:-3].max() + parts[-3:].sum()) * (1 + 2.0**-40)
        if not largest < limit:
            raise Unbounded(f"{what} may overflow: it may reach {largest:.4g}, of {float(limit):.4g}")


def _sum(x: _Share, y: _Share) -> _Share:
    return _Share(added(x.size, y.size), added(x.off, y.off))


def relative_bound(chain: StepwiseProof, kernel: Kernel, k: int, domain: Domain) -> Fraction:
    """Return the bound, a part of |alpha|·Σ|a·b| + |beta·c| + |bias|; its lemmas are added to the chain.

    domain: of which a, b, c and the bias are; there is a C unless it is zero. Of parts that are added in any
    order: the largest of all orders. Raises :class:`.Unbounded`
    where no lemma covers a step, or a step may overflow, and :class:`.TcsmtError` for exponents that are not
    restricted.
    """
    unit = kernel.unit.model
    formats = {name: fmt for name, fmt in unit.input_formats.items() if isinstance(fmt, Format)}
    low = max(domain.low, min((fmt.e_min for fmt in formats.values()), default=0))
    if kernel.reduction.tiled:
        raise Unbounded(f"{kernel.reduction} cuts K elsewhere in each tile of D: give cuts:K1-K2-...")
    if kernel.reduction.unordered:
        orders = kernel.reduction.orders(k, unit.k, c=not domain.c_zero)
        return max(relative_bound(chain, replace(kernel, reduction=order), k, domain) for order in orders)
    if domain.c_free and not domain.c_zero:
        raise Unbounded("c may be of any size: its exponents must be restricted, too")
    words = replace(domain, exponents=(low, max(low, domain.high)))

    @cache
    def budgeted(length: int, has_c: bool) -> _ChainShares:
        return _ChainShares(chain_loss(chain, unit, length, replace(words, c_zero=not has_c)))

    def of_any_sums() -> Fraction:
        loss = instruction_loss(chain, unit, low)
        return _bound(kernel, k, domain, low, cache(partial(_of_any_sums, loss)))

    return chain.least([lambda: _bound(kernel, k, domain, low, budgeted), of_any_sums])


def _bound(kernel: Kernel, k: int, domain: Domain, low: int, lost: _ChainLoss) -> Fraction:
    schedule = kernel.schedule
    has_c = not domain.c_zero and kernel.epilogue.beta != 0
    count = len(schedule.chains(k, c=has_c))
    largest = Fraction(2) ** (domain.high + 1)
    most = np.full(count + 3, number_above(largest**2 * k))
    most[count:] = [number_above(largest), number_above(largest), 1.0]
    rules = _ShareRules(lost, most, [*range(count)])
    given = {name: rules.unit(count + n) for n, name in enumerate(("c", "bias", "random"))}
    program = schedule.program(k, c=has_c, bias=kernel.epilogue.bias, random=bool(kernel.epilogue.stochastic))
    result: _Share = read(program, rules, {"A": None, "B": None, **given})
    off = [Fraction(x) for x in result.off.tolist()]
    weights = _weights(schedule)
    shares = [off[n] / weights["alpha"] for n in range(count)]
    least = [weights["alpha"] * Fraction(2) ** (2 * low)]
    if has_c:
        shares.append(off[count] / weights["beta"])
        least.append(weights["beta"] * Fraction(2) ** domain.low)
    if kernel.epilogue.bias:
        shares.append(off[count + 1])
        least.append(Fraction(2) ** domain.low)
    return max(shares) + off[-1] / min(least)


def _weights(schedule: Schedule) -> dict[str, Fraction]:
    """|alpha| and |beta|, as the kernel has them."""
    weights = {name: abs(in_kernel(schedule, getattr(schedule.epilogue, name))) for name in ("alpha", "beta")}
    if not weights["alpha"]:
        raise Unbounded("alpha is 0: nothing of A·B is left to be relative to")
    return weights
