"""Texts and arrays as words: what stands for which word, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.words import dtype_of, from_words, to_word, to_words
from tcsmt.support.errors import TcsmtError
from tests.support.format_words import (
    DTYPES,
    boundaries,
    peer_values,
    sample,
    stored,
)


@pytest.mark.parametrize(
    ("name", "text", "word"),
    [
        ("f16", "0x3c00", 0x3C00),
        ("f16", "3C00", 0x3C00),
        ("f16", " 0x0001 ", 0x0001),
        ("f16", "1.5·2^-3", 0x3200),
        ("f16", "-2^-24", 0x8001),
        ("f16", "\u22121.5", 0xBE00),
        ("f16", "1/4", 0x3400),
        ("f16", "0x1.8", 0x3E00),
        ("f16", "1", 0x3C00),
        ("f16", "-1.5", 0xBE00),
        ("f16", "+0.25", 0x3400),
        ("f16", "-0", 0x8000),
        ("f16", "6.103515625e-05", 0x0400),
        ("f16", "0x1.8p-3", 0x3200),
        ("f16", "-0x1p-24", 0x8001),
        ("f16", "0x.8p1", 0x3C00),
        ("f16", "inf", 0x7C00),
        ("f16", "-Infinity", 0xFC00),
        ("f16", "nan", 0x7E00),
        ("f32", "0x1.fffffep127", 0x7F7FFFFF),
        ("f32", "1e0", 0x3F800000),
        ("f64", "0.1e1", 0x3FF0000000000000),
        ("e4m3", "448", 0x7E),
        ("e4m3", "nan", 0x7F),
        ("e4m3fnuz", "nan", 0x80),
        ("e4m3fnuz", "0.0", 0x00),
        ("e2m1", "-6", 0xF),
        ("ue8m0", "0x1p-127", 0x00),
        ("ue8m0", "nan", 0xFF),
        ("tf32", "0x1.004p0", 0x3F802000),
    ],
)
def test_to_word(name: str, text: str, word: int) -> None:
    """Hexadecimal words, decimal numbers, C99 hexadecimal floats, specials."""
    assert to_word(FORMATS[name], text) == word


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("f16", "0.1", "not representable in f16"),
        ("f16", "65536", "not representable in f16"),
        ("f16", "0x1p-25", "not representable in f16"),
        ("f16", "0x10000", "has 5 hexadecimal digits: a word of f16 has 4 (16 bits)"),
        ("f16", "0x3e0", "has 3 hexadecimal digits: a word of f16 has 4 (16 bits)"),
        ("f16", "0x", "not a hexadecimal word"),
        ("f32", "0x3c00", "has 4 hexadecimal digits: a word of f32 has 8 (32 bits)"),
        ("e2m1", "0x10", "has 2 hexadecimal digits: a word of e2m1 has 1 (4 bits)"),
        ("e3m2", "0x40", "6 bits"),
        ("f16", "1_0", "neither"),
        ("f16", "0x3e_00", "hexadecimal"),
        ("f16", "\u0661", "neither"),
        ("f16", "-0x3c00", "neither"),
        ("f16", "1" * 5000, "neither"),
        ("f16", "0xzz", "hexadecimal"),
        ("f16", "one", "neither"),
        ("f16", "--1", "neither"),
        ("f16", "", "neither"),
        ("f16", "0x1.8p", "neither"),
        ("f16", "1/0", "neither"),
        ("e4m3", "inf", "e4m3"),
        ("e2m1", "nan", "e2m1"),
        ("e4m3fnuz", "-0", "not representable in e4m3fnuz"),
        ("ue8m0", "-1", "not representable in ue8m0"),
        ("ue4m3", "-1", "not representable in ue4m3"),
        ("ue8m0", "0", "not representable in ue8m0"),
        ("tf32", "0x1.001p0", "not representable in tf32"),
    ],
)
def test_to_word_refuses(name: str, text: str, why: str) -> None:
    """The error repeats what was given and says why."""
    with pytest.raises(TcsmtError) as caught:
        to_word(FORMATS[name], text)
    assert repr(text) in str(caught.value)
    assert why in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text", "word", "said"),
    [
        ("f16", "0.1", 0x2E66, "0.1 is not an exact f16 value: the nearest is 0x2e66 (1.599609375·2^-4)"),
        ("f16", "-1e-9", 0x8000, "-1e-9 is not an exact f16 value: the nearest is 0x8000 (-0)"),
        (
            "f16",
            "65519",
            0x7BFF,
            "65519 is not an exact f16 value: the nearest is 0x7bff (1.9990234375·2^15)",
        ),
        ("e4m3", "1/3", 0x2B, "1/3 is not an exact e4m3 value: the nearest is 0x2b (1.375·2^-2)"),
        ("f16", "1.5", 0x3E00, None),
        ("f16", "0x3e01", 0x3E01, None),
    ],
)
def test_decimals_may_be_rounded(name: str, text: str, word: int, said: str | None) -> None:
    told: list[str] = []
    assert to_word(FORMATS[name], text, told.append) == word
    assert told == ([said] if said else [])
    if said:
        with pytest.raises(
            TcsmtError, match=f"{text}' is not representable in {name}; the nearest value is 0x"
        ):
            to_word(FORMATS[name], text)


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("f16", "65520", "whose largest value is 1.9990234375·2^15"),
        ("f16", "-1e9", "whose largest value is"),
        ("ue4m3", "-1", "which has no negative values"),
        ("ue8m0", "0", "whose smallest value is 2^-127"),
        ("e4m3fnuz", "-0", "not representable in e4m3fnuz; the nearest value is 0x00 (0)"),
        ("f16", "0x1.001p0", "not representable in f16; the nearest value is 0x3c00 (1)"),
    ],
)
def test_values_beyond_a_format_and_hexadecimal_numbers_are_never_rounded(
    name: str, text: str, why: str
) -> None:
    """Beyond the ends of a format; and hexadecimal numbers, which say every bit."""
    with pytest.raises(TcsmtError) as caught:
        to_word(FORMATS[name], text, lambda said: None)
    assert why in str(caught.value)


@pytest.mark.parametrize("name", FORMATS)
def test_every_description_in_hexadecimal_is_read_back(name: str) -> None:
    """hex() of a word stands for that word."""
    fmt = FORMATS[name]
    for word in boundaries(fmt):
        assert to_word(fmt, fmt.hex(word)) == word
        bare = fmt.hex(word).removeprefix("0x")
        if fmt.hex_digits > 1 and not bare.replace("e", "", 1).isdigit():  # one bare digit is a number
            assert to_word(fmt, bare) == word


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("f16", "1e20"), ("f16", "1E20"), ("f16", "1000"), ("e4m3", "10"), ("f32", "1e999999"),
        ("f32", "10000000"), ("f64", "1234567812345678"), ("e5m2", "01"),
    ],
)  # fmt: skip
def test_ambiguous_texts_are_refused_with_both_readings(name: str, text: str) -> None:
    """Neither is taken; what the message says to write is."""
    fmt = FORMATS[name]
    with pytest.raises(TcsmtError, match=rf"write \+{text} for the number, 0x{text} for the word"):
        to_word(fmt, text, lambda said: None)
    assert to_word(fmt, f"0x{text}") == int(text, 16)
    number = 10 ** int(text[2:]) if text[1] in "eE" else int(text)
    if number <= fmt.largest_finite:
        assert to_word(fmt, f"+{text}", lambda said: None) == fmt.nearest_word(Fraction(number))


@pytest.mark.parametrize(
    ("name", "text", "word"),
    [
        ("f16", "0000", 0),
        ("f32", "00000000", 0),
        ("f16", "3c00", 0x3C00),
        ("f16", "1e2", 0x5640),
        ("e2m1", "1", 2),
    ],
)
def test_unambiguous_texts_are_words_or_numbers(name: str, text: str, word: int) -> None:
    assert to_word(FORMATS[name], text) == word


@pytest.mark.parametrize("name", FORMATS)
def test_arrays_of_the_own_dtype_keep_their_bits(name: str) -> None:
    """NaN payloads and -0 included; from_words undoes it. Words with bits that units ignore are for words."""
    fmt = FORMATS[name]
    words = np.array(boundaries(fmt), dtype=stored(fmt))
    words = words[words & words.dtype.type(fmt.ignored_bits) == 0]
    array = from_words(fmt, words)
    assert array.dtype == dtype_of(fmt) == DTYPES.get(name, array.dtype)
    assert np.array_equal(to_words(fmt, array, "a"), words)
    assert np.array_equal(to_words(fmt, words, "a"), words)
    assert np.array_equal(to_words(fmt, words.astype(np.uint64), "a"), words)
    assert to_words(fmt, array[::2], "a").tolist() == words[::2].tolist()


@pytest.mark.parametrize("name", sorted(set(DTYPES) - {"f64"}))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_arrays_of_wider_floats_are_taken_where_exact(name: str, dtype: type[np.floating]) -> None:
    """Every finite number of a narrow format survives the way through a wider type."""
    fmt = FORMATS[name]
    words = sample(fmt)
    value = peer_values(fmt, words)
    finite = np.isfinite(value)
    assert np.array_equal(to_words(fmt, value[finite].astype(dtype), "a"), words[finite])


@pytest.mark.parametrize("name", sorted(set(FORMATS) - set(DTYPES) - {"tf32"}))
def test_values_of_formats_without_a_dtype_are_taken_where_exact(name: str) -> None:
    """Every word's value is that word again; NaNs are the format's one."""
    fmt = FORMATS[name]
    words = sample(fmt)
    if fmt.width == 16:
        words = np.union1d(words[::13], np.array(boundaries(fmt), dtype=words.dtype))
    nan = np.array([fmt.is_nan(word) for word in words.tolist()])
    values = [0.0 if fmt.is_nan(w) else float(fmt.value(w)) for w in words.tolist()]
    minus_zero = np.array([fmt.signed and w == 1 << fmt.sign_bit for w in words.tolist()])
    array = np.where(nan, np.nan, np.where(minus_zero, -0.0, np.array(values)))
    stored_bits = (1 << (fmt.width - fmt.ignored_high_bits)) - 1
    expected = np.where(nan, fmt.nan_word or 0, words & words.dtype.type(stored_bits))
    assert np.array_equal(to_words(fmt, array, "a"), expected)


def test_shapes_of_arrays_stay() -> None:
    """A scalar stays a scalar."""
    assert to_words(FORMATS["f32"], 0.5, "c").shape == ()
    assert to_words(FORMATS["f16"], np.float16(0.5), "c").shape == ()
    assert to_words(FORMATS["f16"], [[0.5, 1.0]], "a").tolist() == [[0x3800, 0x3C00]]


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("f16", [1.0, 0.1], r"a\[1\] = 0\.1 is not a valid f16 value"),
        ("f16", [1e6], r"a\[0\] = 1000000\.0 is not a valid f16 value"),
        ("e3m2", [float("nan")], r"a\[0\] = nan is not a valid e3m2 value"),
        ("e4m3", [float("inf")], r"a\[0\] = inf is not a valid e4m3 value"),
        ("tf32", [1 + 2.0**-30], r"a\[0\] = .* is not a valid tf32 value"),
        ("e2m1", np.array([3, 16], np.uint8), r"a\[1\] = 0x10: a word of e2m1 has 4 bits"),
        ("f16", np.array([1], np.uint32), r"a has dtype uint32: words of f16 have 16 bits \(uint16\)"),
        ("f32", np.array([1], np.uint16), r"a has dtype uint16: .* of 16 bits are of f16, bf16, "),
        ("f16", np.array([1, 2]), "a has dtype int64: for f16 it must be float16"),
        ("f16", ["1.0"], "a has dtype <U3"),
        ("f16", [[1.0], [1.0, 2.0]], "a cannot be read as an array"),
        ("ue4m3", [1.0, -1.0], r"a\[1\] = -1\.0 is not a valid ue4m3 value"),
        ("ue4m3", [float("inf")], r"a\[0\] = inf is not a valid ue4m3 value"),
        ("e8m7fn", [1.0, 2.0**129], r"a\[1\] = 6\.8.*e\+38 is not a valid e8m7fn value"),
        ("e8m7fn", [1 + 2.0**-8], r"a\[0\] = 1\.00390625 is not a valid e8m7fn value"),
        ("e5m10fn", [float("nan")], r"a\[0\] = nan is not a valid e5m10fn value"),
    ],
)
def test_to_words_refuses(name: str, values: Any, why: str) -> None:
    """The error names the array, the element and what is allowed."""
    with pytest.raises(TcsmtError, match=why):
        to_words(FORMATS[name], values, "a")
