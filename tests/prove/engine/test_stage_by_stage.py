"""Pairs of words that two models make at the same stage: what is said of them holds on all values."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from tcsmt.language.terms import FALSE, Term, var
from tcsmt.matrix_units.arithmetic.datapath import Exponent, Fixed, Number
from tcsmt.matrix_units.arithmetic.formats import Format, Specials
from tcsmt.matrix_units.models import Kind, Stage
from tcsmt.prove.engine.stage_by_stage import _paired
from tests.oracles import terms, tiny

NARROW = tiny.described(exponent_bits=2, fraction_bits=1, bias=1, specials=Specials.NONE)
IEEE = tiny.described(exponent_bits=2, fraction_bits=1, bias=1)

pytestmark = pytest.mark.usefixtures("no_luck")


def stage(value: Exponent | Fixed | Number | Format, term: Term) -> Stage:
    return Stage(None, Kind.SUM, None, value, term)


def fixed(name: str, width: int, bits: int = 2) -> Stage:
    word = var(name, width)
    return stage(Fixed(word, Exponent.constant(0), bits), word)


def number(name: str, width: int, bits: int) -> Stage:
    word = var(name, width)
    return stage(Number(FALSE, Exponent.constant(0), word, bits, FALSE, FALSE, FALSE), word)


def held_pair(one: Stage, two: Stage, value: Callable[[Stage, int], int | None]) -> None:
    """Equal values do not differ; and where a pair does not, the replacement is the second word."""
    paired = _paired(one, two, two.term)
    assert paired is not None
    assert paired.replacement.width == two.term.width
    for x, y in product(range(1 << one.term.width), range(1 << two.term.width)):
        values = value(one, x), value(two, y)
        if None in values:
            continue
        given = {"x": np.array([x]), "y": np.array([y])}
        found = terms.values([paired.differ, paired.replacement, paired.fact], given)
        differ, replacement, fact = (int(word[0]) for word in found)
        assert differ == (values[0] != values[1]), (one, two, x, y)
        assert differ or (replacement == y and fact == 1), (one, two, x, y)


def signed(stage: Stage, word: int) -> int:
    width = stage.term.width
    return word - (word >> (width - 1) << width)


def test_sums_of_other_widths() -> None:
    for one, two in product((2, 3, 5), repeat=2):
        held_pair(fixed("x", one), fixed("y", two), signed)


def test_sums_fit_a_narrower_word_where_the_rest_is_the_sign() -> None:
    """What is cut off a wider word is its sign."""
    paired = _paired(fixed("x", 5), fixed("y", 3), var("y", 3))
    assert paired is not None
    (fits,) = terms.values([paired.fact], {"x": np.arange(32), "y": np.zeros(32, np.int64)})
    assert [n for n in range(32) if fits[n]] == [0, 1, 2, 3, 28, 29, 30, 31]


def test_exponents_of_other_ranges() -> None:
    def value(stage: Stage, word: int) -> int | None:
        assert isinstance(stage.value, Exponent)
        found = stage.value.low + word
        return found if found <= stage.value.high else None

    ranges = [(-3, 0), (-2, 5), (0, 3), (-8, 9), (4, 6)]
    for (low, high), (low2, high2) in product(ranges, repeat=2):
        x, y = (var(n, (h - w).bit_length()) for n, w, h in (("x", low, high), ("y", low2, high2)))
        held_pair(stage(Exponent(x, low, high), x), stage(Exponent(y, low2, high2), y), value)


def test_words_that_cannot_be_equal() -> None:
    """Of other kinds, or counted in other units."""
    held_pair(number("x", 3, 1), number("y", 3, 1), lambda stage, word: word)
    word = var("y", 4)
    fmt = stage(NARROW, word)
    other = stage(IEEE, word)
    pairs = [
        (fixed("x", 4, 2), fixed("y", 4, 3)),
        (number("x", 4, 2), number("y", 4, 3)),
        (number("x", 4, 2), number("y", 5, 2)),
        (number("x", 4, 2), fixed("y", 4, 2)),
        (fmt, other),
        (fmt, fixed("y", 4)),
        (fmt, stage(NARROW, var("x", 5))),
    ]
    for one, two in pairs:
        assert _paired(one, two, two.term) is None
        assert _paired(two, one, one.term) is None
    assert _paired(fmt, stage(NARROW, var("x", 4)), var("x", 4)) is not None
