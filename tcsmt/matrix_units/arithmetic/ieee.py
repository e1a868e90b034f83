"""IEEE 754 addition, multiplication, fused multiply-add and conversion, from the same stages.

Every operation takes decoded numbers, aligns them with enough fraction bits and a sticky bit that
the sum rounds as the exact one would, and rounds once. Their agreement with SMT-LIB's
floating-point theory is proved in ``tests/matrix_units/arithmetic/test_ieee.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from functools import partial

from tcsmt.language.terms import FALSE, TRUE, Macro, Term, all_of, const, total
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic.datapath import Exponent, Fixed, Number, SignMagnitude
from tcsmt.matrix_units.arithmetic.formats import FORMATS, AnyFormat, Format, IntegerFormat, Specials
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding

_TRUNCATE, _NEAREST = ROUNDINGS["RTZ"], ROUNDINGS["RNE"]


def exact_product(x: Number, y: Number) -> Number:
    """Return the exact product, normalised, so that its exponent is that of its leading bit (or one less)."""
    return dp.multiply(dp.normalise_number(x), dp.normalise_number(y))


def add(x: Number, y: Number, fmt: Format, rounding: Rounding) -> Term:
    """Return the word of x + y rounded once to ``fmt``; x and y may be exact products."""
    return RoundedSum(terms=(x, y), format=fmt, rounding=rounding).word()


def fma(x: Number, y: Number, z: Number, fmt: Format, rounding: Rounding) -> Term:
    """Return the word of x·y + z rounded once to ``fmt``."""
    return add(exact_product(x, y), z, fmt, rounding)


def _fma_definition(fmt: Format, a: Term, b: Term, c: Term) -> Term:
    return fma(dp.decode(fmt, a), dp.decode(fmt, b), dp.decode(fmt, c), fmt, _NEAREST)


_FMA = {
    name: Macro(f"fma.{name}", FORMATS[name].width, partial(_fma_definition, FORMATS[name]))
    for name in ("f32", "f64")
}


def fma_words(fmt: Format, a: Term, b: Term, c: Term) -> Term:
    """Return a·b + c on words of one format, rounded once to nearest even; NaNs are ``nan_word``.

    A macro for f32 and f64: one instruction where the machine has it, :func:`fma` for solvers.
    """
    if fmt.name in _FMA:
        return _FMA[fmt.name](a, b, c)
    return _fma_definition(fmt, a, b, c)


def convert(x: Number, fmt: Format, rounding: Rounding) -> Term:
    """Return the word of x rounded to ``fmt``; x may be an exact product. Zeros keep their sign."""
    return RoundedSum(terms=(x,), format=fmt, rounding=rounding).word()


def multiply(x: Number, y: Number, fmt: Format, rounding: Rounding) -> Term:
    """Return the word of x·y rounded once to ``fmt``."""
    return convert(exact_product(x, y), fmt, rounding)


def add_words(fmt: Format, a: Term, b: Term) -> Term:
    """Return the word of a + b, to nearest even."""
    return MultiplyAdd.sum(fmt, a, b).word()


def widen(word: Term, narrow: AnyFormat, wide: AnyFormat) -> Term:
    """Return the word in a format that holds every number of the narrow one (NaNs may keep a payload).

    Of a format without special values, words of special values stand for some number.
    """
    if narrow == wide:
        return word
    if isinstance(narrow, IntegerFormat) and isinstance(wide, IntegerFormat):
        longer = word.sext(wide.width) if narrow.signed else word.zext(wide.width)
        return longer << (wide.fraction_bits - narrow.fraction_bits)
    assert isinstance(narrow, Format)
    assert isinstance(wide, Format)
    finite = narrow.specials is wide.specials is Specials.NONE
    same = (narrow.exponent_bits, narrow.bias) == (wide.exponent_bits, wide.bias)
    alike = same and narrow.signed == wide.signed and (narrow.has_infinity or finite)
    usual = wide.bias == (1 << (wide.exponent_bits - 1)) - 1 and not wide.ignored_low_bits
    normal = narrow.e_min - narrow.fraction_bits >= wide.e_min  # whatever is not zero
    if narrow.ignored_high_bits or not (alike or (usual and normal)):
        return convert(dp.decode(narrow, word), wide, _NEAREST)
    if alike:
        return _padded(word[narrow.width - 1 : narrow.ignored_low_bits], wide.width)
    x = dp.normalise_number(dp.decode(narrow, word))
    magnitude = x.exponent.within(-wide.bias, wide.bias + 1)
    if x.fraction_bits:
        magnitude = magnitude.concat(_padded(x.significand[x.fraction_bits - 1 : 0], wide.fraction_bits))
    else:
        magnitude = _padded(magnitude, wide.width - wide.signed)
    magnitude = x.zero.ite(0, magnitude)
    return dp.encode(wide, x.sign, magnitude, x.infinite, x.sign, x.nan, wide.nan_word or 0)


def _padded(word: Term, width: int) -> Term:
    """Return the word with zeros behind it, so that it has so many bits."""
    return word.concat(const(0, width - word.width)) if width > word.width else word


def flush(word: Term, fmt: Format, *, keep_sign: bool = True) -> Term:
    """Return the word, zero where subnormal: with its sign where there is a -0, or +0. A NaN stays."""
    low = fmt.fraction_bits + fmt.ignored_low_bits
    tiny = word[low + fmt.exponent_bits - 1 : low].eq(0)
    if fmt.specials is Specials.NEGATIVE_ZERO_NAN:
        tiny &= word.ne(fmt.nan_word or 0)
    sign = word[fmt.sign_bit] if keep_sign and fmt.has_negative_zero else FALSE
    zero = sign.concat(const(0, fmt.width - 1))
    return tiny.ite(zero, word)


class Zeros(Enum):
    """The sign of a zero result."""

    IEEE = "as IEEE 754 says"
    NO_NEGATIVE_SUM = "+0 where the exact sum is zero"
    POSITIVE = "+0 always"


@dataclass(frozen=True, kw_only=True)
class RoundedSum:
    """The exact sum of some numbers, which is rounded to a word once.

    terms: the numbers. flush: a subnormal result becomes zero, ``tininess`` saying which is subnormal.
    overflow: what is beyond the largest number becomes; both as in :func:`.datapath.round_to`.
    nan_word: None is the format's own. wide: the sum is formed in one word that spans every exponent, of
    any number of terms; else a single number is converted, or two are added. finite: an infinity becomes the
    largest number.
    """

    terms: tuple[Number, ...]
    format: Format
    rounding: Rounding
    flush: bool = False
    tininess: str = "result"
    overflow: str = "ieee"
    nan_word: Term | int | None = None
    zeros: Zeros = Zeros.IEEE
    wide: bool = False
    finite: bool = False

    @property
    def sum(self) -> SignMagnitude:
        """Return the exact sum, as far as rounding it looks at it."""
        if self.wide:
            return _wide_sum(self.terms, self.format)
        if len(self.terms) == 1:
            return dp.sign_and_magnitude(dp.as_fixed(self.terms[0]))
        terms = list(map(_leading, self.terms))
        lowest = Exponent.constant(min(t.exponent.low for t in terms))
        terms = [replace(t, exponent=t.exponent.or_where(t.zero, lowest)) for t in terms]
        return _sum_of_two(terms, self.format)

    def word(self) -> Term:
        """Return the word itself; the same record is always the same node."""
        fmt, terms, rounding, exact = self.format, self.terms, self.rounding, self.sum
        magnitude = dp.round_to(
            fmt, exact, rounding,
            flush=const(self.flush, 1), tininess=self.tininess, overflow=self.overflow,
        )  # fmt: skip
        sign = exact.magnitude.eq(0).ite(self._zero_sign(terms), exact.sign)
        infinite, infinity_sign, nan = dp.special_cases(terms)
        nan_word = fmt.nan_word or 0 if self.nan_word is None else self.nan_word
        limit = fmt.largest_finite_word if self.finite else None
        word = dp.encode(fmt, sign, magnitude, infinite, infinity_sign, nan, nan_word, limit)
        if self.zeros is Zeros.POSITIVE:
            word = word[fmt.sign_bit - 1 : 0].eq(0).ite(0, word)
        return word

    def _zero_sign(self, terms: Sequence[Number]) -> Term:
        """Return an exact zero's sign: zeros of one sign keep it; else +0, or -0 when rounding down."""
        if self.zeros is Zeros.NO_NEGATIVE_SUM:
            return FALSE
        negative = all_of(t.sign for t in terms)
        positive = all_of(~t.sign for t in terms)
        down = TRUE if self.rounding.floors else FALSE
        zeros = all_of(t.zero for t in terms)
        return (zeros & negative) | (down & ~(zeros & positive))


@dataclass(frozen=True, kw_only=True)
class MultiplyAdd:
    """A multiply-add of words of one format, x·y + z, rounded once to nearest even.

    flush: a subnormal result becomes a zero of its sign. nan_word: None is the format's own.
    """

    format: Format
    x: Term
    y: Term
    z: Term
    flush: bool = False
    nan_word: int | None = None

    @classmethod
    def product(cls, fmt: Format, x: Term, y: Term, *, flush: bool = False) -> MultiplyAdd:
        """Return x·y, as x·y + (-0): a zero product keeps its sign."""
        return cls(format=fmt, x=x, y=y, z=const(1 << fmt.sign_bit, fmt.width), flush=flush)

    @classmethod
    def sum(cls, fmt: Format, x: Term, y: Term, *, flush: bool = False) -> MultiplyAdd:
        """Return x + y, as x·1 + y."""
        return cls(format=fmt, x=x, y=const(fmt.word(Fraction(1)), fmt.width), z=y, flush=flush)

    @property
    def rounding(self) -> Rounding:
        """Return the rounding to nearest even."""
        return _NEAREST

    @property
    def terms(self) -> tuple[Number, ...]:
        """Return the exact product, and z."""
        x, y, z = (dp.decode(self.format, word) for word in (self.x, self.y, self.z))
        return exact_product(x, y), z

    def word(self) -> Term:
        """Return the word itself; the same record is always the same node."""
        word = fma_words(self.format, self.x, self.y, self.z)
        word = flush(word, self.format) if self.flush else word
        usual = self.nan_word in (None, self.format.nan_word)
        return word if usual else dp.decode(self.format, word).nan.ite(self.nan_word or 0, word)


#: What a word is the rounding of, such that :meth:`word` builds the word's own node again.
Operation = RoundedSum | MultiplyAdd


def _leading(x: Number) -> Number:
    """Return the number normalised, so that its exponent tells its size; normal products are left."""
    return x if x.integer_bits > 1 else dp.normalise_number(x)


def _sum_of_two(terms: Sequence[Number], fmt: Format) -> SignMagnitude:
    """Return the sum of normalised numbers as far as rounding to a format looks at it."""
    # dropped bits lie below every rounding position: a shift that drops any leaves no cancellation
    bits = max(fmt.fraction_bits, *(t.fraction_bits for t in terms)) + 4
    top = dp.largest([t.exponent for t in terms])
    aligned = [dp.align(t, top, bits, _TRUNCATE, sticky=True) for t in terms]
    return dp.sign_and_magnitude(dp.accumulate(aligned, bits + 6))


def _wide_sum(terms: Sequence[Number], fmt: Format) -> SignMagnitude:
    """Return the exact sum of any number of terms as far as rounding to a format looks at it."""
    lowest = min(t.exponent.low - t.fraction_bits for t in terms)
    highest = max(t.exponent.high + t.integer_bits for t in terms)
    width = highest - lowest + 1 + len(terms).bit_length()
    words = []
    for t in terms:
        place = t.exponent.plus(-t.fraction_bits).within(lowest, highest)
        word = t.significand.zext(width) << place.zext(width)
        words.append(t.sign.ite(~word, word))
    # two's complement: one for every complemented word, counted first
    count = len(terms).bit_length()
    negative = total(*(t.sign.zext(count) for t in terms))
    exact = Fixed(total(*words, negative.zext(width)), Exponent.constant(lowest), 0)
    return dp.condense(dp.sign_and_magnitude(exact), fmt.fraction_bits + 3)
