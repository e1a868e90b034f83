"""What follows the sum, against fractions, ml_dtypes and binary32 arithmetic written by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tcsmt
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.programs.kernels.epilogue import epilogue_named
from tcsmt.programs.steps import outside
from tcsmt.support.errors import TcsmtError

F32 = FORMATS["f32"]
TEXTS = (
    "", "alpha=2,beta=0.5", "alpha=0.1", "beta=0", "c=epilogue", "bias,out=bf16", "out=f16:bf16",
    "out=e4m3,saturate", "out=bf16,RTZ", "out=e5m2,saturate,stochastic=13",
    "out=bf16,nan=ones:f16:bf16:f32", "nan=unknown",
)  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_the_text_reads_back(text: str) -> None:
    found = tcsmt.epilogue(text)
    assert str(found) == text
    assert found == epilogue_named(str(found))


def test_the_text_keeps_every_bit_of_a_number() -> None:
    assert epilogue_named(str(tcsmt.Epilogue(alpha=1 / 3))).alpha == 1 / 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("alfa=2", "unknown option of an epilogue 'alfa': did you mean alpha?"),
        ("alpha=x", "alpha = 'x': must be a number"),
        ("c=last", "unknown c 'last'"),
        ("c=first,alpha=2", "c=first needs alpha and beta 1"),
        ("out=e4m3", "e4m3 has no infinity: it must be the last of out, with saturate"),
        ("out=e4m3:bf16,saturate", "e4m3 has no infinity"),
        ("saturate", "saturate, stochastic and rounding need out=FORMAT"),
        ("out=bf16,stochastic=33", "stochastic must be from 1 to 32 bits"),
        ("out=bf16,stochastic=x", "stochastic = 'x': must be a number of bits"),
        ("out=bf16,stochastic=²", "stochastic = '²': must be a number of bits"),
        ("out=bf16,RTZ,stochastic=3", "stochastic has no other rounding"),
        ("out=s8", "s8"),
        ("nan=canonical", "unknown rule for NaN words 'canonical'"),
        ("out=ue8m0,saturate", "ue8m0 has no sign"),
    ],
)  # fmt: skip
def test_contradictory_epilogues_are_refused(text: str, message: str) -> None:
    with pytest.raises(TcsmtError) as refused:
        tcsmt.epilogue(text)
    assert message in str(refused.value)


def operands() -> tuple[Any, Any, Any, Any]:
    rng = np.random.default_rng(4)
    a, b = rng.standard_normal((7, 20)).astype(np.float16), rng.standard_normal((20, 9)).astype(np.float16)
    c, bias = rng.standard_normal((7, 9)).astype(np.float32), rng.standard_normal(9).astype(np.float32)
    return a, b, c, bias


def test_each_step() -> None:
    """C, bias, conversions, one after the other in binary32."""
    a, b, c, bias = operands()
    total = tcsmt.gemm(a, b, unit="hopper")

    def given(text: str, **more: Any) -> Any:
        return tcsmt.gemm(a, b, c, unit="hopper", epilogue=text, **more)

    assert np.array_equal(given("c=epilogue"), total + c)
    assert not np.array_equal(given(""), total + c)
    assert np.array_equal(given("c=epilogue,bias", bias=bias), (total + c) + bias)
    assert np.array_equal(given("beta=0,out=bf16"), total.astype(ml_dtypes.bfloat16))
    assert np.array_equal(given("beta=0,out=f16"), total.astype(np.float16))
    twice = total.astype(np.float16).astype(np.float32).astype(ml_dtypes.bfloat16)
    assert np.array_equal(given("beta=0,out=f16:bf16"), twice)
    assert given("beta=0,out=f16:bf16").dtype == ml_dtypes.bfloat16


def test_two_roundings_are_not_one() -> None:
    """Just above a tie of binary16, which is even in bfloat16 already."""
    one = np.array([[1.0]], np.float16)
    c = np.array([[1 + 2**-8 + 2**-14]], np.float32)
    once = tcsmt.gemm(0 * one, one, c, unit="hopper", epilogue="out=bf16")
    twice = tcsmt.gemm(0 * one, one, c, unit="hopper", epilogue="out=f16:bf16")
    assert (float(once[0, 0]), float(twice[0, 0])) == (1 + 2**-7, 1.0)


def words_of(x: Any) -> Any:
    return np.asarray(x, np.float32).view(np.uint32)


RNG = np.random.default_rng(9)
#: Values of all sizes around those of 8-bit formats.
VALUES = np.concatenate(
    [RNG.standard_normal(20000) * 2.0 ** RNG.integers(-25, 20, 20000), [0.0, -0.0, np.inf, -np.inf, np.nan]]
).astype(np.float32)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("bf16", ml_dtypes.bfloat16), ("f16", np.float16), ("e5m2", ml_dtypes.float8_e5m2)],
)
def test_conversions_to_nearest(name: str, dtype: Any) -> None:
    found = outside.converted(words_of(VALUES), F32, FORMATS[name])
    with np.errstate(over="ignore"):
        expected = VALUES.astype(dtype)
    real = ~np.isnan(VALUES)
    assert np.array_equal(found[real], expected.view(found.dtype)[real])
    assert all(FORMATS[name].is_nan(int(word)) for word in found[~real])


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("e4m3", ml_dtypes.float8_e4m3fn), ("e5m2", ml_dtypes.float8_e5m2),
        ("e2m1", ml_dtypes.float4_e2m1fn), ("e3m2", ml_dtypes.float6_e3m2fn),
        ("e2m3", ml_dtypes.float6_e2m3fn),
    ],
)  # fmt: skip
def test_saturating_conversions(name: str, dtype: Any) -> None:
    """Clipped first, infinities too; a NaN is the largest number where there is no other."""
    fmt = FORMATS[name]
    found = outside.converted(words_of(VALUES), F32, fmt, saturate=True)
    largest = float(fmt.largest_finite)
    real = ~np.isnan(VALUES)
    expected = np.clip(VALUES, -largest, largest)[real].astype(dtype)
    assert np.array_equal(found[real], expected.view(found.dtype))
    nan = fmt.largest_finite_word if fmt.nan_word is None else fmt.nan_word
    assert found[~real].tolist() == [nan]


@pytest.mark.parametrize(
    ("given", "wanted"),
    [("f16", "f32"), ("f16", "bf16"), ("e5m2", "f16"), ("f16", "f16"), ("f32", "f64"), ("f64", "f32")],
)
def test_an_infinity_saturates_to_the_wanted_format_s_largest_number(given: str, wanted: str) -> None:
    """PTX ISA, cvt.satfinite: the destination's largest number, with the sign; a NaN stays one."""
    one, other = FORMATS[given], FORMATS[wanted]
    words = [
        word | sign << one.sign_bit for word in (one.infinity_word, one.nan_word or 0) for sign in (0, 1)
    ]
    assert one.nan_word and other.nan_word
    found = outside.converted(np.array(words, unsigned(one)), one, other, saturate=True)
    assert [other.value(word) for word in found[:2].tolist()] == [other.largest_finite, -other.largest_finite]
    assert found[2:].tolist() == [other.nan_word] * 2
    zero = np.zeros(4, np.uint32)
    again = outside.stochastic(np.array(words, unsigned(one)), one, other, zero, 1, saturate=True)
    assert again.tolist() == found.tolist()


def up(value: Fraction, fmt: Any, bits: int, random: int) -> Fraction:
    """|value| by the definition: units of the last place, so many dropped bits plus the random ones."""
    if value == 0:
        return value
    exponent = max(fmt.e_min, _exponent(value))
    unit = Fraction(2) ** (exponent - fmt.fraction_bits)
    whole = value / unit
    kept = whole.numerator // whole.denominator
    dropped = (whole - kept) * 2**bits
    carry = dropped.numerator // dropped.denominator + random >= 2**bits
    return (kept + carry) * unit


def _exponent(value: Fraction) -> int:
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    return exponent if value >= Fraction(2) ** exponent else exponent - 1


@pytest.mark.parametrize(
    ("name", "bits"), [("e4m3", 20), ("e4m3", 3), ("bf16", 16), ("e2m1", 16), ("e5m2", 30)]
)
def test_stochastic_rounding(name: str, bits: int) -> None:
    fmt = FORMATS[name]
    values = VALUES[np.isfinite(VALUES)][::40]
    random = RNG.integers(0, 1 << bits, values.shape).astype(np.uint32)
    found = outside.stochastic(words_of(values), F32, fmt, random, bits, saturate=True)
    for word, value, r in zip(found.tolist(), values.tolist(), random.tolist(), strict=True):
        expected = min(up(abs(Fraction(value)), fmt, bits, r), fmt.largest_finite)
        magnitude = word & ((1 << fmt.sign_bit) - 1)
        assert magnitude == fmt.word(expected)
        assert word >> fmt.sign_bit == np.signbit(np.float32(value))


def test_stochastic_rounding_of_a_product() -> None:
    """With random bits 0 it truncates; with all ones it rounds up whatever has a dropped bit that counts."""
    a, b, _, _ = operands()
    total = tcsmt.gemm(a, b, unit="hopper")
    down = tcsmt.gemm(a, b, unit="hopper", epilogue="out=bf16,stochastic=16", random=np.zeros((7, 9), int))
    assert np.array_equal(down.view(np.uint16), (total.view(np.uint32) >> 16).astype(np.uint16))
    ones = np.full((7, 9), 0xFFFF)
    above = tcsmt.gemm(a, b, unit="hopper", epilogue="out=bf16,stochastic=16", random=ones)
    assert np.array_equal(above.view(np.uint16), (total.view(np.uint32) + 0xFFFF >> 16).astype(np.uint16))
