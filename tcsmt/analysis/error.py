"""The exact dot product beside an algorithm's result: terms for solvers, fractions for replay.

Exact means exact: a fixed-point word wide enough for every product of the domain and for every
binary32 result, so that the error of two results can be compared without rounding anything. With
M < O, |M - E| < |O - E| exactly when 2E < M + O: no absolute value, no difference of errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from tcsmt.language.terms import Term, total
from tcsmt.matrix_units.arithmetic.datapath import Number, decode, multiply
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.models import Trace
from tcsmt.matrix_units.models.base import role_of
from tcsmt.programs.steps.split import F32
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import TcsmtError


def require_normal(domain: Domain, wide: Format) -> None:
    """Raise :class:`.TcsmtError` unless a, b and c are zero or normal, with exponents that are restricted.

    Errors are counted in fixed point, which has to hold every product and every sum.
    """
    allowed = f"{wide.e_min} to {wide.e_max}, {wide.name}'s normal numbers"
    if domain.c_free:
        raise TcsmtError(f"domain {domain}: c must have restricted exponents, too; leave out --c-free")
    if not (wide.e_min <= domain.low and domain.high <= wide.e_max):
        raise TcsmtError(f"exponents {domain.low} to {domain.high}: must lie in {allowed}")
    if domain.bits is not None and max(domain.bits) > wide.precision:
        raise TcsmtError(
            f"bits {domain.bits[0]} {domain.bits[1]}: must be from 1 to {wide.precision} for a and for b"
        )


@dataclass(frozen=True)
class ErrorGrid:
    """Two's complement fixed-point words of ``width`` bits that count units of 2^low.

    wide: the format of the words that :meth:`number`, :meth:`holds` and :meth:`dot` read.
    """

    low: int
    width: int
    wide: Format = F32

    @classmethod
    def of(cls, domain: Domain, k: int, wide: Format, low: int | None = None) -> ErrorGrid:
        """Wide enough for four times the exact sum; units as small as a product's or c's last bit.

        low: smaller units (None: those). Truncated and rounded sums of words are multiples of them.
        Raises :class:`.TcsmtError` for a domain that no grid is wide enough for.
        """
        require_normal(domain, wide)
        last = domain.low - wide.fraction_bits
        finest = min(2 * last, last)
        low = finest if low is None else min(low, finest)
        most = max(2 * domain.high + 2, domain.high + 1) + (k + 1).bit_length()
        return cls(low, most + 4 - low, wide)

    @property
    def top(self) -> int:
        """Numbers below 2^top in magnitude can be counted, and twice and their sum, too."""
        return self.low + self.width - 3

    def place(self, x: Number, low: int, high: int) -> Term:
        """Return the word of a finite number that is zero or has an exponent in [low, high].

        Raises ValueError where such a number may have no room in a word.
        """
        if high + x.integer_bits >= self.low + self.width or low - x.fraction_bits < self.low:
            raise ValueError(f"exponents {low} to {high} on a grid from {self.low} of {self.width} bits")
        moved = x.exponent.within(low, high).zext(self.width)
        word = (x.significand.zext(self.width) << moved) << (low - x.fraction_bits - self.low)
        return x.sign.ite(-word, word)

    def number(self, word: Term) -> Term:
        """Return the word of a floating-point word for which :meth:`holds` is 1."""
        x, wide = self._counted(word)
        counted = wide[wide.width - 1 : self.wide.fraction_bits]
        return x.sign.ite(-counted, counted)

    def holds(self, word: Term) -> Term:
        """Return whether a floating-point word is finite, below 2^top, and a multiple of 2^low."""
        (x, wide), fmt = self._counted(word), self.wide
        field = word[fmt.sign_bit - 1 : fmt.fraction_bits]
        fits = field.ult(min(self.top, fmt.e_max + 1) + fmt.bias)
        fits &= x.zero | ~field.ult(max(self.low + fmt.bias, 0))
        return fits & wide[fmt.fraction_bits - 1 : 0].eq(0)

    def _counted(self, word: Term) -> tuple[Number, Term]:
        """Return the number, and its magnitude in units of 2^(low - fraction bits)."""
        x, width = decode(self.wide, word), self.width + self.wide.fraction_bits
        low = max(self.low, self.wide.e_min)
        moved = x.exponent.within(low, max(self.top, low)).zext(width)
        return x, (x.significand.zext(width) << moved) << (low - self.low)

    def dot(self, domain: Domain, trace: Trace, *, absolute: bool = False) -> Term:
        """Return the exact c + Σ a·b; absolute: |c| + Σ |a·b|."""
        terms = [self.place(decode(self.wide, trace.c), domain.low, domain.high)]
        for x, y in zip(trace.a, trace.b, strict=True):
            product = multiply(decode(self.wide, x), decode(self.wide, y))
            terms.append(self.place(product, 2 * domain.low, 2 * domain.high))
        return total(*(magnitude(t) if absolute else t for t in terms))


def magnitude(word: Term) -> Term:
    """Return the absolute value of a two's complement word."""
    return word[word.width - 1].ite(-word, word)


def nearer(first: Term, second: Term, exact: Term) -> Term:
    """Return whether the first of two fixed-point words is strictly nearer to the exact one."""
    middle, twice = first + second, exact << 1
    return first.slt(second).ite(twice.slt(middle), second.slt(first) & middle.slt(twice))


def value(word: int, fmt: Format = F32) -> Fraction | None:
    """Return the value of a word; None where it is infinite or NaN."""
    return None if fmt.is_nan(word) or fmt.is_infinite(word) else fmt.value(word)


def exact_dot(values: Mapping[str, int], *, absolute: bool = False, wide: Format = F32) -> Fraction:
    """c + Σ a·b of words of one format by name, in fractions, without any of the terms above."""
    k = sum(role_of(name).factor == 0 for name in values)
    terms = [wide.value(values["c"])]
    terms += [wide.value(values[f"a{i}"]) * wide.value(values[f"b{i}"]) for i in range(k)]
    return sum((abs(t) for t in terms), Fraction(0)) if absolute else sum(terms, Fraction(0))


def ulp(x: Fraction, wide: Format = F32) -> Fraction:
    """Return the distance of a format's numbers at a value: for binary32 2^(e - 23), and 2^-149 at least."""
    size = abs(x)
    exponent = wide.e_min
    if size:
        exponent = size.numerator.bit_length() - size.denominator.bit_length()
        exponent -= size < Fraction(2) ** exponent
    return Fraction(2) ** (max(exponent, wide.e_min) - wide.fraction_bits)
