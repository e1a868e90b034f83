"""Integers in arrays and in text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tcsmt.matrix_units.arithmetic.integer_format import INTEGERS, IntegerFormat
from tcsmt.matrix_units.arithmetic.words import dtype_of, from_words, to_word, to_words
from tcsmt.support.errors import TcsmtError
from tests.oracles import integers

Q8 = IntegerFormat(name="q8", bits=8, fraction_bits=4)
FORMATS = [INTEGERS["s4"], INTEGERS["u4"], INTEGERS["s8"], INTEGERS["u8"], IntegerFormat(name="s5", bits=5)]


@pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: fmt.name)
def test_every_number_in_every_dtype(fmt: IntegerFormat) -> None:
    words = np.array(integers.words(fmt))
    numbers = np.array([integers.count(fmt, word) for word in integers.words(fmt)])
    assert from_words(fmt, words.astype(np.uint8)).tolist() == numbers.tolist()
    assert from_words(fmt, words.astype(np.uint8)).dtype == dtype_of(fmt)
    for dtype in (np.int16, np.int32, np.int64, np.float32, np.float64):
        assert to_words(fmt, numbers.astype(dtype), "a").tolist() == words.tolist()
    assert to_words(fmt, numbers.tolist(), "a").tolist() == words.tolist()
    assert to_words(fmt, words.astype(np.uint64), "a").tolist() == words.tolist()  # words
    assert to_words(fmt, from_words(fmt, words.astype(np.uint8)), "a").tolist() == words.tolist()


@pytest.mark.parametrize("name", ["s32", "u32", "s64", "u64"])
def test_the_ends_of_wide_formats_read_back(name: str) -> None:
    fmt = INTEGERS[name]
    words = [0, 1, 2 ** (fmt.bits - 1) - 1, 2 ** (fmt.bits - 1), 2**fmt.bits - 1]
    numbers = [integers.count(fmt, word) for word in words]
    stored = from_words(fmt, np.array(words, np.uint64))
    assert [int(number) for number in stored] == numbers
    assert to_words(fmt, stored, "a").tolist() == words


def test_fixed_point_numbers() -> None:
    assert dtype_of(Q8) == np.uint8  # words: no dtype has its numbers
    assert to_words(Q8, np.array([1.5, -0.0625, -8.0]), "a").tolist() == [0x18, 0xFF, 0x80]
    assert to_words(Q8, [1, -8], "a").tolist() == [0x10, 0x80]


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("s8", np.array([0, 128]), r"a\[1\] = 128 is not a valid s8 value: those are -128 to 127, whole"),
        ("u8", [[1, -1]], r"a\[0, 1\] = -1 is not a valid u8 value: those are 0 to 255, whole"),
        ("s8", [0.5], r"a\[0\] = 0.5 is not a valid s8 value"),
        ("s64", np.array([2.0**63]), r"a\[0\] = 9.2\d*e\+18 is not a valid s64 value"),
        ("s8", [float("nan")], r"a\[0\] = nan is not a valid s8 value"),
        ("u64", [float("inf")], r"a\[0\] = inf is not a valid u64 value"),
        ("s4", np.array([16], np.uint8), r"a\[0\] = 0x10: a word of s4 has 4 bits"),
    ],
)
def test_numbers_that_do_not_fit(name: str, values: Any, message: str) -> None:
    with pytest.raises(TcsmtError, match=message):
        to_words(INTEGERS[name], values, "a")


@pytest.mark.parametrize(
    ("name", "text", "word"),
    [("s8", "10", 10), ("s8", "-1", 0xFF), ("s8", "0x80", 0x80), ("u8", "+255", 255), ("s32", "1e3", 1000),
     ("u4", "0xf", 15), ("s8", "0x1p3", 8)],
)  # fmt: skip
def test_text(name: str, text: str, word: int) -> None:
    """Digits alone are a number, also where there are as many as a word has: a word has 0x."""
    assert to_word(INTEGERS[name], text) == word


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("s8", "128", "'128' is not representable in s8, whose values are -128 to 127, whole"),
        ("u8", "-1", "'-1' is not representable in u8, whose values are 0 to 255, whole"),
        ("s8", "ff", r"'ff' is neither a s8 word in hexadecimal \(0x and 2 digits\) nor a decimal"),
        ("s8", "0x100", "a word of s8 has 2"),
        ("s8", "nan", "'nan' is neither"),
        ("s8", "1.5", r"'1.5' is not representable in s8; the nearest value is 0x02 \(2\)"),
    ],
)
def test_text_that_is_refused(name: str, text: str, message: str) -> None:
    with pytest.raises(TcsmtError, match=message):
        to_word(INTEGERS[name], text)
