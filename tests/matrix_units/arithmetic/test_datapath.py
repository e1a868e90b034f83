"""Stages of the datapath: decoding and rounding against peers and the oracle, the others by exact numbers."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.language.run.arrays import Program
from tcsmt.language.terms import FALSE, const, var
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic import ieee
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tests.oracles import exact as peer
from tests.oracles import rationals
from tests.oracles import terms as oracle
from tests.support.format_words import (
    DTYPES,
    ORACLE_NAME,
    WITH_INFINITY,
    Array,
    boundaries,
    peer_values,
    sample,
    stored,
)


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


def convert(source: Format, target: Format, words: Array, rounding: str = "RNE") -> Array:
    """``ieee.convert`` on words."""
    number = dp.decode(source, var("x", source.width))
    return Program([ieee.convert(number, target, ROUNDINGS[rounding])]).run({"x": words})[0]


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


@settings(max_examples=50, deadline=None, derandomize=True)
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


@settings(max_examples=50, deadline=None, derandomize=True)
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


# --- the other stages, on tiny words -----------------------------------------------------------


def on(columns: dict[str, Array], *roots: Any) -> list[list[int]]:
    """The words of terms, by arrays that share nothing with the program."""
    rows = len(next(iter(columns.values())))
    return [
        np.broadcast_to(found, rows).astype(object).tolist() for found in oracle.values(list(roots), columns)
    ]


def grid(**widths: int) -> dict[str, Array]:
    """Every combination of words."""
    found = np.meshgrid(*(np.arange(1 << width) for width in widths.values()))
    return {name: words.ravel() for name, words in zip(widths, found, strict=True)}


def number(name: str, bits: int, low: int, high: int, fraction_bits: int) -> dp.Number:
    """A finite number with a significand and an exponent of its own."""
    significand = var(f"{name}m", bits)
    width = (high - low).bit_length()
    exponent = dp.Exponent(var(f"{name}e", width), low, high)
    zero = significand.eq(0)
    return dp.Number(var(f"{name}s", 1), exponent, significand, fraction_bits, zero, FALSE, FALSE)


def value_of(sign: int, significand: int, exponent: int, fraction_bits: int) -> Fraction:
    return (-1) ** sign * significand * Fraction(2) ** (exponent - fraction_bits)


def test_exponents() -> None:
    """Sums, differences, maxima and choices of two exponents with their own ranges."""
    columns = grid(x=2, y=3, c=1)
    x, y = dp.Exponent(var("x", 2), -5, -2), dp.Exponent(var("y", 3), -1, 6)
    total, top, chosen = x + y, dp.largest([x, y], -9), x.or_where(var("c", 1), y)
    words = on(columns, total.term, top.term, chosen.term, y.minus(x), x.within(-7, 3), x.plus(4).term)
    for row, (a, b, c) in enumerate(zip(*(columns[n].tolist() for n in "xyc"), strict=True)):
        one, two = a - 5, b - 1
        found = [column[row] for column in words]
        assert found[0] + total.low == one + two and total.low <= one + two <= total.high
        assert (found[1] + top.low, top.low) == (max(one, two), -9)
        assert found[2] + chosen.low == (two if c else one)
        assert (found[3], found[4], found[5] + x.low + 4) == (two - one, one + 7, one + 4)


@pytest.mark.parametrize("rounding", sorted(ROUNDINGS))
@pytest.mark.parametrize(("fraction_bits", "below"), [(1, 2), (3, 2), (1, 5)])
def test_alignment_rounds_what_it_shifts_out(rounding: str, fraction_bits: int, below: int) -> None:
    """Of every significand, exponent and sign below every largest exponent; sticky: the bits' OR below.

    below: fraction bits of the significand; of three bits, with five below the point, none is on the grid.
    """
    columns = grid(xm=3, xe=3, xs=1, t=1)
    x, top = number("x", 3, -6, 1, below), dp.Exponent(var("t", 1), 1, 2)
    mode = ROUNDINGS[rounding]
    aligned = dp.align(x, top, fraction_bits, mode)
    sticky = dp.align(x, top, fraction_bits, ROUNDINGS["RTZ"], sticky=True)
    assert (aligned.fraction_bits, sticky.fraction_bits) == (fraction_bits, fraction_bits + 1)
    words, caught = on(columns, aligned.word, sticky.word)
    for row, (m, e, s, t) in enumerate(
        zip(*(columns[n].tolist() for n in ("xm", "xe", "xs", "t")), strict=True)
    ):
        exact = value_of(s, m, e - 6, below) / Fraction(2) ** (t + 1 - fraction_bits)
        given = words[row] - (words[row] >> (aligned.word.width - 1) << aligned.word.width)
        kept, half = divmod(abs(exact), 1)
        scaled = exact * (1 << 12)
        assert scaled.denominator == 1
        assert given == peer.rounded(np.array([int(scaled)]), np.array([12]), rounding)[0]
        low = caught[row] - (caught[row] >> (sticky.word.width - 1) << sticky.word.width)
        assert abs(low) == 2 * int(kept) + (half != 0) and (low <= 0 if s else low >= 0)


def test_exact_products_and_sums() -> None:
    columns = grid(xm=2, xe=2, xs=1, ym=2, ye=1, ys=1)
    x, y = number("x", 2, -2, 1, 1), number("y", 2, 0, 1, 1)
    product, total = dp.multiply(x, y), dp.exact_total([x, y])
    normal = dp.normalise_number(product)
    roots = [t for n in (product, total, normal) for t in (n.sign, n.significand, n.exponent.term, n.zero)]
    words = on(columns, *roots)
    names = ("xm", "xe", "xs", "ym", "ye", "ys")
    for row, (m, e, s, n, f, r) in enumerate(zip(*(columns[name].tolist() for name in names), strict=True)):
        one, two = value_of(s, m, e - 2, 1), value_of(r, n, f, 1)
        found = [column[row] for column in words]
        for expected, part, first in zip(
            (one * two, one + two, one * two), (product, total, normal), (0, 4, 8), strict=True
        ):
            got = value_of(
                found[first], found[first + 1], found[first + 2] + part.exponent.low, part.fraction_bits
            )
            assert got == expected
        assert found[3] == (one * two == 0) and found[7] == (one == two == 0)
        leading = found[9] / 2**normal.fraction_bits
        assert found[9] == 0 if one * two == 0 else 1 <= leading < 2


def test_sums_wrap_where_bits_are_missing() -> None:
    columns = grid(x=4, y=4, missing=2)
    fixed = [dp.Fixed(var(name, 4), dp.Exponent.constant(0), 0) for name in "xy"]
    whole = dp.accumulate(fixed, 6)
    narrow = dp.accumulate(fixed, 6, dp.Exponent(var("missing", 2), 0, 3))
    words = on(columns, whole.word, narrow.word)
    for row, (a, b, lost) in enumerate(
        zip(*(columns[n].tolist() for n in ("x", "y", "missing")), strict=True)
    ):
        exact = (a - 16 * (a > 7)) + (b - 16 * (b > 7))
        size = 1 << (6 - lost)
        wrapped = (exact + size // 2) % size - size // 2
        assert [word - 64 * (word > 31) for word in (words[0][row], words[1][row])] == [exact, wrapped]


@pytest.mark.parametrize(("first", "bits"), [(0, 2), (1, 3), (0, 6), (2, 4)])
def test_bits_of_a_significand(first: int, bits: int) -> None:
    """As many as asked for, from the leading one down: the rest of the number is left."""
    columns = grid(xm=4, xe=1, xs=1)
    x = number("x", 4, 0, 1, 3)
    part = dp.chosen_bits(x, first, bits)
    (words, exponents) = on(columns, part.significand, part.exponent.term)
    for row, (m, e) in enumerate(zip(columns["xm"].tolist(), columns["xe"].tolist(), strict=True)):
        weights = [Fraction(2) ** -place for place in range(first, first + bits)]
        expected = sum(w for w in weights if Fraction(m, 8) // w % 2) * Fraction(2) ** e
        assert value_of(0, words[row], exponents[row] + part.exponent.low, part.fraction_bits) == expected


def test_order() -> None:
    columns = grid(x=6)
    (words,) = on(columns, dp.ordered(var("x", 6)))
    signed = [-(x & 31) if x > 31 else x for x in columns["x"].tolist()]
    keys = [word - 64 * (word > 31) for word in words]
    assert all((keys[a] < keys[b]) == (signed[a] < signed[b]) for a in range(64) for b in range(64))
