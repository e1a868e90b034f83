"""Formats held against ml_dtypes, NumPy and the oracle."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tcsmt.matrix_units.arithmetic.formats import (
    FORMATS,
    INTEGERS,
    AnyFormat,
    Format,
    IntegerFormat,
    decimal_text,
    float_format,
    format_named,
    integers_from,
    leading_exponent,
    power_text,
)
from tcsmt.support.errors import TcsmtError, UnknownName
from tcsmt.support.invariants import checked_cast
from tests.oracles import integers, rationals
from tests.support.format_words import DTYPES, ORACLE_NAME, SMALL, Array, boundaries, peer_values, sample


def text_value(text: str) -> Fraction:
    """The value of what ``Format.describe`` writes for a finite number."""
    significand, _, exponent = text.removeprefix("-").replace("2^", "·").partition("·")
    sign = -1 if text.startswith("-") else 1
    if not significand:  # 2^-3
        significand, exponent = "1", exponent.removeprefix("·")
    return sign * Fraction(significand) * Fraction(2) ** int(exponent.removeprefix("·") or 0)


def mostly_some(names: Iterable[str]) -> list[Any]:
    """Each format, and whether every word of one of 16 bits is tried: those are long."""
    whole = [pytest.param(name, True, marks=pytest.mark.long) for name in names if FORMATS[name].width == 16]
    return [*((name, False) for name in names), *whole]


def some(fmt: Format, *, every: bool) -> Array:
    """Of a format of 16 bits every 13th word and the boundaries, unless all are asked for; else a sample."""
    words = sample(fmt)
    if every or fmt.width != 16:
        return words
    return np.union1d(words[::13], np.array(boundaries(fmt), dtype=words.dtype))


@pytest.mark.parametrize(("name", "every"), mostly_some(DTYPES))
def test_values_are_those_of_the_peer(name: str, every: bool) -> None:
    """value, is_nan, is_infinite: every word of the narrow formats."""
    fmt = FORMATS[name]
    words = some(fmt, every=every)
    for word, value in zip(words.tolist(), peer_values(fmt, words).tolist(), strict=True):
        assert fmt.is_nan(word) == math.isnan(value), fmt.hex(word)
        assert fmt.is_infinite(word) == math.isinf(value), fmt.hex(word)
        if math.isfinite(value):
            assert fmt.value(word) == Fraction(value), fmt.hex(word)
        else:
            with pytest.raises(ValueError, match="not a finite"):
                fmt.value(word)


@pytest.mark.parametrize("name", FORMATS)
def test_values_are_those_of_the_oracle(name: str) -> None:
    """The two formats without a peer (tf32, ue4m3) too; wide formats by sample."""
    fmt = FORMATS[name]
    words = sample(fmt).tolist()
    for word in words if len(words) < 1000 else random.Random(0).sample(words, 1000):
        number = rationals.decode(ORACLE_NAME.get(name, name), word)
        assert fmt.is_nan(word) == (number.kind == "nan")
        assert fmt.is_infinite(word) == (number.kind == "inf")
        if number.kind == "finite":
            assert fmt.value(word) == number.value
            assert fmt.fields(word)[0] == number.sign


@pytest.mark.parametrize(("name", "every"), mostly_some(FORMATS))
def test_word_undoes_value(name: str, every: bool) -> None:
    """word(value(w)) is w, but for -0 and the bits that the format ignores."""
    fmt = FORMATS[name]
    ignored = (1 << fmt.ignored_low_bits) - 1
    if fmt.ignored_high_bits:
        ignored |= 1 << (fmt.width - 1)
    for word in some(fmt, every=every).tolist():
        if fmt.is_nan(word) or fmt.is_infinite(word):
            continue
        value = fmt.value(word)
        assert fmt.word(value) == (word & ~ignored if value or not fmt.has_subnormals else 0)


@pytest.mark.parametrize("name", FORMATS)
def test_word_refuses_what_is_not_representable(name: str) -> None:
    """Between two neighbours, beyond the ends, and the wrong sign."""
    fmt = FORMATS[name]
    step = fmt.value(2 << fmt.ignored_low_bits) - fmt.value(1 << fmt.ignored_low_bits)
    wrong = [fmt.largest_finite * 2, fmt.value(1 << fmt.ignored_low_bits) + step / 2, step / 2]
    if name == "ue8m0":
        wrong.append(Fraction(0))
        wrong.remove(step / 2)
    if not fmt.signed:
        wrong.append(Fraction(-1))
    for value in wrong:
        with pytest.raises(ValueError, match=f"not a valid {name} value"):
            fmt.word(value)


@pytest.mark.parametrize("name", FORMATS)
def test_describe_is_exact(name: str) -> None:
    """The text is the value, to the last bit; specials have their names."""
    fmt = FORMATS[name]
    words = sample(fmt).tolist()
    for word in words if len(words) < 1000 else random.Random(1).sample(words, 1000):
        text = fmt.describe(word)
        negative = bool(fmt.fields(word)[0])
        if fmt.is_nan(word):
            assert text == "nan"
        elif fmt.is_infinite(word):
            assert text == ("-inf" if negative else "inf")
        else:
            assert text_value(text) == fmt.value(word)
            assert text.startswith("-") == negative


def test_describe_as_people_write_it() -> None:
    """The examples of the documentation."""
    f16 = FORMATS["f16"]
    texts = {0x3C00: "1", 0x8000: "-0", 0x3100: "1.25·2^-3", 0xC000: "-2^1", 0x7C00: "inf"}
    assert {word: f16.describe(word) for word in texts} == texts
    assert f16.describe(0x7E00) == "nan"


def test_derived_quantities() -> None:
    """Against the tables of the OCP specifications and IEEE 754."""
    largest = {"e4m3": 448, "e5m2": 57344, "e3m2": 28, "e2m3": Fraction(15, 2), "e2m1": 6}
    largest |= {"f16": 65504, "e4m3fnuz": 240, "e5m2fnuz": 57344, "ue8m0": 2**127}
    for name, value in largest.items():
        assert FORMATS[name].largest_finite == value
    smallest_normal = {"f16": -14, "bf16": -126, "e4m3": -6, "e5m2": -14, "e2m1": 0, "f64": -1022}
    for name, exponent in smallest_normal.items():
        assert FORMATS[name].e_min == exponent
    for name, dtype in DTYPES.items():
        if name != "ue8m0":
            assert float(FORMATS[name].largest_finite) == float(ml_dtypes.finfo(dtype).max)
    for fmt in FORMATS.values():
        if fmt.nan_word is not None:
            assert fmt.is_nan(fmt.nan_word)
        if fmt.has_infinity:
            assert fmt.is_infinite(fmt.infinity_word)


def test_names_and_aliases() -> None:
    """Case does not matter; an unknown name is answered with the nearest."""
    assert format_named("FP16") is FORMATS["f16"]
    assert format_named("bfloat16") is FORMATS["bf16"]
    assert format_named("E4M3") is FORMATS["e4m3"]
    with pytest.raises(UnknownName, match=r"e4m4.*did you mean .*e4m3"):
        format_named("e4m4")
    for name, meanings in (("fp8", ("e4m3", "e4m3fnuz")), ("BF8", ("e5m2", "e5m2fnuz"))):
        with pytest.raises(UnknownName, match=f"ambiguous format '{name}': it could mean ") as error:
            format_named(name)
        assert all(f"{meaning} (" in str(error.value) for meaning in meanings)


@pytest.mark.parametrize("name", [name for name in SMALL if FORMATS[name].width <= 8])
def test_the_nearest_word_is_the_nearest(name: str) -> None:
    """Between any two neighbours: a quarter, a half (the even word), three quarters; and beyond the ends."""
    fmt = FORMATS[name]
    words = range(1 << (fmt.sign_bit if fmt.signed else fmt.exponent_bits + fmt.fraction_bits))
    values = {fmt.value(w): w for w in words if not (fmt.is_nan(w) or fmt.is_infinite(w))}
    ordered = sorted(values)
    for low, high in pairwise(ordered):
        step = high - low
        low_word, high_word = values[low], values[high]
        half = low_word if fmt.fields(low_word)[2] % 2 == 0 else high_word
        if fmt.fraction_bits == 0:
            half = high_word  # 1.5 lies between 1 and 2, of which 2 is even
        for share, expected in ((0, low_word), (1, low_word), (2, half), (3, high_word), (4, high_word)):
            value = low + step * share / 4
            assert fmt.nearest_word(value) == expected, (low, high, share)
            if fmt.signed and value and fmt.value(expected):
                assert fmt.nearest_word(-value) == expected | 1 << fmt.sign_bit
    for beyond in (
        2 * ordered[-1],
        *([] if fmt.signed else [-ordered[-1]]),
        *([Fraction(0)] if ordered[0] else []),
    ):
        with pytest.raises(ValueError, match=f"is not a valid {name} value"):
            fmt.nearest_word(beyond)


EVERY: list[AnyFormat] = [
    *FORMATS.values(),
    *INTEGERS.values(),
    IntegerFormat(name="q3", bits=6, fraction_bits=3),
]


@pytest.mark.parametrize("fmt", EVERY, ids=lambda fmt: fmt.name)
def test_every_format_has_a_largest_word_and_reads_back(fmt: AnyFormat) -> None:
    """The largest word is the largest number's, the words around it are not larger, and texts read back."""
    assert fmt.sign_bit == fmt.width - 1
    assert len(fmt.hex(0)) == 2 + fmt.hex_digits == 2 + (fmt.width + 3) // 4
    word = fmt.largest_finite_word
    assert int(fmt.hex(word), 16) == word < 1 << fmt.width
    near = [one for one in range(word - 3, word + 4) if not (one >> fmt.width or fmt.is_special(one))]
    assert fmt.value(word) == fmt.largest_finite == max(map(fmt.value, near))
    assert fmt.word(fmt.largest_finite) == fmt.nearest_word(fmt.largest_finite) == word
    assert fmt.holds(fmt)
    assert not fmt.is_special(word)
    assert fmt.is_special(fmt.infinity_word) == fmt.has_infinity
    if fmt.nan_word is not None:
        assert fmt.is_nan(fmt.nan_word) and fmt.is_special(fmt.nan_word)
        with pytest.raises(ValueError, match=r".+"):
            fmt.value(fmt.nan_word)
    if fmt.has_infinity:
        assert fmt.infinity_word == fmt.word(fmt.largest_finite) + (1 << getattr(fmt, "ignored_low_bits", 0))


def test_formats_of_another_kind_are_not_held() -> None:
    assert not FORMATS["f64"].holds(INTEGERS["s8"]) and not INTEGERS["s32"].holds(FORMATS["e2m1"])
    assert FORMATS["f32"].holds(FORMATS["f16"]) and not FORMATS["f16"].holds(FORMATS["bf16"])


@given(st.integers(-(2**70), 2**70), st.integers(1, 2**70))
def test_leading_exponents(over: int, under: int) -> None:
    assume(over)
    value = abs(Fraction(over, under))
    exponent = leading_exponent(Fraction(over, under))
    assert Fraction(2) ** exponent <= value < Fraction(2) ** (exponent + 1)


@given(st.integers(0, 2**60), st.integers(-90, 90))
def test_powers_in_text_read_back(number: int, power: int) -> None:
    """A significand in [1, 2), written out exactly; a power alone where it is 1."""
    value = number * Fraction(2) ** power
    significand, _, exponent = power_text(value).replace("2^", "·").rpartition("·")
    if "2^" not in power_text(value):
        assert Fraction(power_text(value)) == value and (value == 0 or 1 <= value < 2)
        return
    given_significand = Fraction(significand.rstrip("·") or 1)
    assert given_significand * Fraction(2) ** int(exponent) == value and 1 <= given_significand < 2


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(0), "0"),
        (Fraction(1), "1"),
        (Fraction(8), "2^3"),
        (Fraction(3, 16), "1.5·2^-3"),
        (Fraction(7, 4), "1.75"),
    ],
)
def test_powers_as_people_write_them(value: Fraction, text: str) -> None:
    assert power_text(value) == text


NARROW = [
    IntegerFormat(name="some", bits=bits, signed=signed, fraction_bits=fraction)
    for bits in (1, 2, 3, 5) for signed in (True, False) for fraction in (0, 1, 3)
    if bits > signed
]  # fmt: skip


@pytest.mark.parametrize("fmt", NARROW, ids=lambda f: f"{'su'[not f.signed]}{f.bits}f{f.fraction_bits}")
def test_every_word(fmt: IntegerFormat) -> None:
    values = [Fraction(integers.count(fmt, word), 2**fmt.fraction_bits) for word in integers.words(fmt)]
    assert len(set(values)) == 2**fmt.width
    for word, value in enumerate(values):
        assert fmt.value(word) == value
        assert fmt.word(value) == word
        assert Fraction(fmt.describe(word)) == value
        assert not fmt.is_special(word)
    assert fmt.largest_finite == max(values)
    assert (fmt.low, fmt.high) == tuple(int(end * 2**fmt.fraction_bits) for end in (min(values), max(values)))
    step = Fraction(1, 2**fmt.fraction_bits)
    for number in range(-4 * 2**fmt.bits, 4 * 2**fmt.bits):
        value = number * step / 4
        if value not in values:
            with pytest.raises(ValueError, match="is not a valid some value"):
                fmt.word(value)
        nearest = min(values, key=lambda other: (abs(other - value), (other / step) % 2))
        if abs(nearest - value) <= step / 2 and min(values) <= value <= max(values):
            assert fmt.value(fmt.nearest_word(value)) == nearest


def test_one_format_holds_another() -> None:
    for one in NARROW:
        for other in NARROW:
            ours, theirs = ({fmt.value(word) for word in integers.words(fmt)} for fmt in (one, other))
            assert one.holds(other) == (theirs <= ours), (one, other)
    for fmt in (FORMATS["f64"], INTEGERS["s64"]):
        assert not any(
            fmt.holds(other) for other in (FORMATS["e2m1"], INTEGERS["s4"]) if type(other) is not type(fmt)
        )


def test_names() -> None:
    assert format_named("int8") is INTEGERS["s8"]
    assert format_named("uint32") is format_named("u32") is INTEGERS["u32"]
    named = [checked_cast(format_named(name), IntegerFormat) for name in ("s4", "u64")]
    assert [(fmt.bits, fmt.signed) for fmt in named] == [(4, True), (64, False)]
    with pytest.raises(UnknownName):
        format_named("s7")
    with pytest.raises(TcsmtError, match="s8 is not a floating-point format"):
        float_format(INTEGERS["s8"])
    assert isinstance(float_format(FORMATS["f16"]), Format)


@pytest.mark.parametrize("low", [-9, -8, -1, 0])
@pytest.mark.parametrize("high", [0, 1, 7, 8])
def test_the_narrowest_format_holds_both_ends_and_no_more(low: int, high: int) -> None:
    fmt = integers_from(low, high)
    assert fmt.signed
    assert fmt.low <= low <= high <= fmt.high
    assert fmt.bits == 2 or not -(2 ** (fmt.bits - 2)) <= low <= high < 2 ** (fmt.bits - 2)


def test_texts() -> None:
    assert decimal_text(Fraction(-27, 8)) == "-3.375"
    assert decimal_text(Fraction(1, 256)) == "0.00390625"
    assert decimal_text(Fraction(10)) == "10"
    assert INTEGERS["s8"].fields_text(0x80) == "two's complement 10000000"
    assert IntegerFormat(name="q", bits=4, signed=False, fraction_bits=2).fields_text(5) == (
        "unsigned 0101, 2 below the binary point"
    )


def test_too_few_bits() -> None:
    with pytest.raises(TcsmtError, match="bits = 1: must be 2 or more"):
        IntegerFormat(name="s1", bits=1)
    with pytest.raises(TcsmtError, match="fraction_bits = -1: must be 0 or more"):
        IntegerFormat(name="s8", bits=8, fraction_bits=-1)
