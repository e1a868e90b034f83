"""Integer and fixed-point formats: two's complement or unsigned words of so many bits."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tcsmt.matrix_units.arithmetic.any_format import AnyFormat
from tcsmt.support.errors import TcsmtError


@dataclass(frozen=True, kw_only=True)
class IntegerFormat(AnyFormat):
    """An integer or fixed-point format: every word is a number, ``word * 2^-fraction_bits``.

    bits: of a word. signed: two's complement; else unsigned.
    fraction_bits: bits below the binary point; 0: integers.
    """

    bits: int
    signed: bool = True
    fraction_bits: int = 0

    def __post_init__(self) -> None:
        least = 1 + self.signed
        if self.bits < least:
            raise TcsmtError(f"bits = {self.bits}: must be {least} or more")
        if self.fraction_bits < 0:
            raise TcsmtError(f"fraction_bits = {self.fraction_bits}: must be 0 or more")

    @property
    def width(self) -> int:
        """Return how many bits a word has."""
        return self.bits

    @property
    def low(self) -> int:
        """Return the smallest number, in units of the last bit."""
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def high(self) -> int:
        """Return the largest number, in units of the last bit."""
        return (1 << (self.bits - self.signed)) - 1

    @property
    def limits(self) -> str:
        """Return which numbers there are, in words."""
        ends = f"{self.describe(self.word_of_count(self.low))} to {self.describe(self.high)}"
        return f"{ends}, in steps of 2^-{self.fraction_bits}" if self.fraction_bits else f"{ends}, whole"

    @property
    def largest_finite_word(self) -> int:
        """Return the word of the largest number."""
        return self.high

    @property
    def has_infinity(self) -> bool:
        """Return False: there is none."""
        return False

    @property
    def has_negative_zero(self) -> bool:
        """Return False: there is none."""
        return False

    @property
    def nan_word(self) -> None:
        """Return None: there is none."""
        return None

    @property
    def infinity_word(self) -> int:
        """Return the word of the largest number: there is no infinity."""
        return self.high

    def holds(self, other: AnyFormat) -> bool:
        """Return whether the other is an integer or fixed-point format, and this one has its numbers."""
        if not isinstance(other, IntegerFormat):
            return False
        more = self.fraction_bits - other.fraction_bits
        return more >= 0 and self.low <= other.low << more and other.high << more <= self.high

    def is_nan(self, word: int) -> bool:
        """Return False: no word is a NaN."""
        return False

    def is_infinite(self, word: int) -> bool:
        """Return False: no word is an infinity."""
        return False

    def count(self, word: int) -> int:
        """Return the number of a word in units of the last bit."""
        return word - (1 << self.bits) if self.signed and word >> self.sign_bit else word

    def word_of_count(self, count: int) -> int:
        """Return the word of so many units of the last bit, a number that the format has."""
        return count % (1 << self.bits)

    def value(self, word: int) -> Fraction:
        """Return the exact value of a word."""
        return Fraction(self.count(word), 1 << self.fraction_bits)

    def word(self, value: Fraction) -> int:
        """Return the word of a value. Raises ValueError where the value is not representable."""
        count = value * (1 << self.fraction_bits)
        if count.denominator != 1 or not self.low <= count <= self.high:
            raise ValueError(f"{value} is not a valid {self.name} value")
        return self.word_of_count(int(count))

    def nearest_word(self, value: Fraction) -> int:
        """Return the word of the nearest value, the even one of two. Raises ValueError beyond the format."""
        return self.word(Fraction(round(value * (1 << self.fraction_bits)), 1 << self.fraction_bits))

    def fields_text(self, word: int) -> str:
        """Return the bits of the word, and how they are read."""
        point = f", {self.fraction_bits} below the binary point" if self.fraction_bits else ""
        kind = "two's complement" if self.signed else "unsigned"
        return f"{kind} {word:0{self.bits}b}{point}"

    def describe(self, word: int) -> str:
        """Return the value in decimal digits, exact."""
        return decimal_text(self.value(word))


def integers_from(low: int, high: int, fraction_bits: int = 0) -> IntegerFormat:
    """Return the narrowest signed format with the numbers from low to high, in units of the last bit."""
    bits = 1 + max(high, -low - 1, 1).bit_length()
    name = f"s{bits}" + (f"f{fraction_bits}" if fraction_bits else "")
    return IntegerFormat(name=name, bits=bits, fraction_bits=fraction_bits)


def decimal_text(value: Fraction) -> str:
    """Return a dyadic value in decimal digits, exact."""
    integer, rest = divmod(abs(value), 1)
    digits = rest.denominator.bit_length() - 1
    decimal = f"{integer}.{int(rest * 10**digits):0{digits}d}" if rest else str(integer)
    return f"-{decimal}" if value < 0 else decimal


#: The integers of matrix units, named as in PTX.
INTEGERS: dict[str, IntegerFormat] = {
    f"{letter}{bits}": IntegerFormat(name=f"{letter}{bits}", bits=bits, signed=letter == "s")
    for bits in (4, 8, 16, 32, 64)
    for letter in "su"
}
