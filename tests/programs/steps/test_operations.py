"""Operations as terms: sums, products, quotients, comparisons and conversions, against fractions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from tcsmt.language.run.arrays import Program
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import var
from tcsmt.matrix_units.arithmetic.conversion import QUIET
from tcsmt.matrix_units.arithmetic.formats import FORMATS, INTEGERS, AnyFormat, Format
from tcsmt.matrix_units.arithmetic.ieee import Operation
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.programs.steps import outside
from tcsmt.programs.steps.operations import (
    compared,
    maximum,
    multiply_add,
    power_of_two,
    product,
    quotient,
    scaled_sum,
)
from tcsmt.programs.steps.operations import rounded as converted
from tcsmt.support.errors import TcsmtError
from tests.oracles.rationals import rounded

F32 = FORMATS["f32"]
WORDS = (0x3F800000, 0xBF800001, 0x00000001, 0x80800000, 0x4B7FFFFF, 0x33000000, 0xB3000001, 0x7E7FFFFF)


@pytest.mark.parametrize("name", ["RNE", "RTZ", "RNA"])
@pytest.mark.parametrize("shift", [0, 11])
def test_scaled_sums(name: str, shift: int) -> None:
    x, y = var("x", 32), var("y", 32)
    word = scaled_sum(F32, x, shift, y, ROUNDINGS[name], F32.nan_word or 0).word()
    for first in WORDS:
        for second in WORDS:
            exact = F32.value(first) / 2**shift + F32.value(second)
            (found,) = evaluate([word], {"x": first, "y": second})
            assert F32.value(found) == rounded(exact, 24, -126, name), (hex(first), hex(second))


def test_a_nan_has_the_word_that_is_asked_for() -> None:
    x, y = var("x", 32), var("y", 32)
    for name in ("RNE", "RTZ"):
        word = scaled_sum(F32, x, 0, y, ROUNDINGS[name], 0x7FFFFFFF).word()
        assert list(evaluate([word], {"x": 0x7F800000, "y": 0xFF800000})) == [0x7FFFFFFF]
    assert multiply_add(F32) == multiply_add(F32, F32.nan_word) != multiply_add(F32, 0x7FFFFFFF)


def rounded_once(fmt: Format, value: Fraction, rounding: Rounding) -> Fraction:
    """An exact number in a format, by the definition of the rounding; within the format's range."""
    if not value:
        return value
    exponent = max(fmt.e_min, leading(abs(value)))
    unit = Fraction(2) ** (exponent - fmt.fraction_bits)
    below = (value / unit).__floor__()
    match rounding.name:
        case "RTN":
            count = below
        case "RTP":
            count = -((-value / unit).__floor__())
        case "RTZ":
            count = below if value > 0 else -((-value / unit).__floor__())
        case _:
            count = round(value / unit)
    return count * unit


def leading(size: Fraction) -> int:
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    return exponent if size >= Fraction(2) ** exponent else exponent - 1


def words_near(fmt: Format, count: int, seed: int) -> list[int]:
    """Numbers of all sizes, so that products and quotients stay within the format now and then."""
    rng = np.random.default_rng(seed)
    few = [
        0,
        1 << fmt.sign_bit,
        1,
        2,
        3,
        fmt.largest_finite_word,
        fmt.word(Fraction(1)),
        fmt.word(Fraction(3)),
    ]
    return few + [int(word) for word in rng.integers(0, 1 << fmt.width, count)]


@pytest.mark.parametrize("operation", [product, quotient])
@pytest.mark.parametrize("rounding", ["RNE", "RTZ", "RTP", "RTN"])
@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_products_and_quotients_are_exact_ones_rounded_once(
    operation: Callable[..., Operation], rounding: str, name: str
) -> None:
    fmt = FORMATS[name]
    x, y = (var(side, fmt.width) for side in "xy")
    mode = ROUNDINGS[rounding]
    run = Program([operation(fmt, x, y, mode, fmt.nan_word).word()])
    left, right = (words_near(fmt, 300, seed) for seed in (1, 2))
    right = right[::-1]
    pairs = list(zip(left, right, strict=True)) + [(a, b) for a in left[:8] for b in right[-8:]]
    columns = {side: np.array(part) for side, part in zip("xy", zip(*pairs, strict=True), strict=True)}
    (found,) = run.run(columns)
    finite = 0
    for (a, b), word in zip(pairs, found.tolist(), strict=True):
        if any(fmt.is_nan(w) or fmt.is_infinite(w) for w in (a, b)):
            continue
        p, q = fmt.value(a), fmt.value(b)
        sign = (a ^ b) >> fmt.sign_bit & 1
        if operation is quotient and not q:
            assert word == (fmt.infinity_word | sign << fmt.sign_bit if p else fmt.nan_word), (a, b)
            continue
        exact = p * q if operation is product else p / q
        wanted = rounded_once(fmt, exact, mode)
        assert word >> fmt.sign_bit == sign, (a, b)
        if abs(wanted) <= fmt.largest_finite:
            finite += 1
            assert fmt.value(word) == wanted, (a, b)
        else:
            towards = rounding == "RTZ" or rounding == ("RTN", "RTP")[sign]
            end = fmt.largest_finite_word if towards else fmt.infinity_word
            assert word & ~(1 << fmt.sign_bit) == end, (a, b)
    assert finite > 100


def test_special_quotients() -> None:
    fmt = FORMATS["f32"]
    x, y = (var(side, 32) for side in "xy")
    run = Program([quotient(fmt, x, y, ROUNDINGS["RNE"], fmt.nan_word).word()])
    inf, nan = np.float32(np.inf), np.float32(np.nan)
    a = np.array([inf, inf, 1, -1, 0, -0.0, nan, 1, inf], np.float32)
    b = np.array([inf, -2, inf, inf, 0, 3, 1, nan, 0], np.float32)
    (found,) = run.run({"x": a.view(np.uint32), "y": b.view(np.uint32)})
    assert found.tolist() == [
        0x7FC00000, 0xFF800000, 0, 0x80000000, 0x7FC00000, 0x80000000, 0x7FC00000, 0x7FC00000, 0x7F800000,
    ]  # fmt: skip


def as_number(fmt: Format, word: int) -> Fraction:
    """A word's value; an infinity is beyond all numbers."""
    if fmt.is_infinite(word):
        return fmt.largest_finite * (-2 if word >> fmt.sign_bit else 2)
    return fmt.value(word)


@pytest.mark.parametrize("name", ["f16", "e4m3", "e4m3fnuz", "e2m1", "ue8m0"])
def test_comparisons_and_maxima_are_those_of_values(name: str) -> None:
    fmt = FORMATS[name]
    x, y = (var(side, fmt.width) for side in "xy")
    nan_word = QUIET.computed(fmt)
    roots = [compared(fmt, x, y, relation) for relation in ("equal", "less", "less_equal")]
    roots += [maximum(fmt, x, y, nan, nan_word) for nan in ("propagated", "ignored")]
    rng = np.random.default_rng(3)
    left, right = (rng.integers(0, 1 << fmt.width, 500) for _ in "ab")
    left[:4], right[:4] = [0, 1 << fmt.sign_bit, 5, 7], [1 << fmt.sign_bit, 0, 5, 5]
    found = Program(roots).run({"x": left, "y": right})
    for a, b, *words in zip(left.tolist(), right.tolist(), *(part.tolist() for part in found), strict=True):
        nans = [fmt.is_nan(word) for word in (a, b)]
        if any(nans):
            assert words[:3] == [0, 0, 0] and words[3] == nan_word
            assert words[4] == (nan_word if all(nans) else b if nans[0] else a)
            continue
        infinite = [fmt.is_infinite(word) for word in (a, b)]
        p, q = (
            (fmt.largest_finite * 2 * (-1 if word >> fmt.sign_bit & fmt.signed else 1))
            if big
            else fmt.value(word)
            for word, big in zip((a, b), infinite, strict=True)
        )
        assert words[:3] == [p == q, p < q, p <= q], (a, b)
        larger = a if p > q else b if q > p else min(a, b)  # of two zeros +0, the smaller word
        assert words[3] == words[4] == larger, (a, b)


@pytest.mark.parametrize(
    ("source", "target"), [("s8", "f16"), ("s32", "f32"), ("u32", "f32"), ("s32", "bf16")]
)
def test_integers_are_rounded_once(source: str, target: str) -> None:
    fmt, wanted = INTEGERS[source], FORMATS[target]
    x = var("x", fmt.width)
    run = Program([converted(fmt, wanted, x, ROUNDINGS["RNE"], saturate=False, nans=QUIET).word()])
    rng = np.random.default_rng(5)
    words = [0, 1, fmt.high, fmt.word_of_count(fmt.low), *rng.integers(0, 1 << fmt.width, 200).tolist()]
    (found,) = run.run({"x": np.array(words, np.uint64)})
    for word, result in zip(words, found.tolist(), strict=True):
        assert result == wanted.nearest_word(fmt.value(int(word)))


@pytest.mark.parametrize("source", [FORMATS["f32"], INTEGERS["s32"]], ids=lambda fmt: fmt.name)
def test_a_conversion_to_a_format_without_a_zero_is_refused(source: AnyFormat) -> None:
    with pytest.raises(TcsmtError, match="ue8m0, which has no zero"):
        converted(source, FORMATS["ue8m0"], var("x", 32), ROUNDINGS["RNE"], saturate=False, nans=QUIET)


@pytest.mark.parametrize("up", [False, True])
@pytest.mark.parametrize("shift", [0, -8, 300, -300])
def test_powers_of_two_are_next_to_the_number(up: bool, shift: int) -> None:
    """Terms and arrays, by logarithms of exact numbers; beyond the format are its ends."""
    rng = np.random.default_rng(5)
    words = rng.integers(0, 1 << 32, 400, dtype=np.uint32)
    words[:9] = [0, 1 << 31, 1, 0x00400000, 0x00400001, 0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0x3F800000]
    words[9:12] = [0x7F800000, 0xFF800000, 0x7FC00000]
    (found,) = Program([power_of_two(var("x", 32), shift, up=up)]).run({"x": words})
    assert (found == outside.powers_of_two(words, shift, up=up)).all()
    for word, own in zip(words.tolist(), found.tolist(), strict=True):
        if F32.is_nan(word):
            assert own == 255
            continue
        size = Fraction(2) ** 128 if F32.is_infinite(word) else abs(F32.value(word))
        size = max(size, Fraction(2) ** -127)
        exponent = -127
        while Fraction(2) ** (exponent + 1) <= size:
            exponent += 1
        if up and Fraction(2) ** exponent < size:
            exponent += 1
        assert own == min(max(exponent + shift + 127, 0), 254), hex(word)


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_maxima_and_comparisons_of_arrays_are_those_of_terms(name: str) -> None:
    """Where the processor compares, on words of every kind."""
    fmt = FORMATS[name]
    kinds = [0, 1 << fmt.sign_bit, 1, fmt.infinity_word, fmt.infinity_word | 1 << fmt.sign_bit, fmt.nan_word]
    kinds += [fmt.word(Fraction(3)), fmt.word(Fraction(-3)), (1 << fmt.sign_bit) + 1, fmt.infinity_word + 1]
    x, y = (part.reshape(-1) for part in np.meshgrid(*[np.array(kinds, unsigned(fmt))] * 2))
    sides = (var(side, fmt.width) for side in "xy")
    left, right = sides
    for relation in ("equal", "less", "less_equal"):
        (own,) = Program([compared(fmt, left, right, relation)]).run({"x": x, "y": y})
        assert (own == outside.compared(fmt, x, y, relation)).all()
    for nan in ("propagated", "ignored"):
        (own,) = Program([maximum(fmt, left, right, nan, QUIET.computed(fmt))]).run({"x": x, "y": y})
        assert (own == outside.maximum(fmt, x, y, nan, QUIET)).all()
