"""The error budget of an emulation, relative to c + Σ a·b: a proof of lemmas, and arithmetic from them.

Everything is relative to S = |c| + Σ |a·b| over numbers of a domain's exponents, or, however wide that is, to
|c| + K·max|a|·max|b|:

* *the cut*: a·b - Â·B̂ = (a - Â)·b + Â·(b - B̂), Â and B̂ being the sums of the digits (``cut_lemmas.py``);
* *products left out*: what their digits count;
* *in the unit*: nothing. Chains of instructions give exact sums of products of such integers, which is
  proved on the unit's graph (``exactness/units.py``);
* slices: *additions* in the wide format, each of which loses half of its result's last bit at most, and
  nothing while the sum has no more bits than the format;
* residues: nothing before *the rounding*, if 2·K·(2^bits - 1)^2 is less than the moduli's product. For then
  the integer product is the only number nearest to zero with its residues (the Chinese remainder theorem);
* *c added*: half of the result's last bit.

No result overflows: the largest value that each step can reach lies below what the format holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.emulation.cut_lemmas import CutConstants, cut_constants, prove
from tcsmt.analysis.exactness.largest import largest_proved
from tcsmt.analysis.exactness.search import UnitSubject
from tcsmt.analysis.exactness.units import ExactUnit
from tcsmt.programs.recipes.emulation.schemes import Emulation, Residues, Slices
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import TcsmtError
from tcsmt.support.invariants import checked_cast, not_none

_IEEE = "an IEEE operation loses half of its result's last bit at most to nearest, else all (754-2019, 4.3)"
#: Losses are rounded up to multiples of 2^-_PLACES.
_PLACES = 192


@dataclass(frozen=True)
class EmulationBudget:
    """What each kind of step loses at most, relative to |c| + Σ|a·b|; and all, to |c| + K·max|a|·max|b|."""

    shares: dict[str, Fraction]
    of_largest: Fraction

    @property
    def total(self) -> Fraction:
        """Return the bound."""
        return sum(self.shares.values(), Fraction(0))


def exact_in_unit(chain: StepwiseProof, emulation: Emulation, k: int) -> None:
    """Prove that chains of instructions give the exact sums. Raises :class:`.Unbounded`."""
    limit = max(map(abs, emulation.reach))
    length = max(len(part) for part in emulation.blocks(k))
    subject = UnitSubject(ExactUnit(chain, emulation.unit))
    why = subject.proved(limit, length)
    if why:
        most, _ = largest_proved(lambda n: subject.proved(limit, n), length)
        raise Unbounded(
            f"a chain of {length} products of integers up to {limit} is not proved exact ({why}); "
            f"up to {most} it is: every = {most}"
        )
    chain.know(f"{length} products of integers up to {limit} are summed exactly in one chain")


def require_condition(chain: StepwiseProof, scheme: Residues, k: int) -> None:
    """The condition under which residues say what the product is. Raises :class:`.Unbounded`."""
    bits = scheme.slicing(k).bits
    condition = f"2·{k}·(2^{bits} - 1)^2 < {scheme.product}, the moduli's product"
    if not scheme.holds(k, bits):
        most = scheme.most_bits(k)
        raise Unbounded(f"the condition does not hold: {condition}; for K = {k} the moduli allow {most} bits")
    chain.know(f"{condition}: the residues have one product (Chinese remainder theorem)")


def budget(chain: StepwiseProof, emulation: Emulation, domain: Domain, k: int) -> EmulationBudget:
    """Return the bound; its lemmas are added to the chain. Raises :class:`.Unbounded` where there is none."""
    wide = emulation.wide
    if domain.low < wide.e_min or domain.high > wide.e_max:
        raise TcsmtError(f"domain {domain}: exponents must be from {wide.e_min} to {wide.e_max}")
    slicing = emulation.slicing(k)
    exact_in_unit(chain, emulation, k)
    if isinstance(emulation, Residues):
        require_condition(chain, emulation, k)
    prove(chain, slicing)
    # of one number alone, the row's largest exponent is its own
    apart = domain.high - domain.low if k > 1 else 0
    a, b = (cut_constants(slicing, apart, bits) for bits in domain.bits_in(wide))
    chain.know(_IEEE)
    shares = _EmulationShares(emulation, domain, k, a, b).shares()
    largest = _EmulationShares(emulation, domain, k, not_none(a.of_largest), not_none(b.of_largest)).shares()
    return EmulationBudget(
        {name: loss for name, loss in shares.items() if loss}, sum(largest.values(), Fraction(0))
    )


@dataclass(frozen=True)
class _EmulationShares:
    emulation: Emulation
    domain: Domain
    k: int
    a: CutConstants
    b: CutConstants

    @property
    def u(self) -> Fraction:
        """Return what rounding to nearest loses, relative to its result."""
        return Fraction(1, 1 << self.emulation.wide.precision)

    def shares(self) -> dict[str, Fraction]:
        a, b, emulation = self.a, self.b, self.emulation
        shares = {"the cut": a.left + min(1 + a.left, a.whole) * b.left}
        if isinstance(emulation, Slices):
            shares |= self.of_slices(emulation)
        else:
            emulation = checked_cast(emulation, Residues)
            shares |= self.of_residues(emulation)
        off = sum(shares.values(), Fraction(0))
        if not self.domain.c_zero:
            shares["c added"] = self.u * (1 + off)
            off += shares["c added"]
        most = (self.largest_sum + self.largest_c) * (1 + off)
        if most >= emulation.wide.largest_finite:
            raise Unbounded(f"the result may overflow: it may reach {float(most):.4g}")
        return shares

    @property
    def whole(self) -> Fraction:
        """All products of digits together, by magnitude."""
        return self.a.whole * self.b.whole

    def size(self, product: tuple[int, int]) -> Fraction:
        return self.a.sizes[product[0]] * self.b.sizes[product[1]]

    def of_slices(self, scheme: Slices) -> dict[str, Fraction]:
        kinds = {(i, j) for i in range(scheme.cut.count) for j in range(scheme.cut.count)}
        left_out = sum((self.size(kind) for kind in sorted(kinds - {*scheme.products})), Fraction(0))
        off = self.additions(scheme)
        last = max(map(scheme.shift, scheme.products))
        return {
            "products left out": min(left_out, self.whole),
            "additions outside": off,
            "scaling": self.lost_below(2 * (self.domain.low + scheme.cut.above) - last),
        }

    def additions(self, scheme: Slices) -> Fraction:
        """Return what the additions lose, those of equal products one after the other.

        Sums are multiples of 2^-last and no larger than ``most``: while they have no more bits than the
        format, they are exact.
        """
        wide, largest = scheme.wide, scheme.cut.largest**2
        blocks = len(scheme.blocks(self.k))
        off, reach, most, last = 0, Fraction(0), Fraction(0), 0
        unit = 1 << _PLACES
        for product in scheme.products:
            shift = scheme.shift(product)
            most, last = most + Fraction(self.k * largest, 1 << shift), max(last, shift)
            reach = min(reach + self.size(product), self.whole)
            if most > wide.largest_finite or last > wide.fraction_bits - wide.e_min:
                raise Unbounded(f"the sum of products may have bits from 2^-{last} to {float(most):.4g}")
            if most * (1 << last) <= 1 << wide.precision:
                continue
            size = -(-reach.numerator * unit // reach.denominator)
            for _ in range(blocks):
                off += -(-(size + off) // (1 << wide.precision))
        return Fraction(off, unit)

    def of_residues(self, scheme: Residues) -> dict[str, Fraction]:
        slicing = scheme.slicing(self.k)
        most = self.k * slicing.largest**2
        rounded = Fraction(0) if most <= 1 << scheme.wide.precision else self.u * self.whole
        below = self.lost_below(2 * (self.domain.low + slicing.above - slicing.bits))
        return {"the rounding": rounded + below}

    def lost_below(self, last: int) -> Fraction:
        """Return what rounding loses where the result is subnormal: nothing of multiples of 2^last that it
        has.
        """
        wide = self.emulation.wide
        smallest = wide.e_min - wide.fraction_bits
        if last >= smallest:
            return Fraction(0)
        return Fraction(2) ** (smallest - 1 - 2 * self.domain.low)

    @property
    def largest_sum(self) -> Fraction:
        """Σ |a·b| at most, or K·max|a|·max|b|."""
        a, b = (2 - Fraction(2) ** (1 - bits) for bits in self.domain.bits_in(self.emulation.wide))
        return self.k * a * b * Fraction(2) ** (2 * self.domain.high)

    @property
    def largest_c(self) -> Fraction:
        return Fraction(0) if self.domain.c_zero else Fraction(2) ** (self.domain.high + 1)
