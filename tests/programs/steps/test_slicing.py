"""Digits of numbers: against fractions, in binary64 and in a tiny format."""

from __future__ import annotations

import struct
from fractions import Fraction
from random import Random

import pytest

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import var
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format, integers_from
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.programs.steps.slicing import F64, Slicing, digit_word
from tcsmt.support.errors import TcsmtError
from tests.oracles import emulations as oracle
from tests.support.emulations import TINY


def digits_of(cut: Slicing, word: int, top: int) -> list[int]:
    terms = list(cut.digits(var("x", cut.wide.width), var("top", cut.exponent_bits)))
    width = cut.bits + 2
    found = evaluate(terms, {"x": word, "top": top - cut.wide.e_min})
    return [one - (1 << width) if one >> (width - 1) else one for one in found]


@pytest.mark.parametrize("rounding", ["RTZ", "RNE"])
def test_numbers_of_a_tiny_format(rounding: str) -> None:
    cut = Slicing(bits=3, count=3, wide=TINY, rounding=ROUNDINGS[rounding])
    for word in range(0, 1 << TINY.width, 3):
        if TINY.is_special(word):
            continue
        x = TINY.value(word)
        own = oracle.exponent(TINY, x)
        for more in (0, 5):
            if own + more <= TINY.e_max:
                found, _ = oracle.digits(cut, [x, Fraction(2) ** (own + more)])
                assert digits_of(cut, word, own + more) == found[0]


@pytest.mark.parametrize(
    ("bits", "count"),
    [
        (7, 8),
        pytest.param(8, 7, marks=pytest.mark.long),
        pytest.param(5, 11, marks=pytest.mark.long),
        (54, 1),
    ],
)
def test_binary64(bits: int, count: int) -> None:
    rng = Random(bits)
    for rounding in ("RTZ", "RNE"):
        cut = Slicing(bits=bits, count=count, rounding=ROUNDINGS[rounding])
        for _ in range(12):
            x = rng.choice((-1, 1)) * rng.random() * 2.0 ** rng.randrange(-60, 3)
            found, top = oracle.digits(cut, [Fraction(x), Fraction(8)])
            (word,) = struct.unpack("<Q", struct.pack("<d", x))
            assert digits_of(cut, word, top - cut.above) == found[0]
            assert max(map(abs, found[0])) <= cut.largest


@pytest.mark.parametrize("name", ["s8", "e4m3", "bf16"])
def test_words_of_digits(name: str) -> None:
    fmt = integers_from(-128, 127) if name == "s8" else FORMATS[name]
    digit = var("digit", 7)
    term = digit_word(fmt, digit)
    for number in range(-16, 17):
        (word,) = evaluate([term], {"digit": number % 128})
        assert fmt.value(word) == number
        assert not (isinstance(fmt, Format) and number == 0 and word)


def test_slices_out_of_range_are_refused() -> None:
    for wrong, said in (
        ({"bits": 0, "count": 1}, "bits = 0: must be from 1 to 60"),
        ({"bits": 7, "count": 0}, "slices = 0"),
        ({"bits": 7, "count": 2, "rounding": ROUNDINGS["RTN"]}, "split = RTN: must be RTZ or RNE"),
        ({"bits": 1, "count": 2, "rounding": ROUNDINGS["RNE"]}, "at least 2"),
    ):
        with pytest.raises(TcsmtError, match=said):
            Slicing(**wrong)
    assert Slicing(bits=7, count=8).wide == F64
