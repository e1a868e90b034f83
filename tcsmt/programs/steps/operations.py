"""Operations outside a unit, as terms: a multiply-add as a model, conversions, and scaled sums."""

from __future__ import annotations

from fractions import Fraction

from tcsmt.language.terms import FALSE, Term, const
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic import ieee
from tcsmt.matrix_units.arithmetic.conversion import NanWords
from tcsmt.matrix_units.arithmetic.datapath import Exponent, Number
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, IntegerFormat
from tcsmt.matrix_units.arithmetic.ieee import MultiplyAdd, Operation, RoundedSum
from tcsmt.matrix_units.arithmetic.nans import NanRule
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.matrix_units.models import IeeeDotAdd
from tcsmt.support.errors import TcsmtError

_NEAREST = ROUNDINGS["RNE"]


def scaled_sum(fmt: Format, x: Term, shift: int, y: Term, rounding: Rounding, nan_word: int) -> Operation:
    """x·2^-shift + y in one format, rounded once. nan_word: of a NaN result."""
    scale = const(fmt.word(Fraction(2) ** -shift), fmt.width)
    if rounding.ties_to_even:
        return MultiplyAdd(format=fmt, x=x, y=scale, z=y, nan_word=nan_word)
    scaled = ieee.exact_product(dp.decode(fmt, x), dp.decode(fmt, scale))
    return RoundedSum(terms=(scaled, dp.decode(fmt, y)), format=fmt, rounding=rounding, nan_word=nan_word)


def product(fmt: Format, x: Term, y: Term, rounding: Rounding, nan_word: int) -> Operation:
    """x·y in one format, rounded once. nan_word: of a NaN result."""
    exact = ieee.exact_product(dp.decode(fmt, x), dp.decode(fmt, y))
    return RoundedSum(terms=(exact,), format=fmt, rounding=rounding, nan_word=nan_word)


def quotient(fmt: Format, x: Term, y: Term, rounding: Rounding, nan_word: int) -> Operation:
    """x / y in one format, rounded once: 0/0 and ∞/∞ are NaNs, and what is divided by 0 is infinite."""
    a, b = (dp.normalise_number(dp.decode(fmt, word)) for word in (x, y))
    width = a.significand.width
    rest, divisor = a.significand.zext(width + 1), b.significand.zext(width + 1)
    bits = []
    for _ in range(width + 3):  # one more than the digits and two that rounding looks at
        fits = divisor.ule(rest)
        bits.append(fits)
        rest = fits.ite(rest - divisor, rest) << 1
    digits = bits[0]
    for bit in (*bits[1:], rest.ne(0)):
        digits = digits.concat(bit)
    zero = a.zero | b.infinite
    exact = Number(
        a.sign ^ b.sign,
        a.exponent + _negative(b.exponent),
        zero.ite(0, digits),
        digits.width - 1,
        zero,
        (a.infinite | b.zero) & ~(a.infinite & b.infinite),
        a.nan | b.nan | (a.zero & b.zero) | (a.infinite & b.infinite),
    )
    return RoundedSum(terms=(exact,), format=fmt, rounding=rounding, nan_word=nan_word)


def _negative(x: Exponent) -> Exponent:
    return Exponent(const(x.high - x.low, x.term.width) - x.term, -x.high, -x.low)


def maximum(fmt: AnyFormat, x: Term, y: Term, nan: str, nan_word: int) -> Term:
    """Return the larger word; +0 is above -0. nan: NaNs are ``propagated`` or ``ignored``."""
    first, second = (_in_order(fmt, word) for word in (x, y))
    larger = first.slt(second).ite(y, x)
    if not isinstance(fmt, Format):
        return larger
    nan_x, nan_y = (dp.decode(fmt, word).nan for word in (x, y))
    if nan == "propagated":
        return (nan_x | nan_y).ite(nan_word, larger)
    return (nan_x & nan_y).ite(nan_word, nan_x.ite(y, nan_y.ite(x, larger)))


def compared(fmt: AnyFormat, x: Term, y: Term, relation: str) -> Term:
    """Return whether x is ``equal``, ``less`` or ``less_equal`` to y: of NaNs nothing holds, and both zeros
    are equal.
    """
    first, second = (_in_order(fmt, word) for word in (x, y))
    less, equal = first.slt(second), first.eq(second)
    fine = const(1, 1)
    if isinstance(fmt, Format):
        a, b = (dp.decode(fmt, word) for word in (x, y))
        zeros, fine = a.zero & b.zero, ~(a.nan | b.nan)
        less, equal = less & ~zeros, equal | zeros
    return fine & {"equal": equal, "less": less, "less_equal": less | equal}[relation]


def power_of_two(x: Term, shift: int, *, up: bool) -> Term:
    """Return the UE8M0 word of the power of two next to |x| of binary32, times 2^shift
    (:meth:`.Builder.power_of_two`).
    """
    field, fraction = x[30:23].zext(12), x[22:0]
    nan = field.eq(255) & fraction.ne(0)
    if up:  # subnormal numbers up to half of the first normal one are 2^-127, which is the format's first
        above = field.ne(0).ite(fraction.ne(0), const(1 << 22, 23).ult(fraction))
        field = field + above.zext(12)
    power = field + const(shift % (1 << 12), 12)
    power = power.slt(0).ite(0, const(254, 12).slt(power).ite(254, power))
    return nan.ite(255, power[7:0])


def _in_order(fmt: AnyFormat, word: Term) -> Term:
    """Return words in two's complement, in the order of the values (no NaN), -0 below +0."""
    if isinstance(fmt, IntegerFormat):
        return word if fmt.signed else word.zext(word.width + 1)
    assert isinstance(fmt, Format)
    word = word[word.width - 1 : fmt.ignored_low_bits] if fmt.ignored_low_bits else word
    if not fmt.signed:
        return word.zext(word.width + 1)
    size = word & ((1 << (word.width - 1)) - 1)
    return word[word.width - 1].ite(~size, size)


def multiply_add(fmt: Format, nan_word: int | None = None) -> IeeeDotAdd:
    """a·b + c in one format, as a model. nan_word: of every NaN result; None: the format's own."""
    nan = None if nan_word in (None, fmt.nan_word) else NanRule((), nan_word)
    return IeeeDotAdd.of(
        a_format=fmt, b_format=fmt, c_format=fmt, d_format=fmt, sum_format=fmt, k=1, method="fma", nan=nan
    )


def rounded(
    source: AnyFormat, target: Format, x: Term, rounding: Rounding, *, saturate: bool, nans: NanWords
) -> RoundedSum:
    """Return the conversion of a word to another format, rounded once; zeros keep their sign, and of integers
    are +0.

    nans: what a NaN becomes. saturate: as ``cvt.satfinite`` of the PTX ISA: what is beyond the wanted
    format's largest number becomes that number, an infinity as well. Raises :class:`.TcsmtError` for a format
    without a zero.
    """
    if not target.has_subnormals:
        raise TcsmtError(f"a conversion to {target.name}, which has no zero, is not described")
    return RoundedSum(
        terms=(number_of(source, x),),
        format=target,
        rounding=rounding,
        nan_word=nans.computed(target),
        overflow="saturate" if saturate else "ieee",
        finite=saturate,
    )


def number_of(fmt: AnyFormat, word: Term) -> Number:
    """Return what a word stands for."""
    if isinstance(fmt, Format):
        return dp.decode(fmt, word)
    assert isinstance(fmt, IntegerFormat)
    negative = word[word.width - 1] if fmt.signed else FALSE
    wide = word.sext(word.width + 1) if fmt.signed else word.zext(word.width + 1)
    size, place = negative.ite(-wide, wide), Exponent.constant(-fmt.fraction_bits)
    return Number(negative, place, size, 0, word.eq(0), FALSE, FALSE)


def randomly_rounded(
    source: Format, target: Format, x: Term, r: Term, *, saturate: bool, nans: NanWords
) -> Term:
    """Return the word of x in another format: r is added to as many dropped bits, and the sum is
    truncated.
    """
    number = dp.decode(source, x)
    exact = dp.sign_and_magnitude(dp.as_fixed(number))
    kept_bits, bits = target.fraction_bits, r.width
    placed = dp.place(target, exact, kept_bits)
    drop = placed.significand.width - (kept_bits + 1)
    kept = placed.significand[placed.significand.width - 1 : drop]
    dropped = placed.significand[drop - 1 : 0] if drop else const(0, 1)
    width = dropped.width
    first = dropped[width - 1 : width - bits] if width >= bits else dropped.concat(const(0, bits - width))
    up = (first.zext(bits + 1) + r.zext(bits + 1))[bits]
    size = max(placed.field.width, target.exponent_bits) + kept_bits + 2
    packed = (placed.field.zext(size) << kept_bits) + kept.zext(size) + up.zext(size)
    magnitude = dp.finite_magnitude(target, packed, kept_bits, flush=FALSE)
    overflow = "saturate" if saturate else "ieee"
    magnitude = dp.handle_overflow(target, packed, magnitude, exact.sign, _NEAREST, kept_bits, overflow)
    if target.ignored_low_bits:
        magnitude = magnitude.concat(const(0, target.ignored_low_bits))
    magnitude = exact.magnitude.eq(0).ite(const(0, magnitude.width), magnitude)
    infinite, sign, nan = dp.special_cases([number])
    limit = target.largest_finite_word if saturate else None
    return dp.encode(target, number.sign, magnitude, infinite, sign, nan, nans.computed(target), limit)
