"""Algorithms on reduced formats, in fractions, from the papers."""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product

from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.prove.statements.domain import Domain
from tests.oracles import rationals
from tests.oracles.rationals import rounded

#: Fraction bits of the alignment beyond the wide format's, by unit.
EXTRA = {"volta": 0, "ampere": 1, "hopper": 2}
Numbers = tuple[Fraction, Fraction, Fraction]


class Reference:
    """One product and c on a truncated fused unit with operands of p bits, from the papers.

    p: 4 exponent bits up to p = 4; the wide format has 2p + 2 bits, and is never near its limits here.
    """

    def __init__(self, unit: str, p: int) -> None:
        self.p, self.wide, self.e_min = p, 2 * p + 2, -6
        self.fraction_bits = self.wide - 1 + EXTRA[unit]

    def unit(self, x: Fraction, y: Fraction, c: Fraction) -> Fraction:
        exponents = [rationals.binary_exponent(c)] if c else []
        if x and y:
            exponents.append(sum(max(rationals.binary_exponent(v), self.e_min) for v in (x, y)))
        grain = Fraction(2) ** (max(exponents, default=0) - self.fraction_bits)
        return rounded(sum(int(t / grain) for t in (x * y, c)) * grain, self.wide, -99, "RTZ")

    @cache  # noqa: B019
    def split(self, x: Fraction, scale: int) -> tuple[Fraction, Fraction]:
        first = rounded(x, self.p, self.e_min, "RNE")
        return first, rounded((x - first) * 2**scale, self.p, self.e_min, "RNE")

    def single(self, a: Fraction, b: Fraction, c: Fraction) -> Fraction:
        return self.unit(self.split(a, 0)[0], self.split(b, 0)[0], c)

    def markidis(self, a: Fraction, b: Fraction, c: Fraction) -> Fraction:
        x, y = self.split(a, 0), self.split(b, 0)
        for i, j in ((0, 0), (1, 0), (0, 1), (1, 1)):
            c = self.unit(x[i], y[j], c)
        return c

    def ootomo(self, a: Fraction, b: Fraction, c: Fraction) -> Fraction:
        (x, dx), (y, dy) = self.split(a, self.p), self.split(b, self.p)
        zero = Fraction(0)
        corrections = self.unit(x, dy, self.unit(dx, y, zero))
        nearest = rounded(self.unit(x, y, zero) + corrections / 2**self.p, self.wide, -99, "RNE")
        return rounded(nearest + c, self.wide, -99, "RNE")


def numbers(domain: Domain, bits: int, *, signs: bool = True) -> list[Fraction]:
    """A domain's numbers of so many significant bits in order, one zero among them."""
    sizes = [
        Fraction(significand, 1 << (bits - 1)) * Fraction(2) ** exponent
        for exponent in range(domain.low, domain.high + 1)
        for significand in range(1 << (bits - 1), 1 << bits)
    ]
    return [*(-x for x in reversed(sizes) if signs), Fraction(0), *sizes]


def inputs(domain: Domain, wide: Format) -> Iterator[Numbers]:
    """All inputs of one product with an a that is not negative."""
    c = [Fraction(0)] if domain.c_zero else numbers(domain, wide.precision)
    one, two = domain.bits_in(wide)
    yield from product(numbers(domain, one, signs=False), numbers(domain, two), c)
