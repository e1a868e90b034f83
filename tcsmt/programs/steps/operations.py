"""Operations outside a unit, as terms: a multiply-add as a model, conversions, and scaled sums."""

from __future__ import annotations

from fractions import Fraction

from tcsmt.language.terms import FALSE, Term, const
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic import ieee
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.ieee import MultiplyAdd, Operation, RoundedSum
from tcsmt.matrix_units.arithmetic.nan_words import NanWords
from tcsmt.matrix_units.arithmetic.nans import NanRule
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.matrix_units.models import IeeeDotAdd

_NEAREST = ROUNDINGS["RNE"]


def scaled_sum(fmt: Format, x: Term, shift: int, y: Term, rounding: Rounding, nan_word: int) -> Operation:
    """x·2^-shift + y in one format, rounded once. nan_word: of a NaN result."""
    scale = const(fmt.word(Fraction(2) ** -shift), fmt.width)
    if rounding.ties_to_even:
        return MultiplyAdd(format=fmt, x=x, y=scale, z=y, nan_word=nan_word)
    scaled = ieee.exact_product(dp.decode(fmt, x), dp.decode(fmt, scale))
    return RoundedSum(terms=(scaled, dp.decode(fmt, y)), format=fmt, rounding=rounding, nan_word=nan_word)


def multiply_add(fmt: Format, nan_word: int | None = None) -> IeeeDotAdd:
    """a·b + c in one format, as a model. nan_word: of every NaN result; None: the format's own."""
    nan = None if nan_word in (None, fmt.nan_word) else NanRule((), nan_word)
    return IeeeDotAdd.of(
        a_format=fmt, b_format=fmt, c_format=fmt, d_format=fmt, sum_format=fmt, k=1, method="fma", nan=nan
    )


def rounded(
    source: Format, target: Format, x: Term, rounding: Rounding, *, saturate: bool, nans: NanWords
) -> RoundedSum:
    """Return the conversion of a word to another format, rounded once; zeros keep their sign.

    nans: what a NaN becomes. saturate: as ``cvt.satfinite`` of the PTX ISA: what is beyond the wanted
    format's largest number becomes that number, an infinity as well.
    """
    return RoundedSum(
        terms=(dp.decode(source, x),),
        format=target,
        rounding=rounding,
        nan_word=nans.computed(target),
        overflow="saturate" if saturate else "ieee",
        finite=saturate,
    )


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
