"""Between what users hold (arrays, text, numbers) and the raw words that units take."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.conversion import (
    OPERAND_RULES,
    converted,
    first_element,
    integer_dtype,
    integer_words,
    integers_of_words,
    operand_rule,
    rounded_word,
)
from tcsmt.matrix_units.arithmetic.formats import FORMATS, INTEGERS, AnyFormat, Format, IntegerFormat
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.support.errors import TcsmtError
from tcsmt.support.text import counted

Array = np.ndarray[Any, np.dtype[Any]]

_NUMPY = {"f16": "float16", "f32": "float32", "f64": "float64"}
_ML_DTYPES = {
    "bf16": "bfloat16",
    "e5m2": "float8_e5m2",
    "e4m3": "float8_e4m3fn",
    "e4m3fnuz": "float8_e4m3fnuz",
    "e5m2fnuz": "float8_e5m2fnuz",
    "e3m2": "float6_e3m2fn",
    "e2m3": "float6_e2m3fn",
    "e2m1": "float4_e2m1fn",
    "ue8m0": "float8_e8m0fnu",
    "ue4m3": "float8_e4m3fn",  # whose sign bit the unit ignores; a format of values is e4m3 first
}
#: What errors say to do with an operand that a format does not hold.
_NAME_A_RULE = "name how operands are rounded, operands={}, {} or {} (--operands)".format(
    *(f'"{rule}"' for rule in OPERAND_RULES)
)
#: A larger exponent of ten or two in a text is refused before it becomes an integer of that size.
_LARGEST_EXPONENT = 5000
#: What is a number, too, where it may be a word: 1000, 1e20.
_DECIMAL = re.compile(r"[0-9]+(?:e[0-9]+)?")
#: Numbers as the page ``docs/reference/formats.md`` has them; ``numbers.js`` reads the same.
_DECIMAL_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e([+-]?[0-9]+))?")
_RATIO = re.compile(r"[+-]?[0-9]+/[0-9]+")
_POWER_OF_TWO = re.compile(r"([+-]?)(?:([0-9]+\.?[0-9]*)[·*])?2\^([+-]?[0-9]+)")
_HEX_FLOAT = re.compile(r"([+-]?)0x(?=\.?[0-9a-f])([0-9a-f]*)(?:\.([0-9a-f]*))?(?:p([+-]?[0-9]+))?")
#: A minus sign as texts are set with it.
_MINUS_SIGN = "\u2212"
#: Bytes of an integer that holds a word of any format.
_ANY_WORD = 8
#: A longer text is no number: Python, and a page, would take seconds for it.
_LONGEST = 4000


def dtype_of(fmt: AnyFormat) -> np.dtype[Any]:
    """Return the dtype whose elements are stored as the format's words (tf32: float32); unsigned where none
    is.

    Of integers: the smallest one that holds them.
    """
    if isinstance(fmt, IntegerFormat):
        return integer_dtype(fmt)
    if fmt.name in _NUMPY:
        return np.dtype(_NUMPY[fmt.name])
    if fmt.name in _ML_DTYPES:
        import ml_dtypes

        dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes, _ML_DTYPES[fmt.name]))
        return dtype
    return np.dtype(np.float32) if fmt.name == "tf32" else unsigned(fmt)


def format_of(dtype: np.dtype[Any]) -> AnyFormat | None:
    """Return the format of a dtype's values; None for words and where there is none (tf32 has none of its
    own).
    """
    if dtype.kind == "i":
        return INTEGERS[f"s{dtype.itemsize * 8}"]
    return next((FORMATS[name] for name in (*_NUMPY, *_ML_DTYPES) if dtype_of(FORMATS[name]) == dtype), None)


def unsigned(fmt: AnyFormat) -> np.dtype[Any]:
    """Return the smallest unsigned integer dtype that holds the format's words."""
    for size in (8, 16, 32):
        if fmt.width <= size:
            return np.dtype(f"uint{size}")
    return np.dtype(np.uint64)


def to_words(
    fmt: AnyFormat,
    values: Any,
    name: str,
    rounding: Rounding | None = None,
    *,
    advice: str = "round it first",
) -> Array:
    """Return an array's raw words: the format's own dtype, words, or values of another floating dtype.

    Words are unsigned integers of the smallest size that holds the format's, or signed ones of that size,
    which are read as their bits; for integer formats signed integers are numbers. Words of another size are
    those of another format, and refused; uint64 holds words of any format, and
    wider dtypes those of a format of one's own.
    Values of another floating-point dtype, and Python numbers,
    must be exact in the format, or are rounded; without a rounding the dtype must be one of NumPy's, or that
    of a format whose values this one has. ``name`` is what errors call the array, ``advice`` what they
    say to do with a value that is not exact.
    Raises :class:`.TcsmtError`.
    """
    try:
        array = np.asarray(values)
    except (RuntimeError, TypeError, ValueError) as error:
        raise TcsmtError(f"{name} cannot be read as an array: {error}") from None
    if isinstance(fmt, IntegerFormat) and array.dtype.kind in "if":
        return integer_words(fmt, array, name).astype(unsigned(fmt))
    if array.dtype.kind == "i" and isinstance(values, (bool, int, list, tuple)):
        array = _numbers(array, name)
    elif array.dtype.kind == "i" and array.dtype.itemsize == unsigned(fmt).itemsize:
        array = array.view(unsigned(fmt))
    if array.dtype.kind == "u":
        if array.size and not _may_hold_words(fmt, array.dtype):
            raise TcsmtError(f"{name} has dtype {array.dtype}: {_of_another_width(fmt, array.dtype)}")
        if array.size and int(array.max()) >> fmt.width:
            element, word = first_element(name, array, array >> np.uint64(fmt.width) != 0)
            packed = (
                ""
                if fmt.width not in (4, 6)
                else "; tcsmt.matrix_units.arithmetic.packing unpacks bytes that words share"
            )
            raise TcsmtError(f"{element} = {word:#x}: a word of {fmt.name} has {fmt.width} bits{packed}")
        return array.astype(unsigned(fmt))
    source = format_of(array.dtype)
    if (
        isinstance(source, Format)
        and isinstance(fmt, Format)
        and (rounding or fmt.holds(source) or source.name in _NUMPY or array.dtype == dtype_of(fmt))
    ):
        return _rounded(fmt, array, source, name, rounding, advice)
    allowed = f"{dtype_of(fmt).name}, words of {fmt.width} bits ({unsigned(fmt).name}), float32 or float64"
    raise TcsmtError(f"{name} has dtype {array.dtype}: for {fmt.name} it must be {allowed}")


def _may_hold_words(fmt: AnyFormat, dtype: np.dtype[Any]) -> bool:
    """Return whether unsigned integers of a dtype may be words of a format.

    Those of its size are, and uint64. Words of a format of one's own come in any dtype that has room: no
    other library has arrays of it, which could be meant.
    """
    size = unsigned(fmt).itemsize
    is_custom = fmt.name not in FORMATS and fmt.name not in INTEGERS and dtype.itemsize >= size
    return is_custom or dtype.itemsize in (size, _ANY_WORD)


def _of_another_width(fmt: AnyFormat, dtype: np.dtype[Any]) -> str:
    """Return what words of a format have, and which formats have words of a dtype's size."""
    formats = {**FORMATS, **INTEGERS}
    others = [name for name, other in formats.items() if unsigned(other).itemsize == dtype.itemsize]
    expected = f"words of {fmt.name} have {fmt.width} bits ({unsigned(fmt).name})"
    return f"{expected}; those of {8 * dtype.itemsize} bits are of {', '.join(others)}"


def _numbers(array: Array, name: str) -> Array:
    """Return integers as Python has them: numbers, not words."""
    numbers = array.astype(np.float64)
    rounded = np.array([int(number) != exact for number, exact in zip(numbers.flat, array.flat, strict=True)])
    if rounded.any():
        element, value = first_element(name, array, rounded.reshape(array.shape))
        raise TcsmtError(
            f"{element} = {value}: a Python integer here must be exact in float64; or give words"
        )
    return numbers


def _rounded(
    fmt: Format, array: Array, source: Format, name: str, rounding: Rounding | None, advice: str
) -> Array:
    """Return the words of an array of floating-point numbers. rounding: None where each must be exact in the
    format.

    What has the format's own dtype, and no bit that the unit ignores, is the word itself, NaNs included.
    """
    words = array.view(unsigned(source))
    is_native = array.dtype == dtype_of(fmt)
    if is_native and not fmt.ignored_bits:
        return words
    as_is = (words & words.dtype.type(fmt.ignored_bits)) == 0 if is_native else np.zeros(words.shape, bool)
    if as_is.all():
        return words
    result = converted(words, source, fmt, rounding or ROUNDINGS["RNE"])
    wrong = (result.inexact if rounding is None else result.absent) & ~as_is
    if wrong.any():
        element, value = first_element(name, array, wrong)
        absent = result.absent[wrong].reshape(-1)[0]
        do = "the format has no such value" if absent else f"{advice}, or give {fmt.name} words"
        raise TcsmtError(f"{element} = {float(value)!r} is not a valid {fmt.name} value; {do}")
    return np.where(as_is, words, result.words).astype(unsigned(fmt))


def from_words(fmt: AnyFormat, words: Array) -> Array:
    """Return words (unsigned integers) as an array of the same shape and of the format's dtype.

    Bits above the word's, which no unit reads, are cleared.
    """
    if isinstance(fmt, IntegerFormat):
        return integers_of_words(fmt, words)
    stored = words.astype(unsigned(fmt))
    if isinstance(fmt, Format) and fmt.ignored_high_bits:
        stored &= stored.dtype.type((1 << (fmt.width - fmt.ignored_high_bits)) - 1)
    return stored.view(dtype_of(fmt))


def operand_words(fmt: AnyFormat, values: Any, name: str, operands: str | None) -> Array:
    """Return an operand's raw words, as :func:`to_words` does; inexact values are rounded by a named rule.

    values: of any shape, which is that of the words, unsigned integers.
    operands: a name of :data:`.OPERAND_RULES`; None: a value that the format does not have is refused.
    Raises :class:`.TcsmtError`.
    """
    return to_words(fmt, values, name, operand_rule(operands), advice=_NAME_A_RULE)


def to_word(
    fmt: AnyFormat,
    text: str,
    rounded: Callable[[str], None] | None = None,
    rounding: Rounding = ROUNDINGS["RNE"],
    *,
    all_digits: bool = True,
) -> int:
    """Return the word that a text stands for.

    ``0x3c00``, with all hexadecimal digits of the format, or, of a floating-point format with two or more,
    these digits alone: the word itself. A decimal number, a ratio (``1/3``), a C99 hexadecimal number
    (``0x1.8p-3``), or ``1.5·2^-3``: that value, which the format must hold exactly. ``inf``, ``nan``. What is
    a number as well as digits of another word is refused (``1e20``, ``1000``). The whole grammar is in
    ``docs/reference/formats.md``.
    rounded: takes decimal numbers that the format does not hold as its nearest value, or as another
    ``rounding`` has it, and is told so.
    all_digits: whether a word must have all its digits, as people write it; programs leave out leading zeros.
    Raises :class:`.TcsmtError`.
    """
    content = text.strip()
    lower = content.replace(_MINUS_SIGN, "-").lower()
    word = _word_in_digits(fmt, content, all_digits)
    if word is not None:
        return word
    negative = lower.startswith("-")
    magnitude = lower[1:] if lower[:1] in ("+", "-") else lower
    if magnitude in ("inf", "infinity") and fmt.has_infinity:
        return fmt.infinity_word | negative << fmt.sign_bit
    if magnitude == "nan" and fmt.nan_word is not None:
        return fmt.nan_word
    try:
        value = _number(lower)
    except (ValueError, ZeroDivisionError):
        digits = f"{'' if isinstance(fmt, Format) else '0x and '}{fmt.hex_digits} digits"
        raise TcsmtError(
            f"{content!r} is neither a {fmt.name} word in hexadecimal ({digits}) nor a "
            "decimal or C99 hexadecimal number"
        ) from None
    if value == 0 and negative:  # of a format without it, no other word is meant
        if fmt.has_negative_zero:
            return 1 << fmt.sign_bit
    else:
        with suppress(ValueError):
            return fmt.word(value)
    return _rounded_word(fmt, content, value, rounded, rounding)


def _word_in_digits(fmt: AnyFormat, content: str, all_digits: bool) -> int | None:
    """Return the word whose hexadecimal digits a text is, if it is one. Raises :class:`.TcsmtError`."""
    lower = content.lower()
    # digits alone are a number where integers are written
    digits = len(lower) == fmt.hex_digits and all(ch in "0123456789abcdef" for ch in lower)
    bare = isinstance(fmt, Format) and digits
    prefixed = lower.startswith("0x") and "p" not in lower and "." not in lower
    if not prefixed and not (bare and len(lower) > 1):
        return None
    given = lower.removeprefix("0x")
    if not given or any(ch not in "0123456789abcdef" for ch in given):
        raise TcsmtError(f"{content!r} is not a hexadecimal word")
    if all_digits and len(given) != fmt.hex_digits:
        raise TcsmtError(f"{content!r} has {counted(len(given), 'hexadecimal digit')}: {_digits_of(fmt)}")
    word = int(given, 16)
    if word >> fmt.width:
        raise TcsmtError(f"{content!r}: a word of {fmt.name} has {fmt.width} bits")
    if bare and _DECIMAL.fullmatch(lower) and not _is_number(fmt, word, lower):
        raise TcsmtError(
            f"{content!r} may be the number or a word of {fmt.name}: write +{content} for the number, "
            f"0x{content} for the word ({fmt.describe(word)})"
        )
    return word


def _digits_of(fmt: AnyFormat) -> str:
    return f"a word of {fmt.name} has {fmt.hex_digits} ({fmt.width} bits)"


def _rounded_word(
    fmt: AnyFormat, content: str, value: Fraction, rounded: Callable[[str], None] | None, rounding: Rounding
) -> int:
    """Return the word near a decimal number that the format does not hold; ``rounded`` is told, or it is
    refused.
    """
    wrong = f"{content!r} is not representable in {fmt.name}"
    try:
        word = rounded_word(fmt, value, rounding) if isinstance(fmt, Format) else fmt.nearest_word(value)
    except ValueError:
        raise TcsmtError(wrong + _beyond(fmt, value)) from None
    became = f"{fmt.hex(word)} ({fmt.describe(word)})"
    if rounded is None or "x" in content.lower() or value == 0:
        raise TcsmtError(f"{wrong}; the nearest value is {became}")
    which = "the nearest is" if rounding.ties_to_even else f"rounded {rounding.title}, it is"
    rounded(f"{content.removeprefix('+')} is not an exact {fmt.name} value: {which} {became}")
    return word


def _is_number(fmt: AnyFormat, word: int, text: str) -> bool:
    """Return whether a word is that of a number in decimal."""
    try:
        return fmt.word(_number(text)) == word
    except ValueError:
        return False


def _beyond(fmt: AnyFormat, value: Fraction) -> str:
    """Return which end of a format a value lies beyond."""
    if isinstance(fmt, IntegerFormat):
        return f", whose values are {fmt.limits}"
    if value < 0 and not fmt.signed:
        return ", which has no negative values"
    if abs(value) > fmt.largest_finite:
        return f", whose largest value is {fmt.describe(fmt.largest_finite_word)}"
    return f", whose smallest value is {fmt.describe(0)}"


def _number(text: str) -> Fraction:
    """Return the value of a number in lower case. Raises ValueError or ZeroDivisionError where it is none."""
    if len(text) > _LONGEST:
        raise ValueError("the text is too long")
    if decimal := _DECIMAL_NUMBER.fullmatch(text):
        _check_exponent(decimal[1])
        return Fraction(text)
    if _RATIO.fullmatch(text):
        return Fraction(text)
    if product := _POWER_OF_TWO.fullmatch(text):
        sign, factor, exponent = product.groups()
        value = Fraction(factor or "1")
    elif hexadecimal := _HEX_FLOAT.fullmatch(text):
        sign, integer, fraction, exponent = hexadecimal.groups()
        if fraction is None and exponent is None:
            raise ValueError("a word has no sign")
        value = Fraction(int(integer + (fraction or ""), 16), 16 ** len(fraction or ""))
    else:
        raise ValueError("not a number")
    _check_exponent(exponent)
    return (-value if sign == "-" else value) * Fraction(2) ** int(exponent or "0")


def _check_exponent(exponent: str | None) -> None:
    """Raises ValueError for an exponent that would make an integer of a million digits."""
    if abs(int(exponent or "0")) > _LARGEST_EXPONENT:
        raise ValueError("the exponent is beyond every format")
