"""Numbers as words: every sum, difference and comparison is the integers' own, however large they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, var
from tcsmt.matrix_units.arithmetic.datapath import Exponent
from tcsmt.matrix_units.arithmetic.integers import Integer, signed, signed_word

FURTHEST = 6000


@st.composite
def made(draw: st.DrawFn, depth: int = 3) -> tuple[Integer, int, dict[str, int]]:
    """A number made of exponents and constants, what it is, and the words that make it so."""
    if depth and draw(st.booleans()):
        one, x, words = draw(made(depth - 1))
        limit = draw(st.integers(-FURTHEST, FURTHEST))
        match draw(st.integers(0, 4)):
            case 0:
                return one + limit, x + limit, words
            case 1:
                return one.at_most(limit), min(x, limit), words
            case 2:
                return one.at_least(limit), max(x, limit), words
        two, y, others = draw(made(depth - 1))
        words = words | others
        return (one + two, x + y, words) if draw(st.booleans()) else (one - two, x - y, words)
    value = draw(st.integers(-FURTHEST, FURTHEST))
    if draw(st.booleans()):
        return signed_word(value), value, {}
    width = draw(st.integers(1, 13))
    counted = draw(st.integers(0, (1 << width) - 1))
    name = f"x{draw(st.integers(0, 10**6))}, {width}, {counted}"
    exponent = Exponent(var(name, width), value - counted, value - counted + (1 << width) - 1)
    return signed(exponent), value, {name: counted}


def value_of(x: Integer, words: dict[str, int]) -> int:
    (word,) = evaluate([x.word], words)
    return word - (1 << x.word.width) * (word >> (x.word.width - 1))


@pytest.mark.slow
@given(made())
def test_a_word_holds_its_number(found: tuple[Integer, int, dict[str, int]]) -> None:
    number, value, words = found
    assert value_of(number, words) == value
    assert number.low <= value <= number.high


COMPARED: list[tuple[Callable[[Any, Any], Term], Callable[[int, int], bool]]] = [
    (lambda x, y: x.slt(y), lambda x, y: x < y),
    (lambda x, y: x.sle(y), lambda x, y: x <= y),
    (lambda x, y: x.eq(y), lambda x, y: x == y),
    (lambda x, y: x.ne(y), lambda x, y: x != y),
]


@pytest.mark.slow
@given(made(), made(), st.integers(-2 * FURTHEST, 2 * FURTHEST))
def test_comparisons(one: Any, two: Any, constant: int) -> None:
    words = one[2] | two[2]
    for ours, theirs in COMPARED:
        goals = [ours(one[0], two[0]), ours(one[0], constant), ours(one[0], one[0])]
        assert evaluate(goals, words) == [theirs(one[1], two[1]), theirs(one[1], constant), theirs(0, 0)]


@pytest.mark.slow
@given(made(), st.integers(1, 24))
def test_unsigned_words(found: tuple[Integer, int, dict[str, int]], width: int) -> None:
    number, value, words = found
    if 0 <= value < 1 << width:
        assert evaluate([number.unsigned(width)], words) == [value]
        assert number.unsigned(width).width == width


def test_a_free_word_counts_whole() -> None:
    """A variable for an exponent may lie beyond the range that the exponent has."""
    exponent = Exponent(var("top", 12), 100, 130)
    beyond = signed(exponent)
    assert (beyond.low, beyond.high) == (100, 4195)
    assert evaluate([beyond.sle(130)], {"top": 4000}) == [0]
