"""Arithmetic outside the unit, on the ends of formats and random words, by exact fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from tcsmt.matrix_units.arithmetic import conversion
from tcsmt.matrix_units.arithmetic.conversion import OPERAND_RULES
from tcsmt.matrix_units.arithmetic.formats import FORMATS, INTEGERS, Format
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.programs.steps.outside import add, converted, multiplied_and_added, stochastic
from tests.oracles import rationals
from tests.support.references import oracle_format


def ends(fmt: Format) -> list[int]:
    words = {0, 1, 1 << fmt.fraction_bits, fmt.largest_finite_word, fmt.infinity_word, fmt.nan_word or 0}
    words |= {(word + d) % (1 << fmt.sign_bit) for word in list(words) for d in (-1, 1)}
    return sorted({word | sign << fmt.sign_bit for word in words for sign in (0, 1)})


def some(fmt: Format, count: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 1 << fmt.width, count, dtype=np.uint64, endpoint=False)
    words[: count // 2] = rng.choice(np.array(ends(fmt), np.uint64), count // 2)
    return words.astype(unsigned(fmt))


def total(fmt: Format, mode: str, *words: tuple[Format, int]) -> int:
    """A sum by the oracle: 1·x + 1·y... as one exact dot product, rounded once."""
    f64 = "f64"
    one = 0x3FF0000000000000
    parameters = rationals.IEEE(
        a_format=f64, b_format=f64, c_format=f64, d_format=oracle_format(fmt), k=len(words), n_fma=len(words),
        method="exact", product_format=None, product_rounding="RNE", sum_format=oracle_format(fmt),
        c_first=True, d_rounding=mode, rounding=mode, nan=fmt.nan_word,
    )  # fmt: skip
    wide = [_as_f64(given, word) for given, word in words]
    nothing = 0 if mode == "RTN" else 1 << 63  # the zero that changes no zero
    return rationals.ieee_dot(parameters, wide, [one] * len(words), nothing)


def _as_f64(fmt: Format, word: int) -> int:
    if fmt.is_nan(word):
        return 0x7FF8000000000000
    if fmt.is_infinite(word):
        return 0x7FF0000000000000 | (word >> fmt.sign_bit) << 63
    value = fmt.value(word)
    if value:
        return FORMATS["f64"].word(value)
    return (word >> fmt.sign_bit & 1) << 63 if fmt.signed else 0


@pytest.mark.parametrize("name", ["f16", "f32", "bf16", "e5m2"])
def test_additions(name: str) -> None:
    fmt = FORMATS[name]
    x, y = some(fmt, 400, 1), some(fmt, 400, 2)
    x[300:], y[300:] = x[100:200], x[100:200] ^ (1 << fmt.sign_bit)  # that cancel
    found = add(fmt, x, y).tolist()
    expected = [
        total(fmt, "RNE", (fmt, one), (fmt, two)) for one, two in zip(x.tolist(), y.tolist(), strict=True)
    ]
    assert found == expected


def test_additions_of_integers_wrap() -> None:
    x = np.array([2**31 - 1, 5, 2**32 - 1], np.uint32)
    assert add(INTEGERS["s32"], x, np.array([1, 6, 1], np.uint32)).tolist() == [2**31, 11, 0]


@pytest.mark.parametrize(
    ("given", "wanted", "mode", "saturate"),
    [
        ("f32", "f16", "RNE", False), ("f32", "bf16", "RNE", False), ("f16", "f32", "RNE", False),
        ("f64", "f32", "RNE", False), ("f32", "f16", "RTZ", False), ("f32", "bf16", "RTP", False),
        ("f16", "e5m2", "RNE", False), ("f32", "f16", "RNE", True), ("f32", "e4m3", "RNE", True),
        ("f16", "e5m2", "RTN", True),
    ],
)  # fmt: skip
def test_conversions(given: str, wanted: str, mode: str, saturate: bool) -> None:
    """Rounded once; what is saturated becomes the largest number, an infinity too."""
    one, other = FORMATS[given], FORMATS[wanted]
    words = some(one, 600, 3)
    found = converted(words.reshape(20, 30), one, other, ROUNDINGS[mode], saturate=saturate)
    assert found.shape == (20, 30) and found.dtype == unsigned(other)
    for word, result in zip(words.tolist(), found.reshape(-1).tolist(), strict=True):
        if one.is_nan(word):
            assert other.is_nan(result)
            continue
        sign = word >> one.sign_bit
        value = None if one.is_infinite(word) else one.value(word)
        largest = other.largest_finite
        if saturate and (value is None or abs(value) > largest):
            assert other.value(result) == (-largest if sign else largest), hex(word)
        elif other.has_infinity:
            assert result == total(other, mode, (one, word)), hex(word)
        else:
            assert value is not None
            assert other.value(result) == other.value(other.nearest_word(value))


def test_a_format_itself_is_not_converted() -> None:
    words = np.array([1, 2], np.uint16)
    assert converted(words, FORMATS["f16"], FORMATS["f16"]) is words


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_multiply_adds_round_once(name: str) -> None:
    """x·y - the product as it is rounded: what is lost, exactly."""
    fmt = FORMATS[name]
    rng = np.random.default_rng(4)
    dtype = {"f32": np.float32, "f64": np.float64}[name]
    x, y = rng.standard_normal((2, 300)).astype(dtype)
    z = -(x * y)
    words = [side.view(unsigned(fmt)) for side in (x, y, z)]
    found = multiplied_and_added(fmt, *(side.reshape(15, 20) for side in words)).reshape(-1)
    lost = 0
    for one, two, three, result in zip(x, y, z, found.tolist(), strict=True):
        exact = Fraction(float(one)) * Fraction(float(two)) + Fraction(float(three))
        assert fmt.value(result) == exact  # it has few enough bits
        lost += exact != 0
    assert lost > 200


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_multiply_adds_of_zeros(name: str) -> None:
    """With +0 and with -0 added: special words, and products that underflow; as the graph has them."""
    fmt = FORMATS[name]
    dtype = {"f32": np.float32, "f64": np.float64}[name]
    least, most = (float(getattr(np.finfo(dtype), end)) for end in ("smallest_subnormal", "max"))
    special = np.array([0, 1, 1.5, least, 3 * least, 0.5, 2.0**-70, np.inf, np.nan, most])
    sides = np.concatenate([special, -special]).astype(dtype).view(unsigned(fmt))
    x, y = (side.ravel() for side in np.meshgrid(sides, sides))
    own = oracle_format(fmt)
    oracle = rationals.IEEE(
        a_format=own, b_format=own, c_format=own, d_format=own, k=1, n_fma=1, method="fma",
        product_format=None, product_rounding="RNE", sum_format=own, c_first=True, d_rounding="RNE",
        rounding="RNE", nan=fmt.nan_word,
    )  # fmt: skip
    for zero in (0, 1 << fmt.sign_bit):
        results = multiplied_and_added(fmt, x, y, np.full(x.shape, zero, unsigned(fmt)))
        for one, other, result in zip(x.tolist(), y.tolist(), results.tolist(), strict=True):
            expected = rationals.ieee_dot(oracle, [one], [other], zero)
            assert result == expected, (hex(one), hex(other), hex(zero))


@pytest.mark.parametrize("bits", [1, 4, 8])
def test_stochastic_rounding_adds_and_truncates(bits: int) -> None:
    """Below the last kept bit, to the magnitude; each word with the least and the largest random bits."""
    one, other = FORMATS["f32"], FORMATS["bf16"]
    rng = np.random.default_rng(5)
    values = (rng.standard_normal(200) * 2.0 ** rng.integers(-20, 20, 200)).astype(np.float32)
    words = values.view(np.uint32)
    for random in (0, 1, (1 << bits) - 1):
        r = np.full(200, random, np.uint32)
        found = stochastic(words, one, other, r, bits, saturate=False)
        expected = (words.astype(np.uint64) + (random << (16 - bits))) >> np.uint64(16)
        assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("rule", OPERAND_RULES)
@pytest.mark.parametrize("target", ["tf32", "bf16", "f16", "e5m2", "e4m3"])
def test_operands_are_rounded_as_the_datapath_rounds(target: str, rule: str) -> None:
    """Conversions of operands are written for arrays, those of kernels as terms: they are one function."""
    given, wanted = FORMATS["f32"], FORMATS[target]
    rng = np.random.default_rng(12)
    words = rng.integers(0, 1 << 32, 20_000, np.uint32)
    fields = rng.integers(127 - wanted.bias - 12, 127 + wanted.bias + 3, 15_000).clip(0, 254)
    words[:15_000] = words[:15_000] & np.uint32(0x807FFFFF) | fields.astype(np.uint32) << np.uint32(23)
    words[:8000] &= np.uint32(0xFFFFFFFF << (21 - wanted.fraction_bits) & 0xFFFFFFFF)  # many ties
    numbers = (words & np.uint32(0x7FFFFFFF)) <= given.infinity_word
    found = conversion.converted(words, given, wanted, OPERAND_RULES[rule])
    kept = numbers & ~found.absent
    assert kept.sum() > 10_000
    assert np.array_equal(found.words[kept], converted(words[kept], given, wanted, OPERAND_RULES[rule]))


def test_words_that_fit_are_converted_as_those_that_do_not() -> None:
    """To E4M3 by another way: each of the words alone, among neighbours of its numbers."""
    source, target = FORMATS["f32"], FORMATS["e4m3"]
    numbers = [target.value(word) for word in range(127)]
    ties = [(x + y) / 2 for x, y in pairwise(numbers)]
    words = np.array([source.word(x) for x in (*numbers, *ties)], np.uint32)
    words = np.concatenate([words, words[1:] - 1, words[:-1] + 1])
    words = np.concatenate([words, words | 1 << 31])
    fits = words[(words & 0x7FFFFFFF) <= source.word(target.largest_finite)]
    beyond = np.append(fits, np.uint32(0x7F7FFFFF))
    assert (converted(fits, source, target) == converted(beyond, source, target)[:-1]).all()
