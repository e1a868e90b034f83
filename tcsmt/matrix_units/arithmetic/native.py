"""Operations on binary32 and binary64 words that processors have as one instruction, each with its own
definition.

What a processor's instruction gives is left open where :attr:`.Macro.unspecified` says so: which word a NaN
is, and what a number is that no integer of 32 bits holds. A graph that uses these operations has to give the
same words whatever they are there.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from tcsmt.language.terms import Macro, Term, const
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic.datapath import Exponent, Number, SignMagnitude
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.matrix_units.arithmetic.ieee import RoundedSum, convert, widen
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS

_WIDE, _HALF, _DOUBLE = FORMATS["f32"], FORMATS["f16"], FORMATS["f64"]
_NEAREST = ROUNDINGS["RNE"]
_NAN = _WIDE.nan_word or 0
#: Bits of an integer.
_BITS = 32


def product(x: Term, y: Term) -> Number:
    """Return the exact product that :func:`multiply` rounds."""
    return dp.multiply(dp.decode(_WIDE, x), dp.decode(_WIDE, y))


def _multiply(x: Term, y: Term) -> Term:
    exact = product(x, y)
    size = SignMagnitude(exact.sign, exact.significand, exact.exponent.plus(-exact.fraction_bits))
    magnitude = dp.round_to(_WIDE, size, _NEAREST)
    return dp.encode(_WIDE, exact.sign, magnitude, exact.infinite, exact.sign, exact.nan, _NAN)


def _is_nan(x: Term, y: Term) -> Term:
    return product(x, y).nan


def _sum(fmt: Format, x: Term, y: Term) -> RoundedSum:
    return RoundedSum(terms=(dp.decode(fmt, x), dp.decode(fmt, y)), format=fmt, rounding=_NEAREST)


def _add(fmt: Format, x: Term, y: Term) -> Term:
    return _sum(fmt, x, y).word()


def _sum_is_nan(fmt: Format, x: Term, y: Term) -> Term:
    *_, nan = dp.special_cases(_sum(fmt, x, y).terms)
    return nan


def _to_integer(x: Term) -> Term:
    number = dp.decode(_WIDE, x)
    places = number.exponent.within(0, _WIDE.e_max)[4:0]
    shifted = number.significand.zext(_WIDE.fraction_bits + _BITS) << places.zext(_WIDE.fraction_bits + _BITS)
    size = shifted[shifted.width - 1 : _WIDE.fraction_bits]
    size = _below(number.exponent, 0).ite(0, size)
    return _too_large(x).ite(const(1 << (_BITS - 1), _BITS), number.sign.ite(-size, size))


def _too_large(x: Term) -> Term:
    return ~_below(dp.decode(_WIDE, x).exponent, _BITS - 1)


def _below(exponent: Exponent, limit: int) -> Term:
    return exponent.term.ult(limit - exponent.low)


def _from_integer(x: Term) -> Term:
    sign = x[_BITS - 1]
    return sign.concat(
        dp.round_to(_WIDE, SignMagnitude(sign, sign.ite(-x, x), Exponent.constant(0)), _NEAREST)
    )


#: x·y, rounded to nearest even.
multiply = Macro("multiply.f32", _WIDE.width, _multiply, _is_nan)
#: x + y, rounded to nearest even.
add = Macro("add.f32", _WIDE.width, partial(_add, _WIDE), partial(_sum_is_nan, _WIDE))
#: The same in binary64.
add_double = Macro("add.f64", _DOUBLE.width, partial(_add, _DOUBLE), partial(_sum_is_nan, _DOUBLE))
#: A binary32 number in binary64.
to_double = Macro(
    "to_double.f64", _DOUBLE.width, lambda x: widen(x, _WIDE, _DOUBLE), lambda x: dp.decode(_WIDE, x).nan
)
#: A binary64 number in binary32, rounded to nearest even.
to_single = Macro(
    "to_single.f32", _WIDE.width,
    lambda x: convert(dp.decode(_DOUBLE, x), _WIDE, _NEAREST), lambda x: dp.decode(_DOUBLE, x).nan,
)  # fmt: skip
#: The number without its fraction, as an integer of 32 bits in two's complement.
to_integer = Macro("to_integer.f32", _BITS, _to_integer, _too_large)
#: An integer of 32 bits in two's complement, rounded to nearest even.
from_integer = Macro("from_integer.f32", _WIDE.width, _from_integer)


#: A binary32 number in binary16, rounded to nearest even.
to_half = Macro(
    "to_half.f16", _HALF.width,
    lambda x: convert(dp.decode(_WIDE, x), _HALF, _NEAREST), lambda x: dp.decode(_WIDE, x).nan,
)  # fmt: skip
#: A binary16 number in binary32.
from_half = Macro(
    "from_half.f32", _WIDE.width, lambda x: widen(x, _HALF, _WIDE), lambda x: dp.decode(_HALF, x).nan
)


def through_half(word: Term, fmt: Format) -> Term | None:
    """Return a number, whose format's fields are no longer than binary16's, in binary32; None for others.

    Of NaNs and infinities it is some word. The tests compare it with :func:`.widen` on every word.
    """
    if not _in_half(fmt):
        return None
    number = _as_half(word, fmt)
    return number if fmt.bias == _HALF.bias else _times(number, _HALF.bias - fmt.bias)


def half_word(word: Term, fmt: Format) -> Term | None:
    """Return the same in binary16; None, too, where numbers are subnormal there: they are in fewer
    instructions without it, or it says nothing of them.
    """
    if not _in_half(fmt) or fmt.e_min - fmt.fraction_bits < _HALF.e_min:
        return None
    # the number with binary16's bias: its fields lie where binary32's do
    scaled = _times(_as_half(word, fmt), 2 * _HALF.bias - fmt.bias - _WIDE.bias)
    lost = _WIDE.fraction_bits - _HALF.fraction_bits
    return scaled[_WIDE.width - 1].concat(scaled[lost + _HALF.width - 2 : lost])


def _in_half(fmt: Format) -> bool:
    usual = fmt.signed and fmt.has_subnormals and not fmt.ignored_bits
    short = fmt.exponent_bits <= _HALF.exponent_bits and fmt.fraction_bits <= _HALF.fraction_bits
    return usual and short and fmt.e_max + fmt.bias <= _HALF.e_max + _HALF.bias


def _as_half(word: Term, fmt: Format) -> Term:
    """Return the number that binary16 has where the format's fields are its own."""
    bits = fmt.exponent_bits + fmt.fraction_bits
    magnitude = word[bits - 1 : 0].zext(_HALF.width - 1) << (_HALF.fraction_bits - fmt.fraction_bits)
    return from_half(word[bits].concat(magnitude))


def _times(number: Term, exponent: int) -> Term:
    return multiply(number, const(_WIDE.word(Fraction(2) ** exponent), _WIDE.width))
