"""The domain of a question: the inputs of a model or an algorithm that it is about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from tcsmt.language.terms import FALSE, TRUE, Term, all_of
from tcsmt.matrix_units.arithmetic.datapath import Exponent, decode
from tcsmt.matrix_units.arithmetic.formats import (
    AnyFormat,
    Format,
    IntegerFormat,
    float_format,
    leading_exponent,
)
from tcsmt.matrix_units.models import Trace
from tcsmt.matrix_units.models.base import role_of
from tcsmt.support.errors import TcsmtError


@dataclass(frozen=True, kw_only=True)
class Domain:
    """The inputs that count; block scales are inputs, too, and so are further inputs of a program.

    finite: no NaN and no infinity. positive: no sign bit set. subnormals: subnormal inputs are
    allowed. c_zero: c is +0. exponents: each a, b and c is zero, or a normal number with an unbiased
    exponent from the first to the second, inclusive. c_free: the exponents are those of a and b alone.
    bits: a and b are finite, and at most so many leading bits of their significands are set, the
    implicit one counted (11: a binary32 number that is exact in f16, if its exponent is).
    An integer's exponent is that of its leading bit: 0:6 are the numbers from 1 to 127, and their negatives.

    Raises :class:`.TcsmtError` for a range of exponents, or numbers of bits, that no number has.
    """

    finite: bool = True
    positive: bool = False
    subnormals: bool = True
    c_zero: bool = False
    exponents: tuple[int, int] | None = None
    c_free: bool = False
    bits: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        if self.exponents is not None and self.exponents[0] > self.exponents[1]:
            raise TcsmtError(
                f"exponents {self.exponents[0]} to {self.exponents[1]}: no number has such an exponent"
            )
        if self.bits is not None and min(self.bits) < 1:
            raise TcsmtError(f"bits {self.bits[0]} {self.bits[1]}: must be at least 1 for a and for b")

    @property
    def low(self) -> int:
        """Return the smallest exponent. Raises :class:`.TcsmtError` where exponents are not restricted."""
        return self._range[0]

    @property
    def high(self) -> int:
        """Return the largest exponent. Raises :class:`.TcsmtError` where exponents are not restricted."""
        return self._range[1]

    @property
    def _range(self) -> tuple[int, int]:
        if self.exponents is None:
            raise TcsmtError(f"domain {self}: the exponents must be restricted, e.g. to -15:14")
        return self.exponents

    def bits_in(self, fmt: Format) -> tuple[int, int]:
        """Return how many bits the significands of a and of b have at most, in one format."""
        of_a, of_b = self.bits or (fmt.precision, fmt.precision)
        return min(of_a, fmt.precision), min(of_b, fmt.precision)

    def holds(self, formats: Mapping[str, AnyFormat], trace: Trace) -> Term:
        """Return the truth value "these inputs lie in the domain".

        Raises :class:`.TcsmtError` for numbers of significand bits where an operand is an integer.
        """
        words = zip(formats.items(), trace.inputs, strict=True)
        conditions = [TRUE]
        for (name, fmt), word in words:
            if isinstance(fmt, IntegerFormat):
                conditions += self._integer_conditions(name, fmt, word)
                continue
            fmt = float_format(fmt)
            factor = role_of(name).factor
            bits = fmt.precision if factor is None else self.bits_in(fmt)[factor]
            conditions += self._conditions(word, fmt, bits, self.limits(name), self.finite_input(name))
        if self.c_zero:
            conditions.append(trace.c.eq(0))
        return all_of(conditions)

    def limits(self, name: str) -> bool:
        """Return whether the exponents are restricted of the input of this name."""
        return self.exponents is not None and role_of(name).operand in tuple("ab" if self.c_free else "abc")

    def finite_input(self, name: str) -> bool:
        """Return whether the input of this name is neither a NaN nor infinite."""
        factor = role_of(name).factor is not None
        return self.finite or self.limits(name) or (factor and self.bits is not None)

    def within(self, word: Term, fmt: Format, bits: int) -> Term:
        """Return whether an a, b or c with at most so many bits of significand lies in the domain."""
        limited = self.exponents is not None
        return all_of(self._conditions(word, fmt, bits, limited, limited or self.finite))

    def _conditions(self, word: Term, fmt: Format, bits: int, limited: bool, finite: bool) -> list[Term]:
        conditions: list[Term] = []
        x = decode(fmt, word)
        if finite:
            conditions += [~x.nan, ~x.infinite]
        if self.positive and fmt.signed:
            conditions.append(~x.sign)
        if fmt.has_subnormals and (limited or not self.subnormals):
            conditions.append(x.zero | x.significand[fmt.fraction_bits])
        if limited:
            conditions.append(x.zero | lies(x.exponent, *self._range))
        if bits < fmt.precision:
            first = fmt.ignored_low_bits
            conditions.append(word[first + fmt.precision - bits - 1 : first].eq(0))
        return conditions

    def _integer_conditions(self, name: str, fmt: IntegerFormat, word: Term) -> list[Term]:
        if self.bits is not None and role_of(name).factor is not None:
            raise TcsmtError(f"domain {self}: {name} is {fmt.name}, which has no significand")
        conditions: list[Term] = []
        negative = word[fmt.sign_bit] if fmt.signed else FALSE
        if self.positive:
            conditions.append(~negative)
        if self.limits(name):
            # the smallest number's magnitude is its own word, read without a sign
            magnitude = negative.ite(-word, word).zext(fmt.width + 1)
            first, last = (min(max(e + fmt.fraction_bits, 0), fmt.width) for e in (self.low, self.high + 1))
            within = ~magnitude.ult(1 << first) & magnitude.ult(1 << last)
            conditions.append(magnitude.eq(0) | within)
        return conditions

    def contains(self, formats: Mapping[str, AnyFormat], values: Mapping[str, int]) -> bool:
        """Return whether the words of one input, by name, lie in the domain: in fractions, without terms."""
        return all(self._allows(name, formats[name], word) for name, word in values.items())

    def _allows(self, name: str, fmt: AnyFormat, word: int) -> bool:
        limited = self.limits(name)
        if (self.c_zero and name == "c" and word) or (self.positive and fmt.signed and word >> fmt.sign_bit):
            return False
        if fmt.is_nan(word) or fmt.is_infinite(word):
            return not self.finite_input(name)
        size = abs(fmt.value(word))
        if not size:
            return True
        exponent = leading_exponent(size)
        if limited and not self.low <= exponent <= self.high:
            return False
        if not isinstance(fmt, Format):
            return True
        if exponent < fmt.e_min and fmt.has_subnormals and (limited or not self.subnormals):
            return False
        factor = role_of(name).factor
        if self.bits is None or factor is None:
            return True
        last = Fraction(2) ** (max(exponent, fmt.e_min) - self.bits[factor] + 1)
        return (size / last).denominator == 1

    def in_words(self, names: Iterable[str]) -> str:
        """Return all that the domain says of inputs with these names, block scales and others included."""
        others = [name for name in names if role_of(name).operand not in ("a", "b", "c")]
        whose = ("scales" if role_of(name).scale else name.partition("[")[0] for name in others)
        told = " and ".join(dict.fromkeys(whose))
        return self._text(told and (f"finite {told}" if self.finite else f"{told} of all words"))

    def __str__(self) -> str:
        """Return the domain in words, for inputs of any formats.

        That every number is finite goes without saying where the exponents are restricted: but restricted
        exponents are not about scales.
        """
        return self._text("" if self.finite else "scales of all words")

    def _text(self, scales: str) -> str:
        words = []
        limits_all = self.exponents is not None and not self.c_free
        if not limits_all:
            words.append("finite" if self.finite else "all words")
        if self.exponents is not None:
            whose = "exponents of a and b" if self.c_free else "exponents"
            words.append(f"{whose} {self.exponents[0]} to {self.exponents[1]}")
        words += [scales] if limits_all and scales else []
        if self.bits is not None:
            words.append(f"a of {self.bits[0]} and b of {self.bits[1]} significand bits")
        words += ["positive"] if self.positive else []
        words += [] if self.subnormals else ["no subnormals"]
        words += ["c = 0"] if self.c_zero else []
        return ", ".join(words)


def lies(x: Exponent, low: int, high: int) -> Term:
    """Return whether an exponent is from ``low`` to ``high``, which may be beyond what its word holds."""
    low, high = max(low, x.low), min(high, x.high)
    return x.term.ule(high - x.low) & ~x.term.ult(low - x.low) if low <= high else FALSE
