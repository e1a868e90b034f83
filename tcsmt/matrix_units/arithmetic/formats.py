"""Formats of matrix units: one frozen description each, decode and encode.

Every format has words of so many bits, and the exact value of each. A floating-point value that is finite is
``(-1)^sign * significand * 2^exponent`` with the significand in [1, 2) for normal numbers and in [0, 1) at
the smallest exponent ``e_min`` for subnormal numbers and zero. Integer and fixed-point formats have words in
two's complement, or unsigned ones.

Sources: IEEE 754-2019; OCP 8-bit Floating Point and Microscaling (MX) specifications 1.0 for e4m3,
e5m2, e2m3, e3m2, e2m1, e8m0; MMA-Sim appendix A for tf32, ue4m3 and the fnuz formats. The formats
e5m10fn, e8m7fn, e8m10fn and e8m23fn have the fields of FP16, BF16, TF32 and FP32 and no special values: "fn"
is ml_dtypes' suffix for finite numbers (Tenstorrent's registers; tt-isa-documentation, FloatBitPatterns).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction

from tcsmt.support.errors import AmbiguousName, TcsmtError, choose


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


class Specials(Enum):
    """The words that are not finite numbers."""

    IEEE = "infinities and NaNs at the largest exponent"
    NAN_ONLY = "one NaN magnitude, all ones; no infinities"
    NEGATIVE_ZERO_NAN = "the negative zero's word is the NaN; no infinities, no negative zero"
    NONE = "every word is a finite number"


@dataclass(frozen=True, kw_only=True)
class Format(AnyFormat):
    """A floating-point format.

    exponent_bits: width of the exponent field.
    fraction_bits: explicit significand bits; the implicit bit is not counted.
    bias: subtracted from the exponent field of a normal number.
    specials: which words are infinities and NaNs.
    signed: whether there is a sign bit.
    ignored_low_bits: storage bits below the fraction that the unit ignores (tf32: 13).
    ignored_high_bits: storage bits above the exponent that the unit ignores (ue4m3: 1).
    """

    exponent_bits: int
    fraction_bits: int
    bias: int
    specials: Specials = Specials.IEEE
    signed: bool = True
    ignored_low_bits: int = 0
    ignored_high_bits: int = 0

    @property
    def width(self) -> int:
        """Return how many bits a stored word has, the ignored ones included."""
        stored = self.signed + self.exponent_bits + self.fraction_bits
        return stored + self.ignored_low_bits + self.ignored_high_bits

    @property
    def ignored_bits(self) -> int:
        """Return the bits of a stored word that the unit ignores."""
        high = ((1 << self.ignored_high_bits) - 1) << (self.width - self.ignored_high_bits)
        return high | (1 << self.ignored_low_bits) - 1

    @property
    def precision(self) -> int:
        """Return how many bits a significand has, the implicit one included."""
        return self.fraction_bits + 1

    @property
    def e_min(self) -> int:
        """Return the exponent of the smallest normal number, and of every subnormal one."""
        return 1 - self.bias if self.has_subnormals else -self.bias

    @property
    def has_subnormals(self) -> bool:
        """Return whether the exponent field 0 holds zero and subnormal numbers (not so for e8m0)."""
        return self.fraction_bits > 0

    @property
    def e_max(self) -> int:
        """Return the exponent of the largest finite number."""
        return self.largest_finite_field - self.bias

    @property
    def largest_finite_field(self) -> int:
        """Return the largest exponent field that holds a finite number."""
        top = (1 << self.exponent_bits) - 1
        reserved = self.specials is Specials.IEEE or not self.has_subnormals
        return top - 1 if reserved and self.specials is not Specials.NONE else top

    @property
    def largest_finite_word(self) -> int:
        """Return the magnitude word (no sign, ignored bits 0) of the largest finite number."""
        word = self.largest_finite_field << self.fraction_bits | (1 << self.fraction_bits) - 1
        if self.specials is Specials.NAN_ONLY and self.has_subnormals:
            word -= 1
        return word << self.ignored_low_bits

    @property
    def has_infinity(self) -> bool:
        """Return whether the format has infinities."""
        return self.specials is Specials.IEEE

    @property
    def has_negative_zero(self) -> bool:
        """Return whether the format has a word for -0."""
        return self.signed and self.specials is not Specials.NEGATIVE_ZERO_NAN

    @property
    def infinity_word(self) -> int:
        """Return the magnitude word of infinity; the largest finite number's where there is none."""
        if not self.has_infinity:
            return self.largest_finite_word
        field = (1 << self.exponent_bits) - 1
        return field << (self.fraction_bits + self.ignored_low_bits)

    @property
    def nan_word(self) -> int | None:
        """Return the quiet NaN that IEEE 754 prefers, or the format's only NaN; None without NaNs."""
        if self.specials is Specials.NEGATIVE_ZERO_NAN:
            return 1 << (self.width - 1)
        if self.specials is Specials.NONE:
            return None
        quiet = 1 << (self.fraction_bits - 1) if self.has_infinity else (1 << self.fraction_bits) - 1
        field = (1 << self.exponent_bits) - 1
        return (field << self.fraction_bits | quiet) << self.ignored_low_bits

    def holds(self, other: AnyFormat) -> bool:
        """Return whether the other is a floating-point format, and this one has its finite numbers."""
        if not isinstance(other, Format):
            return False
        last = other.e_min - other.fraction_bits >= self.e_min - self.fraction_bits
        signs = self.signed or not other.signed
        return (
            last
            and signs
            and other.precision <= self.precision
            and other.e_max <= self.e_max
            and (other.largest_finite <= self.largest_finite)
        )

    def has_fields_of(self, other: AnyFormat) -> bool:
        """Return whether words of both have the same fields: what is finite in both then means the same."""
        return isinstance(other, Format) and replace(self, name="", specials=Specials.NONE) == replace(
            other, name="", specials=Specials.NONE
        )

    def fields(self, word: int) -> tuple[int, int, int]:
        """Return sign, exponent field and fraction of a word."""
        stored = word >> self.ignored_low_bits
        fraction = stored & ((1 << self.fraction_bits) - 1)
        field = (stored >> self.fraction_bits) & ((1 << self.exponent_bits) - 1)
        return (word >> self.sign_bit & 1 if self.signed else 0), field, fraction

    def is_nan(self, word: int) -> bool:
        """Return whether the word is a NaN."""
        _, field, fraction = self.fields(word)
        top = (1 << self.exponent_bits) - 1
        match self.specials:
            case Specials.IEEE:
                return field == top and fraction != 0
            case Specials.NAN_ONLY:
                return field == top and fraction == (1 << self.fraction_bits) - 1
            case Specials.NEGATIVE_ZERO_NAN:
                return word == self.nan_word
            case Specials.NONE:
                return False

    def is_infinite(self, word: int) -> bool:
        """Return whether the word is an infinity."""
        _, field, fraction = self.fields(word)
        return self.has_infinity and field == (1 << self.exponent_bits) - 1 and fraction == 0

    def value(self, word: int) -> Fraction:
        """Return the exact value of a finite word. Raises ValueError for NaNs and infinities."""
        if self.is_nan(word) or self.is_infinite(word):
            raise ValueError(f"{self.hex(word)} is not a finite {self.name} value")
        sign, field, fraction = self.fields(word)
        normal = field > 0 or not self.has_subnormals
        significand = fraction | normal << self.fraction_bits
        last = (field - self.bias if normal else self.e_min) - self.fraction_bits
        # from two integers: arithmetic on fractions is several times slower
        magnitude = Fraction(significand << last) if last >= 0 else Fraction(significand, 1 << -last)
        return -magnitude if sign else magnitude

    def word(self, value: Fraction) -> int:
        """Return the word of a value that the format holds exactly (+0 for zero).

        Raises ValueError where the value is not representable.
        """
        magnitude = abs(value)
        if magnitude == 0 and self.has_subnormals:
            return 0
        exponent = max(leading_exponent(magnitude), self.e_min) if magnitude else self.e_min
        last = exponent - self.fraction_bits
        over, under = magnitude.numerator << max(-last, 0), magnitude.denominator << max(last, 0)
        significand, rest = divmod(over, under)
        normal = significand >> self.fraction_bits
        field = exponent + self.bias if normal or not self.has_subnormals else 0
        stored = field << self.fraction_bits | significand & ((1 << self.fraction_bits) - 1)
        stored <<= self.ignored_low_bits
        fits = not rest and (self.has_subnormals or significand > 0)
        # words of larger numbers are larger
        if not fits or stored > self.largest_finite_word or (value < 0 and not self.signed):
            raise ValueError(f"{value} is not a valid {self.name} value")
        return stored | (1 << self.sign_bit if value < 0 else 0)

    def nearest_word(self, value: Fraction) -> int:
        """Return the word of the nearest value, the even one of two (a zero keeps the sign where it can).

        Raises ValueError where the format ends before the value: nothing becomes an infinity, and
        nothing a number of the other sign.
        """
        magnitude = abs(value)
        exponent = max(leading_exponent(magnitude), self.e_min) if magnitude else self.e_min
        last = Fraction(2) ** (exponent - self.fraction_bits)
        rounded = round(magnitude / last) * last
        if value < 0 and not rounded and self.has_negative_zero:
            return 1 << self.sign_bit
        return self.word(-rounded if value < 0 else rounded)

    def fields_text(self, word: int) -> str:
        """Return sign, exponent field and fraction, as people read them."""
        sign, field, fraction = self.fields(word)
        parts = [f"sign {sign}"] if self.signed else []
        parts += [f"exponent {field:0{self.exponent_bits}b}", f"fraction {fraction:0{self.fraction_bits}b}"]
        return " | ".join(parts)

    def describe(self, word: int) -> str:
        """Return the value as people write it: ``1.25·2^-3``, ``-0``, ``inf``, ``nan``."""
        if self.is_nan(word):
            return "nan"
        sign = "-" if self.fields(word)[0] else ""
        if self.is_infinite(word):
            return f"{sign}inf"
        return sign + power_text(abs(self.value(word)))


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


def _ieee(name: str, exponent_bits: int, fraction_bits: int, ignored_low_bits: int = 0) -> Format:
    bias = (1 << (exponent_bits - 1)) - 1
    return Format(
        name=name,
        exponent_bits=exponent_bits,
        fraction_bits=fraction_bits,
        bias=bias,
        ignored_low_bits=ignored_low_bits,
    )


def _finite(name: str, exponent_bits: int, fraction_bits: int) -> Format:
    """Return a format with IEEE's fields, and the largest exponent as ordinary as every other one."""
    return replace(_ieee(name, exponent_bits, fraction_bits), specials=Specials.NONE)


FORMATS: dict[str, Format] = {
    row.name: row
    for row in (
        _ieee("f16", 5, 10),
        _ieee("bf16", 8, 7),
        _ieee("tf32", 8, 10, ignored_low_bits=13),
        _ieee("f32", 8, 23),
        _ieee("f64", 11, 52),
        _ieee("e5m2", 5, 2),
        Format(name="e4m3", exponent_bits=4, fraction_bits=3, bias=7, specials=Specials.NAN_ONLY),
        Format(name="e3m2", exponent_bits=3, fraction_bits=2, bias=3, specials=Specials.NONE),
        Format(name="e2m3", exponent_bits=2, fraction_bits=3, bias=1, specials=Specials.NONE),
        Format(name="e2m1", exponent_bits=2, fraction_bits=1, bias=1, specials=Specials.NONE),
        _finite("e5m10fn", 5, 10),
        _finite("e8m7fn", 8, 7),
        _finite("e8m10fn", 8, 10),
        _finite("e8m23fn", 8, 23),
        Format(
            name="e4m3fnuz", exponent_bits=4, fraction_bits=3, bias=8,
            specials=Specials.NEGATIVE_ZERO_NAN,
        ),
        Format(
            name="e5m2fnuz", exponent_bits=5, fraction_bits=2, bias=16,
            specials=Specials.NEGATIVE_ZERO_NAN,
        ),
        Format(
            name="ue8m0", exponent_bits=8, fraction_bits=0, bias=127,
            specials=Specials.NAN_ONLY, signed=False,
        ),
        Format(
            name="ue4m3", exponent_bits=4, fraction_bits=3, bias=7,
            specials=Specials.NAN_ONLY, signed=False, ignored_high_bits=1,
        ),
    )
}  # fmt: skip

_ALIASES = {
    "binary16": "f16", "fp16": "f16", "half": "f16", "float16": "f16",
    "bfloat16": "bf16", "binary32": "f32", "fp32": "f32", "float32": "f32", "single": "f32",
    "binary64": "f64", "fp64": "f64", "float64": "f64", "double": "f64",
    "tf19": "tf32", "xf32": "tf32", "e8m0": "ue8m0",
    **{f"int{size}": f"s{size}" for size in (4, 8, 16, 32, 64)},
    **{f"uint{size}": f"u{size}" for size in (4, 8, 16, 32, 64)},
}  # fmt: skip
#: Names that different vendors and generations give to different formats.
_AMBIGUOUS = {
    "fp8": {"e4m3": "OCP, bias 7", "e4m3fnuz": "bias 8, no negative zero"},
    "bf8": {"e5m2": "OCP, bias 15", "e5m2fnuz": "bias 16, no negative zero, no infinities"},
}


def format_named(name: str, own: Mapping[str, AnyFormat] | None = None) -> AnyFormat:
    """Return the format of that name or alias, or one of ``own``.

    Raises :class:`.UnknownName`, also for a name of several formats.
    """
    if name in FORMATS:
        return FORMATS[name]
    if name.lower() in _AMBIGUOUS:
        raise AmbiguousName("format", name, _AMBIGUOUS[name.lower()])
    formats: dict[str, AnyFormat] = {**(own or {}), **FORMATS, **INTEGERS}
    return formats[choose("format", _ALIASES.get(name.lower(), name), formats)]


def float_format(fmt: AnyFormat) -> Format:
    """Return the format, where it is a floating-point one. Raises :class:`.TcsmtError` for any other."""
    if not isinstance(fmt, Format):
        raise TcsmtError(f"{fmt.name} is not a floating-point format")
    return fmt
