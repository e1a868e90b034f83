"""A number as integers on a grid that it shares with its row: what every scheme of Ozaki's begins with.

A row of A, or a column of B, has one exponent E: that of its largest number, plus 1 (plus 2 where digits are
rounded to nearest, so that the first one is no larger than the others). Below 2^E the numbers are cut after
every ``bits`` bits:

    x = 2^E · Σ_p digit_p · 2^(-bits·p) + rest,  p = 1 ... count

Toward zero, digits are the bits of x with its sign: below 2^bits. To nearest even, each cut rounds x as it
is (as adding and subtracting a large number does), so that digits are 2^(bits-1) at most, of either sign.
One digit alone is the number as an integer of ``bits`` bits (the residues' scheme).

Exponents are those of the words: of subnormal numbers the smallest one, however small they are.
"""

from __future__ import annotations

from dataclasses import dataclass

from tcsmt.language.terms import FALSE, Term, const
from tcsmt.matrix_units.arithmetic import ieee
from tcsmt.matrix_units.arithmetic.datapath import Exponent, Number, decode, shift_right
from tcsmt.matrix_units.arithmetic.formats import FORMATS, AnyFormat, Format, IntegerFormat, float_format
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.support.errors import TcsmtError

F64 = FORMATS["f64"]
_NEAREST = ROUNDINGS["RNE"]


@dataclass(frozen=True, kw_only=True)
class Slicing:
    """The cut of the numbers of a row into digits.

    bits: of a digit. count: digits. rounding: RTZ or RNE. wide: the numbers' format, binary64 or a smaller
    one that stands for it.
    """

    bits: int
    count: int
    rounding: Rounding = ROUNDINGS["RTZ"]
    wide: Format = F64

    def __post_init__(self) -> None:
        if not 1 <= self.bits <= 60:
            raise TcsmtError(f"bits = {self.bits}: must be from 1 to 60")
        if not 1 <= self.count <= 32:
            raise TcsmtError(f"slices = {self.count}: must be from 1 to 32")
        if not (self.rounding.truncates or self.nearest):
            raise TcsmtError(f"split = {self.rounding.name}: must be RTZ or RNE")
        if self.nearest and self.bits < 2:
            raise TcsmtError(f"bits = {self.bits}: must be at least 2 for digits to nearest")

    @property
    def nearest(self) -> bool:
        """Return whether digits are rounded to nearest even."""
        return self.rounding.ties_to_even

    @property
    def total(self) -> int:
        """Bits of all digits."""
        return self.bits * self.count

    @property
    def above(self) -> int:
        """E minus the largest exponent."""
        return 2 if self.nearest else 1

    @property
    def largest(self) -> int:
        """Return the largest magnitude of a digit."""
        return 1 << (self.bits - 1) if self.nearest else (1 << self.bits) - 1

    @property
    def exponent_bits(self) -> int:
        """Bits of the words of exponents, which count from the format's smallest one."""
        return self.exponent(const(0, self.wide.width)).width

    def exponent(self, word: Term) -> Term:
        """A number's exponent, as the word by which a row's largest one is found."""
        return decode(self.wide, word).exponent.term

    def finite(self, word: Term) -> Term:
        """Return whether a word is a finite number."""
        x = decode(self.wide, word)
        return ~(x.infinite | x.nan)

    def digits(self, word: Term, top: Term) -> tuple[Term, ...]:
        """Return the digits of a number, the largest first: two's complement words of bits + 2 bits.

        top: the word of the row's largest exponent.
        """
        x = decode(self.wide, word)
        window = x.significand.concat(const(0, self.total))
        width = max(top.width, self.wide.precision.bit_length() + 1) + 1
        amount = (top - x.exponent.term).zext(width) + (self.wide.fraction_bits + self.above)
        width = max(window.width, amount.width)
        kept, half, rest = shift_right(window.zext(width), amount.zext(width))
        kept = kept[self.total - 1 : 0]
        sizes = self._nearest(kept.concat(half).concat(rest)) if self.nearest else self._cut(kept)
        return tuple(x.sign.ite(-size, size) for size in sizes)

    def _cut(self, kept: Term) -> list[Term]:
        ends = [self.total - self.bits * place for place in range(self.count)]
        return [kept[end - 1 : end - self.bits].zext(self.bits + 2) for end in ends]

    def _nearest(self, extended: Term) -> list[Term]:
        """Return, of the bits that are kept, the next one, and whether any lower one is set."""
        width = self.bits + 2
        before, digits = const(0, width), []
        for place in range(1, self.count + 1):
            last = self.total + 2 - self.bits * place
            half = extended[last - 1]
            up = half & (extended[last - 2 : 0].ne(0) | extended[last])
            whole = extended[extended.width - 1 : last]
            rounded = (whole.zext(max(width, whole.width)) + up.zext(max(width, whole.width)))[width - 1 : 0]
            digits.append(rounded - (before << self.bits))
            before = rounded
        return digits


def has_integers(fmt: AnyFormat, low: int, high: int) -> bool:
    """Return whether a format has all integers from low to high."""
    if isinstance(fmt, IntegerFormat):
        return not fmt.fraction_bits and fmt.low <= low and high <= fmt.high
    fmt = float_format(fmt)
    most = max(-low, high)
    fine = fmt.e_min - fmt.fraction_bits <= 0 and most <= min(1 << fmt.precision, int(fmt.largest_finite))
    return fine and (fmt.signed or low >= 0)


def require_integers(what: str, fmt: AnyFormat, low: int, high: int) -> None:
    """Raise :class:`.TcsmtError` where a format does not have all integers from low to high."""
    if not has_integers(fmt, low, high):
        raise TcsmtError(f"{what} from {low} to {high}: {fmt.name} does not have all of them")


def digit_word(fmt: AnyFormat, digit: Term) -> Term:
    """Return the word of a digit in a format that has all of its numbers."""
    if isinstance(fmt, IntegerFormat):
        return digit.sext(fmt.width) if digit.width <= fmt.width else digit[fmt.width - 1 : 0]
    fmt = float_format(fmt)
    negative = digit[digit.width - 1]
    size = negative.ite(-digit, digit)
    exact = Number(negative, Exponent.constant(0), size, 0, size.eq(0), FALSE, FALSE)
    return ieee.convert(exact, fmt, _NEAREST)
