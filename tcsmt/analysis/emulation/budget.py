"""The error budget of an emulation, relative to c + Σ a·b: a reading of its steps (``on_digits.py``).

Everything is relative to S = |c| + Σ |a·b| over numbers of a domain's exponents, or, however wide that is, to
|c| + K·max|a|·max|b|:

* *the cut*: a·b - Â·B̂ = (a - Â)·b + Â·(b - B̂), Â and B̂ being the sums of the digits (``cut_lemmas.py``);
* *products left out*: what their digits count, or how much they count too often, of the worst index of K;
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

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.emulation.cut_lemmas import CutConstants, cut_constants
from tcsmt.analysis.emulation.on_digits import Addend, DigitRules, Digits, DigitSum, Factors, KnownNumber
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, float_format
from tcsmt.programs.steps.program import UnitProgram
from tcsmt.programs.steps.slicing import Slicing
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import TcsmtError
from tcsmt.support.invariants import not_none

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


def budget(chain: StepwiseProof, program: UnitProgram, domain: Domain, k: int) -> EmulationBudget:
    """Return the bound of a program that cuts numbers into digits; its lemmas are added to the chain.

    Raises :class:`.Unbounded` where there is none, and for a step that no rule is about, by its name.
    """
    wide = float_format(program.inputs["A"].format)
    if domain.low < wide.e_min or domain.high > wide.e_max:
        raise TcsmtError(f"domain {domain}: exponents must be from {wide.e_min} to {wide.e_max}")
    if not program.reads("c"):
        domain = replace(domain, c_zero=True)
    elif domain.c_free and not domain.c_zero:
        raise Unbounded("c may be of any size: its exponents must be restricted, too")
    rules = _BudgetRules(program, domain, k)
    shares = rules.spent()
    rules.prove_units(chain)
    rules.prove_cuts(chain)
    chain.know(_IEEE)
    largest = _BudgetRules(program, domain, k, of_largest=True).spent()
    return EmulationBudget(
        {name: loss for name, loss in shares.items() if loss}, sum(largest.values(), Fraction(0))
    )


@dataclass(frozen=True)
class _Scaled:
    """The dot product, in a format, and what each kind of step has lost of it. c: whether c was added."""

    shares: dict[str, Fraction]
    format: AnyFormat
    c: bool = False


class _BudgetRules(DigitRules):
    """The rules of steps on what they lose. of_largest: relative to the largest numbers."""

    def __init__(self, program: UnitProgram, domain: Domain, k: int, *, of_largest: bool = False) -> None:
        super().__init__(program, k, domain.high)
        self.domain, self.of_largest = domain, of_largest
        self.wide = float_format(program.inputs["A"].format)
        self._kept: dict[Digits, CutConstants] = {}

    def spent(self) -> dict[str, Fraction]:
        """Return what the program's steps lose, by their kinds."""
        found = self.result({"c": KnownNumber(Fraction(0)) if self.domain.c_zero else Addend()})
        if not isinstance(found, _Scaled) or not (found.c or self.domain.c_zero):
            raise Unbounded("the result is not the scaled sum of products, plus c")
        return found.shares

    def cut(self, slicing: Slicing) -> None:
        """Every cut has a bound."""

    def kept(self, x: Digits) -> CutConstants:
        """Return what the cut of a side's numbers keeps."""
        if x not in self._kept:
            # of one number alone, the row's largest exponent is its own
            apart = self.domain.high - self.domain.low if self.k > 1 else 0
            bits = self.domain.bits_in(self.wide)["AB".index(x.side)]
            found = cut_constants(x.slicing, apart, bits)
            self._kept[x] = not_none(found.of_largest) if self.of_largest else found
        return self._kept[x]

    def size(self, of: tuple[Digits, Digits], factors: Factors) -> int:
        """Return the size of a sum, in units of 2^-_PLACES, where a digit counts as it does of its
        integer.
        """
        a, b = map(self.kept, of)
        left, right = (side.slicing.bits for side in of)
        counts = {
            (i, j): times * (1 << (left * (i + 1) + right * (j + 1))) for (i, j), times in factors.items()
        }
        size = _all_of(a, b, counts)
        return -(-(size.numerator << _PLACES) // size.denominator)

    def rounded(self, x: DigitSum, fmt: Format) -> DigitSum:
        """Half of the last bit is lost."""
        off = x.off - (-(not_none(x.reach) + x.off) >> fmt.precision)
        return replace(x, off=off, most=x.most - (-x.most >> fmt.precision))

    def scaled(self, x: DigitSum, fmt: Format, shift: int) -> _Scaled:
        """Return the dot product, with what is missing of it."""
        a, b = map(self.kept, x.of)
        above = sum(side.slicing.above for side in x.of)
        factor, counts = Fraction(2) ** (-shift - above), list(self.counts(x, shift))
        shares = {"the cut": a.left + min(1 + a.left, a.whole) * b.left}
        missing = [_all_of(a, b, {at: abs(Fraction(1) - n) for at, n in part.items()}) for part in counts]
        shares["products left out"] = max(missing)
        off = Fraction(x.off, 1 << _PLACES) * factor
        shares["additions outside"] = off
        below = self.lost_below(fmt, 2 * self.domain.low - x.last - shift)
        if x.format == fmt:
            shares["scaling"] = below
        else:
            exact = x.most <= 1 << fmt.precision
            reach = max(_all_of(a, b, part) for part in counts) + off
            shares["the rounding"] = (0 if exact else _half_bit(fmt) * reach) + below
        self.require_finite(fmt, shares, c=Fraction(0))
        return _Scaled(shares, fmt)

    def with_c(self, x: Any, fmt: Format) -> _Scaled:
        """Half of the last bit is lost."""
        if not isinstance(x, _Scaled) or x.c or x.format != fmt:
            raise Unbounded("add: c is added once, in the format of the scaled sum")
        off = sum(x.shares.values(), Fraction(0))
        shares = x.shares | {"c added": _half_bit(fmt) * (1 + off)}
        self.require_finite(fmt, shares, c=Fraction(2) ** (self.domain.high + 1))
        return _Scaled(shares, fmt, c=True)

    def require_finite(self, fmt: Format, shares: dict[str, Fraction], c: Fraction) -> None:
        """Refuse a result that may overflow. c: at most."""
        a, b = (2 - Fraction(2) ** (1 - bits) for bits in self.domain.bits_in(self.wide))
        products = self.k * a * b * Fraction(2) ** (2 * self.domain.high)
        most = (products + c) * (1 + sum(shares.values(), Fraction(0)))
        if most >= fmt.largest_finite:
            raise Unbounded(f"the result may overflow: it may reach {float(most):.4g}")

    def lost_below(self, fmt: Format, last: int) -> Fraction:
        """Return what rounding loses where the result is subnormal: nothing of multiples of 2^last that it
        has.
        """
        smallest = fmt.e_min - fmt.fraction_bits
        return Fraction(0) if last >= smallest else Fraction(2) ** (smallest - 1 - 2 * self.domain.low)


def _half_bit(fmt: Format) -> Fraction:
    """Return what rounding to nearest loses, relative to its result."""
    return Fraction(1, 1 << fmt.precision)


def _all_of(a: CutConstants, b: CutConstants, counts: Factors) -> Fraction:
    """Return the size of products of digits that count so often: no more than all of them together have."""
    sizes = sum((times * a.sizes[i] * b.sizes[j] for (i, j), times in counts.items()), Fraction(0))
    return min(sizes, max(counts.values(), default=Fraction(0)) * a.whole * b.whole)
