"""Formats, decoding, rounding and conversion held against ml_dtypes, NumPy and the oracle."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.arithmetic import datapath as dp
from tcsmt.arithmetic import ieee
from tcsmt.arithmetic.formats import FORMATS, Format, format_named
from tcsmt.arithmetic.rounding import ROUNDINGS
from tcsmt.arithmetic.words import dtype_of, from_words, to_word, to_words
from tcsmt.interpret.arrays import Program
from tcsmt.support.errors import TcsmtError, UnknownName
from tcsmt.terms import const, var
from tests.oracles import rationals

Array = np.ndarray[Any, np.dtype[Any]]

DTYPES: dict[str, np.dtype[Any]] = {
    name: np.dtype(dtype)
    for name, dtype in {
        "f16": np.float16,
        "bf16": ml_dtypes.bfloat16,
        "f32": np.float32,
        "f64": np.float64,
        "e5m2": ml_dtypes.float8_e5m2,
        "e4m3": ml_dtypes.float8_e4m3fn,
        "e3m2": ml_dtypes.float6_e3m2fn,
        "e2m3": ml_dtypes.float6_e2m3fn,
        "e2m1": ml_dtypes.float4_e2m1fn,
        "e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
        "e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
        "ue8m0": ml_dtypes.float8_e8m0fnu,
    }.items()
}
SMALL = [name for name, fmt in FORMATS.items() if fmt.width <= 16]
WITH_INFINITY = [name for name, fmt in FORMATS.items() if fmt.has_infinity]
FINITE_ONLY = [name for name, fmt in FORMATS.items() if not fmt.has_infinity]
ORACLE_NAME = {"ue8m0": "e8m0"}


def stored(fmt: Format) -> np.dtype[Any]:
    """The unsigned dtype of the format's storage."""
    size = next(size for size in (8, 16, 32, 64) if fmt.width <= size)
    return np.dtype(f"uint{size}")


def boundaries(fmt: Format) -> list[int]:
    """Words around every change of kind and binade edge at the ends of the range, both signs."""
    low = fmt.ignored_low_bits
    one = 1 << low
    normal = 1 << (fmt.fraction_bits + low)
    middle = (1 << (fmt.exponent_bits - 1)) * normal
    centres = [0, normal, 2 * normal, middle, fmt.largest_finite_word, fmt.infinity_word]
    words = {(c + d * one) % (1 << fmt.width) for c in centres for d in range(-2, 3)}
    ones = (1 << fmt.width) - 1
    words |= {word ^ (1 << fmt.sign_bit) for word in words} | {ones, ones >> 1}
    return sorted(words)


def sample(fmt: Format, count: int = 500) -> Array:
    """Every word of a narrow format; boundaries and random words of a wide one."""
    if fmt.width <= 16:
        return np.arange(1 << fmt.width, dtype=stored(fmt))
    rng = random.Random(fmt.name)
    words = boundaries(fmt) + [rng.getrandbits(fmt.width) for _ in range(count)]
    return np.array(words, dtype=stored(fmt))


def peer_values(fmt: Format, words: Array) -> Array:
    """The words' values as ml_dtypes or NumPy reads them, in float64 (exact)."""
    with np.errstate(invalid="ignore"):  # signalling NaNs
        return words.view(DTYPES[fmt.name]).astype(np.float64)


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


# --- decode ------------------------------------------------------------------------------------


def run_decode(fmt: Format, words: Array, *, flush: bool = False) -> dict[str, Array]:
    """The parts of ``datapath.decode`` for every word."""
    number = dp.decode(fmt, var("x", fmt.width), flush=const(flush, 1))
    parts = {
        "sign": number.sign,
        "exponent": number.exponent.term,
        "significand": number.significand,
        "zero": number.zero,
        "infinite": number.infinite,
        "nan": number.nan,
    }
    columns = Program(list(parts.values())).run({"x": words})
    result = {name: column.astype(np.int64) for name, column in zip(parts, columns, strict=True)}
    result["exponent"] = result["exponent"] + number.exponent.low
    assert number.fraction_bits == fmt.fraction_bits
    finite = (result["infinite"] | result["nan"]) == 0
    assert result["exponent"][finite].max() <= number.exponent.high
    return result


@pytest.mark.parametrize("name", DTYPES)
def test_decoded_numbers_are_those_of_the_peer(name: str) -> None:
    """Sign, exponent and significand of the term make up the peer's value."""
    fmt = FORMATS[name]
    words = sample(fmt)
    value = peer_values(fmt, words)
    number = run_decode(fmt, words)
    assert np.array_equal(number["nan"] == 1, np.isnan(value))
    assert np.array_equal(number["infinite"] == 1, np.isinf(value))
    kept = ~np.isnan(value)  # a NaN's other fields mean nothing
    assert np.array_equal(number["zero"][kept] == 1, value[kept] == 0)
    assert np.array_equal(number["sign"][kept] == 1, np.signbit(value[kept]))
    finite = np.isfinite(value)
    significand = number["significand"][finite].astype(np.float64)
    magnitude = np.ldexp(significand, number["exponent"][finite] - fmt.fraction_bits)
    assert np.array_equal(magnitude, np.abs(value[finite]))


@pytest.mark.parametrize("flush", [False, True])
@pytest.mark.parametrize("name", FORMATS)
def test_decoded_fields_are_those_of_the_oracle(name: str, flush: bool) -> None:
    """The same exponent and significand, not merely the same value; flushed subnormals are 0."""
    fmt = FORMATS[name]
    words = sample(fmt)
    chosen = words if len(words) < 2000 else np.random.default_rng(0).choice(words, 2000)
    number = run_decode(fmt, chosen, flush=flush)
    for row, word in enumerate(chosen.tolist()):
        expected = rationals.decode(ORACLE_NAME.get(name, name), word)
        got = {part: int(column[row]) for part, column in number.items()}
        assert got["nan"] == (expected.kind == "nan")
        assert got["infinite"] == (expected.kind == "inf")
        if expected.kind == "finite":
            significand = expected.significand * 2**fmt.fraction_bits
            if flush and expected.significand < 1:
                significand = Fraction(0)
            shown = (expected.sign, expected.exponent, significand, significand == 0)
            assert (got["sign"], got["exponent"], got["significand"], got["zero"] == 1) == shown


def test_tf32_ignores_its_low_bits() -> None:
    """A float32 word and the same with its low 13 bits cleared decode alike."""
    fmt = FORMATS["tf32"]
    words = np.concatenate([sample(FORMATS["f32"]), np.array([0x7F800001, 0x00001FFF], np.uint32)])
    cleared = words & np.uint32(0xFFFFE000)
    for column, other in zip(run_decode(fmt, words).values(), run_decode(fmt, cleared).values(), strict=True):
        assert np.array_equal(column, other)
    assert fmt.is_infinite(0x7F800001)
    assert fmt.value(0x3F801FFF) == 1


# --- rounding and conversion -------------------------------------------------------------------


def convert(source: Format, target: Format, words: Array, rounding: str = "RNE") -> Array:
    """``ieee.convert`` on words."""
    number = dp.decode(source, var("x", source.width))
    return Program([ieee.convert(number, target, ROUNDINGS[rounding])]).run({"x": words})[0]


def near_ties(source: Format, target: Format, rng: random.Random, count: int) -> list[int]:
    """Words of ``source`` at, just below and just above numbers and midpoints of ``target``."""
    step = max(0, source.fraction_bits - target.fraction_bits)
    e_low = max(source.e_min, target.e_min - target.fraction_bits - 2)
    words = []
    for _ in range(count):
        fraction = rng.getrandbits(target.fraction_bits) << step
        fraction += rng.choice([0, 1 << step >> 1, 1 << step >> 2]) + rng.choice([-1, 0, 1])
        exponent = rng.randint(e_low, min(source.e_max, target.e_max + 1))
        if rng.random() < 0.3:  # the subnormal numbers of the target, and its first binades
            exponent = rng.randint(e_low, min(e_low + target.fraction_bits + 4, source.e_max))
        field = max(0, exponent + source.bias)
        magnitude = abs((field << source.fraction_bits) + fraction)
        word = min(magnitude, source.infinity_word >> source.ignored_low_bits)
        words.append(word << source.ignored_low_bits | rng.getrandbits(1) << source.sign_bit)
    return words


def conversion_inputs(source: Format, target: Format) -> Array:
    """All words of a narrow source; else boundaries of both formats, midpoints and random words."""
    rng = random.Random(f"{source.name} to {target.name}")
    words = [int(word) for word in sample(source, 2000)]
    if source.width > 16:
        words += near_ties(source, target, rng, 4000)
    return np.array(words, dtype=stored(source))


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("f32", "f16"), ("f32", "bf16"), ("f64", "f32"), ("f64", "f16"), ("f32", "e5m2"),
        ("f16", "e5m2"), ("bf16", "f16"), ("f16", "bf16"), ("f16", "f32"), ("bf16", "f32"),
        ("f32", "f64"), ("e4m3", "f16"), ("e4m3fnuz", "bf16"), ("e5m2fnuz", "f16"),
        ("ue8m0", "bf16"), ("e2m1", "e5m2"), ("e3m2", "f32"), ("e2m3", "e5m2"),
    ],
)  # fmt: skip
def test_conversion_agrees_with_casting(source: str, target: str) -> None:
    """Round to nearest even is what NumPy and ml_dtypes do."""
    narrow, wide = FORMATS[target], FORMATS[source]
    words = conversion_inputs(wide, narrow)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        expected = words.view(DTYPES[source]).astype(DTYPES[target]).view(stored(narrow))
    got = convert(wide, narrow, words)
    nan = np.isnan(peer_values(narrow, np.ascontiguousarray(expected)))
    assert np.array_equal(got[~nan], expected[~nan])
    assert all(narrow.is_nan(int(word)) for word in set(got[nan].tolist()))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    source=st.sampled_from(sorted(FORMATS)),
    target=st.sampled_from(WITH_INFINITY),
    rounding=st.sampled_from(sorted(ROUNDINGS)),
    seed=st.integers(0, 1 << 32),
)
def test_conversion_agrees_with_the_oracle(source: str, target: str, rounding: str, seed: int) -> None:
    """Every format, every rounding mode; zeros keep their sign, overflow is IEEE 754's."""
    wide, narrow = FORMATS[source], FORMATS[target]
    rng = random.Random(seed)
    words = near_ties(wide, narrow, rng, 50) + rng.choices(boundaries(wide), k=30)
    words += [rng.getrandbits(wide.width) for _ in range(20)]
    got = convert(wide, narrow, np.array(words, dtype=stored(wide)), rounding)
    for word, result in zip(words, got.tolist(), strict=True):
        number = rationals.decode(ORACLE_NAME.get(source, source), word)
        if number.kind == "nan":
            expected = narrow.nan_word
        elif number.kind == "inf":
            expected = rationals.infinity_word(target, number.sign)
        else:
            expected = rationals.encode(
                target,
                number.value,
                rounding,
                overflow="ieee",
                negative_zero=number.sign == 1,
                keep_zero_sign=True,
            )
        assert result == expected, (wide.hex(word), narrow.hex(result))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(data=st.data())
def test_round_to_agrees_with_the_oracle(data: st.DataObject) -> None:
    """Any width, any scale, fewer fraction bits, saturation, flushing."""
    target = data.draw(st.sampled_from(WITH_INFINITY), label="target")
    fmt = FORMATS[target]
    rounding = data.draw(st.sampled_from(sorted(ROUNDINGS)), label="rounding")
    kept = data.draw(st.none() | st.integers(1, fmt.fraction_bits), label="fraction_bits")
    precision = 1 + (kept or fmt.fraction_bits)
    width = data.draw(st.integers(1, precision + 1) | st.integers(1, 90), label="width")
    span = data.draw(st.integers(0, 12), label="span")
    ends = [fmt.e_max + 4, fmt.e_min + 2, fmt.e_min - precision + 2]
    reach = data.draw(st.sampled_from(ends), label="top of the magnitude")
    low = data.draw(st.integers(reach - width - span - 4, reach - width + 4), label="low")
    overflow = data.draw(st.sampled_from(["infinity", "saturate", "ieee"]), label="overflow")
    flush = data.draw(st.booleans(), label="flush")
    tininess = data.draw(st.sampled_from(["result", "before", "after"]), label="tininess")
    rng = random.Random(data.draw(st.integers(0, 1 << 32), label="seed"))
    exponent = dp.Exponent(var("e", max(1, span.bit_length())), low, low + span)
    rounded = dp.SignMagnitude(var("s", 1), var("m", width), exponent)
    mode, flushed = ROUNDINGS[rounding], const(flush, 1)
    term = dp.round_to(
        fmt, rounded, mode, fraction_bits=kept, overflow=overflow, flush=flushed, tininess=tininess
    )
    rows = []
    for _ in range(60):
        magnitude = rng.getrandbits(width) >> rng.randrange(width)
        if rng.random() < 0.5:  # long runs of zeros and ones: ties and carries
            cut = rng.randrange(width)
            magnitude = magnitude >> cut << cut
            magnitude ^= (1 << rng.randrange(width)) - 1 if rng.random() < 0.5 else 0
        rows.append((rng.getrandbits(1), magnitude, rng.randint(0, span)))
    kinds = (bool, object if width > 64 else np.uint64, np.uint64)
    columns = [np.array(c, dtype=d) for c, d in zip(zip(*rows, strict=True), kinds, strict=True)]
    got = Program([term]).run(dict(zip("sme", columns, strict=True)))[0]
    for (sign, magnitude, offset), word in zip(rows, got.tolist(), strict=True):
        value = (-1) ** sign * magnitude * Fraction(2) ** (low + offset)
        expected = rationals.encode(
            target, value, rounding, kept, overflow, flush_output=flush, tininess=tininess
        )
        assert word == expected & ((1 << fmt.sign_bit) - 1), (sign, magnitude, offset)


# --- words -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "word"),
    [
        ("f16", "0x3c00", 0x3C00),
        ("f16", "3C00", 0x3C00),
        ("f16", " 0x1 ", 0x0001),
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
        ("f16", "0x10000", "16 bits"),
        ("e2m1", "0x10", "4 bits"),
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
def test_what_is_never_rounded(name: str, text: str, why: str) -> None:
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
        if fmt.hex_digits > 1:  # one bare digit is a number
            assert to_word(fmt, fmt.hex(word).removeprefix("0x")) == word


@pytest.mark.parametrize("name", FORMATS)
def test_arrays_of_the_own_dtype_keep_their_bits(name: str) -> None:
    """NaN payloads and -0 included; from_words undoes it."""
    fmt = FORMATS[name]
    words = np.array(boundaries(fmt), dtype=stored(fmt))
    array = from_words(fmt, words)
    assert array.dtype == dtype_of(fmt) == DTYPES.get(name, array.dtype)
    assert np.array_equal(to_words(fmt, array, "a"), words)
    assert np.array_equal(to_words(fmt, words, "a"), words)
    assert np.array_equal(to_words(fmt, words.astype(np.uint64), "a"), words)
    assert to_words(fmt, array[::2], "a").tolist() == words[::2].tolist()


@pytest.mark.parametrize("name", sorted(set(DTYPES) - {"f64"}))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_arrays_of_wider_floats_are_taken_where_exact(name: str, dtype: Callable[..., Any]) -> None:
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
        ("f16", np.array([1 << 16], np.uint32), r"a\[0\] = 0x10000: .* 16 bits"),
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
