"""The error bound of a compensated sum outside the unit, from known properties of each of its roundings.

Every addition gives (x + y)(1 + δ), |δ| <= u, also where the result is subnormal: then the exact sum is no
smaller than the last place, and nothing is lost. A summand times 2^-s may also lose ``lost`` below the
smallest number. So total t and error e, whose exact sum is V = t + e, become after another summand x:

* kahan: y = (x + e)(1 + δ1), t' = (t + y)(1 + δ2), e' = (y - ((t' - t)(1 + δ3)))(1 + δ4), where
  t' - t = y + δ2 (t + y), so that V' - (V + x) = δ1 (x + e) - δ2 δ4 (t + y) - (1 + δ4) δ3 (t' - t);
* fast-two-sum: t' as before with y = x, l = (y - ((t' - t)(1 + δ3)))(1 + δ4), e' = (e + l)(1 + δ5): V' -
  (V + x) = (l - l*) + δ5 (e + l), l* = -δ2 (t + y) being what the addition lost;
* two-sum: l = l* by Knuth's theorem: to nearest, without overflow, TwoSum is exact;
* double-word: l = l*, v = (e + l)(1 + δ5), t'' = (t' + v)(1 + δ6), e' = (v - ((t'' - t')(1 + δ7)))(1 + δ8).

From these follow inequalities for bounds of |t + y|, of |e|, and of the sum of |V' - (V + x)|, each in
terms of all three. Bounds that satisfy them hold after every summand, by induction; they are found by going
up from the smallest. Everything is relative to S, as in ``budget.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.programs.steps.running_sum import COMPENSATIONS

#: What is taken from the literature (and tried for every pair of numbers of small formats in
#: ``tests/analysis/bounds/test_compensated.py``).
KNUTH = "TwoSum gives what an addition to nearest loses, where nothing overflows (Knuth 1969)"
#: Bounds are rounded up to multiples of this, so that going up ends.
_STEP = Fraction(1, 2**96)
#: So often at most.
_ROUNDS = 256


@dataclass(frozen=True)
class SumLimits:
    """Bounds of |t + y|, of |e|, and of the sum of what the steps lose of V."""

    sum: Fraction
    error: Fraction
    lost: Fraction

    def raised(self) -> SumLimits:
        """Return the limits rounded up."""
        return SumLimits(*(-(-x // _STEP) * _STEP for x in (self.sum, self.error, self.lost)))

    def hold(self, other: SumLimits) -> bool:
        """Return whether each is at least the other's."""
        return self.sum >= other.sum and self.error >= other.error and self.lost >= other.lost


@dataclass(frozen=True)
class CompensatedSum:
    """A sum of numbers. u: the largest |δ|. size: Σ|x|. count: summands after the first.

    scaling: what all scalings of summands together lose below the smallest number.
    """

    u: Fraction
    size: Fraction
    count: int
    scaling: Fraction

    def limits(self, compensated: str) -> SumLimits:
        """Return limits that hold after every summand. Raises :class:`.Unbounded` where none are found."""
        if self.count * self.u > Fraction(1, 4):
            raise Unbounded(f"{self.count} summands outside the unit: too many for a compensated sum")
        step = _NEXT[compensated]
        limits = SumLimits(self.size, Fraction(0), Fraction(0))
        for _ in range(_ROUNDS):
            needed = step(self, limits).raised()
            if limits.hold(needed):
                return limits
            limits = needed
        raise Unbounded("no limits of a compensated sum are found")

    def error(self, compensated: str) -> Fraction:
        """Return how far the result is off at most: V, and what its last rounding, or leaving e out,
        loses.
        """
        limits = self.limits(compensated)
        if COMPENSATIONS[compensated].adds_error:
            return limits.lost + self.u * (self.size + limits.lost)
        return limits.lost + limits.error

    def reach(self, compensated: str) -> Fraction:
        """Return a number that none computed on the way exceeds."""
        limits = self.limits(compensated)
        return 4 * (limits.sum + limits.error + self.size + self.scaling)

    def _kahan(self, at: SumLimits) -> SumLimits:
        u, n = self.u, self.count
        y = (1 + u) * (self.size + at.error) + self.scaling
        all_y = (1 + u) * (self.size + n * at.error) + self.scaling
        step = y + u * at.sum  # t' - t
        return SumLimits(
            self.size + at.lost + u * (self.size + at.error) + self.scaling,
            (1 + u) * u * (at.sum + step),
            u * (self.size + n * at.error)
            + self.scaling
            + n * u**2 * at.sum
            + (1 + u) * u * (all_y + n * u * at.sum),
        )

    def _fast_two_sum(self, at: SumLimits) -> SumLimits:
        u, n = self.u, self.count
        all_y = self.size + self.scaling
        steps = all_y + n * u * at.sum  # all t' - t
        losses = (1 + u) * u * (n * at.sum + steps)  # all |l|
        return SumLimits(
            self.size + at.lost + at.error + self.scaling,
            losses / (1 - n * u),
            self.scaling + n * u**2 * at.sum + (1 + u) * u * steps + u * (n * at.error + losses),
        )

    def _two_sum(self, at: SumLimits) -> SumLimits:
        u, n = self.u, self.count
        losses = n * u * at.sum
        return SumLimits(
            self.size + at.lost + at.error + self.scaling,
            losses / (1 - n * u),
            self.scaling + u * (n * at.error + losses),
        )

    def _double_word(self, at: SumLimits) -> SumLimits:
        u, n = self.u, self.count
        both = at.error + u * at.sum  # e + l
        v = (1 + u) * both
        total = (1 + u) * at.sum + v  # t' + v
        step = v + u * total  # t'' - t'
        return SumLimits(
            self.size + at.lost + at.error + self.scaling,
            (1 + u) * u * (total + step),
            self.scaling + n * (u * both + u**2 * total + (1 + u) * u * step),
        )


_NEXT: dict[str, Callable[[CompensatedSum, SumLimits], SumLimits]] = {
    "kahan": CompensatedSum._kahan,
    "fast-two-sum": CompensatedSum._fast_two_sum,
    "two-sum": CompensatedSum._two_sum,
    "double-word": CompensatedSum._double_word,
}
