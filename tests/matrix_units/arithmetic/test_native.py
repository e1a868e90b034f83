"""Native operations on floats: their definitions against the processor's, and what they leave open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from form_proofs.unspecified import unspecified
from hypothesis import given
from hypothesis import strategies as st

from tcsmt.language.run.arrays import Program
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import operands_first, var
from tcsmt.matrix_units.arithmetic import native

X, Y = var("x", 32), var("y", 32)
V, W = var("v", 64), var("w", 64)
WORDS = st.integers(0, (1 << 32) - 1)
DOUBLES = st.integers(0, (1 << 64) - 1)


def floats(*words: int) -> Any:
    """As numbers of binary32."""
    return np.array(words, dtype=np.uint32).view(np.float32)


def word(number: Any) -> int:
    """Of a number of binary32."""
    return int(np.float32(number).view(np.uint32))


@pytest.mark.slow
@given(WORDS, WORDS)
def test_a_product_is_the_processors(x: int, y: int) -> None:
    with np.errstate(all="ignore"):
        product = np.multiply(*floats(x, y))
    result, nan = evaluate([native.multiply(X, Y), native.product(X, Y).nan], {"x": x, "y": y})
    assert nan == np.isnan(product)
    assert nan or result == word(product)


@pytest.mark.slow
@given(WORDS, WORDS)
def test_a_sum_is_the_processors(x: int, y: int) -> None:
    with np.errstate(all="ignore"):
        whole = np.add(*floats(x, y))
    (result,) = evaluate([native.add(X, Y)], {"x": x, "y": y})
    (opened,) = unspecified([native.add(X, Y)])
    (other,) = evaluate([opened], {"x": x, "y": y, "open0": 5})
    assert other == (5 if np.isnan(whole) else word(whole))
    assert np.isnan(whole) or result == word(whole)


def doubles(*words: int) -> Any:
    """As numbers of binary64."""
    return np.array(words, dtype=np.uint64).view(np.float64)


@pytest.mark.slow
@given(DOUBLES, DOUBLES)
def test_a_sum_in_binary64_is_the_processors(v: int, w: int) -> None:
    with np.errstate(all="ignore"):
        whole = np.add(*doubles(v, w))
    (result,) = evaluate([native.add_double(V, W)], {"v": v, "w": w})
    (opened,) = unspecified([native.add_double(V, W)])
    (other,) = evaluate([opened], {"v": v, "w": w, "open0": 5})
    assert other == (5 if np.isnan(whole) else int(whole.view(np.uint64)))
    assert np.isnan(whole) or result == other


@pytest.mark.slow
@given(WORDS, DOUBLES)
def test_conversions_are_the_processors(x: int, v: int) -> None:
    (single,), (double,) = floats(x), doubles(v)
    with np.errstate(all="ignore"):
        expected = [single.astype(np.float64).view(np.uint64), double.astype(np.float32).view(np.uint32)]
        expected.append(single.astype(np.float16).view(np.uint16))
    roots = unspecified([native.to_double(X), native.to_single(V), native.to_half(X)])
    results = evaluate(roots, {"x": x, "v": v, "open0": 5, "open1": 5, "open2": 5})
    nans = [np.isnan(number) for number in (single, double, single)]
    assert results == [5 if nan else int(word) for nan, word in zip(nans, expected, strict=True)]


@given(WORDS)
def test_an_integer_is_a_number_truncated(x: int) -> None:
    (number,) = floats(x).astype(np.float64)
    (result,) = evaluate([native.to_integer(X)], {"x": x})
    assert result == (int(number) % (1 << 32) if abs(number) < 1 << 31 else 1 << 31)


@given(WORDS)
def test_a_number_is_an_integer_rounded(x: int) -> None:
    integer = x - (x >> 31 << 32)
    assert evaluate([native.from_integer(X)], {"x": x}) == [word(np.int32(integer).astype(np.float32))]


@pytest.mark.parametrize("make", [native.add, native.multiply, native.to_integer, native.from_integer])
def test_many_words_of_each_size(make: Callable[..., Any]) -> None:
    """Exponents of both factors that make subnormal, zero and infinite results, and integers of any size."""
    rng = np.random.default_rng(1)
    fields = rng.integers(0, 255, (2, 20000)).astype(np.uint32)
    x, y = fields << 23 | rng.integers(0, 1 << 23, fields.shape, dtype=np.uint32) & rng.choice(
        np.array([0x7FFFFF, 0x700000, 0x7], dtype=np.uint32), fields.shape
    )
    x |= rng.integers(0, 2, x.shape).astype(np.uint32) << 31
    number, other = x.view(np.float32), y.view(np.float32)
    with np.errstate(all="ignore"):
        match make:
            case native.add:
                expected = (number + other).view(np.uint32)
            case native.multiply:
                expected = (number * other).view(np.uint32)
            case native.to_integer:
                x, number = (own[np.abs(number) < 1 << 31] for own in (x, number))
                y, expected = y[: len(x)], number.astype(np.int32).view(np.uint32)
            case _:
                expected = x.view(np.int32).astype(np.float32).view(np.uint32)
    arguments = [X, Y] if make in (native.add, native.multiply) else [X]
    (result,) = Program([make(*arguments)]).run({"x": x, "y": y})
    assert np.array_equal(result, expected)


def test_many_doubles_near_each_other_and_near_binary32s_ends() -> None:
    """Sums that cancel and carry; and conversions that tie, and become subnormal, zero or infinite."""
    rng, count = np.random.default_rng(2), 20000
    near = rng.integers(0x3A00 - 0x1000, 0x4900, count).astype(np.uint64) << 48
    v, w = (near + (rng.integers(-60, 61, count) << 52).astype(np.uint64) for _ in range(2))
    ends = np.array([0xFFFFFFFFFFFF, 0xFFFFE0000000, 0x10000000, 0], dtype=np.uint64)
    v, w = (x | rng.integers(0, 1 << 48, count).astype(np.uint64) & rng.choice(ends, count) for x in (v, w))
    w ^= rng.integers(0, 2, count).astype(np.uint64) << 63
    roots = [native.add_double(V, W), native.to_single(V), native.to_double(native.to_single(V))]
    results = Program(roots).run({"v": v, "w": w})
    number = v.view(np.float64)
    with np.errstate(all="ignore"):
        narrow = number.astype(np.float32)
        expected = [number + w.view(np.float64), narrow, narrow.astype(np.float64)]
    for result, own in zip(results, expected, strict=True):
        assert np.array_equal(result, own.view(f"u{own.itemsize}"))


def test_what_is_left_open_is_a_free_variable() -> None:
    """Only there: a NaN's word, and an integer out of range."""
    roots = unspecified([native.multiply(X, Y), native.to_integer(native.multiply(X, Y))])
    assert all(node.op != "macro" for node in operands_first(roots))
    nan, one, large = 0x7FC00001, word(1.0), word(2.0**31)
    for x, y, open_words, expected in (
        (one, one, (7, 9), [one, 1]),
        (large, one, (7, 9), [large, 9]),
        (nan, one, (7, 9), [7, 0]),
        (nan, one, (nan, 9), [nan, 9]),
    ):
        values = {"x": x, "y": y} | {f"open{number}": value for number, value in enumerate(open_words)}
        assert evaluate(roots, values) == expected


def test_one_operation_is_left_open_once() -> None:
    """The same node is the same instruction, whose word is one word."""
    product = native.multiply(X, Y)
    (same,) = unspecified([product.eq(product ^ 0)])
    (double,) = unspecified([(product ^ product)])
    assert same.value == 1 and double.value == 0
