"""The interface of formats of every kind: words of so many bits, and the exact value of each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, kw_only=True)
class AnyFormat(ABC):
    """A floating-point, integer or fixed-point format.

    name: as in PTX, and as ``--a-format`` takes it.
    """

    name: str

    @property
    @abstractmethod
    def width(self) -> int:
        """Return how many bits a stored word has."""

    @property
    @abstractmethod
    def signed(self) -> bool:
        """Return whether there are negative numbers, whose words have the highest bit set."""

    @property
    @abstractmethod
    def largest_finite_word(self) -> int:
        """Return the word of the largest finite number."""

    @property
    @abstractmethod
    def has_infinity(self) -> bool:
        """Return whether the format has infinities."""

    @property
    @abstractmethod
    def infinity_word(self) -> int:
        """Return the magnitude word of infinity; the largest finite number's where there is none."""

    @property
    @abstractmethod
    def has_negative_zero(self) -> bool:
        """Return whether the format has a word for -0."""

    @property
    @abstractmethod
    def nan_word(self) -> int | None:
        """Return the word that is preferred for NaN; None without NaNs."""

    @property
    def largest_finite(self) -> Fraction:
        """Return the largest finite value."""
        return self.value(self.largest_finite_word)

    @property
    def sign_bit(self) -> int:
        """Return the position of the sign bit in the word."""
        return self.width - 1

    @property
    def hex_digits(self) -> int:
        """Return how many hexadecimal digits a word has."""
        return -(-self.width // 4)

    def hex(self, word: int) -> str:
        """Return the word as hexadecimal text, all digits."""
        return f"0x{word:0{self.hex_digits}x}"

    def is_special(self, word: int) -> bool:
        """Return whether the word is not a finite number."""
        return self.is_nan(word) or self.is_infinite(word)

    @abstractmethod
    def holds(self, other: AnyFormat) -> bool:
        """Return whether the other is a format of the same kind, and this one has its finite numbers."""

    @abstractmethod
    def is_nan(self, word: int) -> bool:
        """Return whether the word is a NaN."""

    @abstractmethod
    def is_infinite(self, word: int) -> bool:
        """Return whether the word is an infinity."""

    @abstractmethod
    def value(self, word: int) -> Fraction:
        """Return the exact value of a finite word. Raises ValueError for NaNs and infinities."""

    @abstractmethod
    def word(self, value: Fraction) -> int:
        """Return the word of a value. Raises ValueError where the value is not representable."""

    @abstractmethod
    def nearest_word(self, value: Fraction) -> int:
        """Return the word of the nearest value, the even one of two. Raises ValueError beyond the format."""

    @abstractmethod
    def fields_text(self, word: int) -> str:
        """Return the word's bits, as people read them."""

    @abstractmethod
    def describe(self, word: int) -> str:
        """Return the value as people write it."""


def leading_exponent(value: Fraction) -> int:
    """Return the largest e with 2^e <= abs(value), which is not 0."""
    over, under = abs(value.numerator), value.denominator
    exponent = over.bit_length() - under.bit_length()
    return exponent - (over << max(-exponent, 0) < under << max(exponent, 0))


def power_text(value: Fraction) -> str:
    """Return a non-negative dyadic value as ``significand·2^exponent`` (exact)."""
    if value == 0:
        return "0"
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    significand = value / Fraction(2) ** exponent
    digits = significand.denominator.bit_length() - 1
    scaled = significand.numerator * 10**digits // significand.denominator
    text = f"{scaled // 10**digits}.{scaled % 10**digits:0{digits}d}" if digits else str(scaled)
    if exponent == 0:
        return text
    return f"2^{exponent}" if significand == 1 else f"{text}·2^{exponent}"
