"""One fused sum and what is said of it: each of the terms on all inputs, against exact numbers."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tcsmt.language.terms import Term, const, var
from tcsmt.matrix_units.arithmetic.datapath import Exponent
from tcsmt.matrix_units.arithmetic.formats import Format, Specials
from tcsmt.matrix_units.models import FusedDotAdd, Kind
from tcsmt.prove.engine.blocks import Block, below, clear, cut_off, inside, loses_bits, multiple_of
from tcsmt.prove.statements.domain import Domain
from tests.oracles import terms, tiny

NARROW = tiny.described(exponent_bits=2, fraction_bits=1, bias=1, specials=Specials.NONE)
IEEE = tiny.described(exponent_bits=2, fraction_bits=1, bias=1)
RESULT = tiny.described(exponent_bits=3, fraction_bits=2, bias=3)
#: One product of numbers that may be infinities and NaNs; zeros enter with a small exponent.
UNIT = FusedDotAdd.of(
    a_format=IEEE, b_format=IEEE, c_format=IEEE, d_format=RESULT, k=1, n_fma=1, fraction_bits=7,
    alignment="RTZ", rounding="RNE", zero_exponent=-3,
)  # fmt: skip
(COLUMNS,) = tiny.Everything.of(UNIT.input_formats, Domain(finite=False))
ROWS = len(COLUMNS["c"])


def block(unit: FusedDotAdd = UNIT) -> Block:
    found = Block.of(unit.trace.stages, {})
    assert found is not None
    return found


def on_all_inputs(term: Term) -> np.ndarray:
    return np.broadcast_to(terms.values([term], COLUMNS)[0], ROWS).astype(bool)


def value(fmt: Format, word: int) -> Fraction | None:
    """None: an infinity or a NaN."""
    return None if fmt.is_nan(word) or fmt.is_infinite(word) else fmt.value(word)


VALUES = [tuple(value(IEEE, int(COLUMNS[name][row])) for name in ("a0", "b0", "c")) for row in range(ROWS)]


def test_blocks_are_read_from_their_stages() -> None:
    one, trace = block(), UNIT.trace
    assert one.result is trace.output and one.format == RESULT
    assert (one.top.term, one.sum.word) == tuple(
        trace.of(k)[0].term for k in (Kind.LARGEST_EXPONENT, Kind.SUM)
    )
    assert len(one.sources) == len(one.aligned) == 2
    assert one.last_bit == 2 * (IEEE.e_min - IEEE.fraction_bits)
    assert one.plain
    assert not replace(one, aligned=one.aligned[:1]).plain


def test_sums_without_a_common_exponent_are_not_blocks() -> None:
    for change in ({"normalisation": "every"}, {"c_position": "summed"}):
        assert Block.of(UNIT.replace(**change).trace.stages, {}) is None
    both = UNIT.replace(k=2, c_format=RESULT)
    assert Block.of(both.trace.stages, {}) is None  # two of them


def test_replaced_terms_are_seen_everywhere() -> None:
    """c is another input: every term of the block is about it."""
    c, other = UNIT.trace.c, var("other", UNIT.trace.c.width)
    found = Block.of(UNIT.trace.stages, {c: other})
    assert found is not None
    columns = {**COLUMNS, "other": COLUMNS["c"], "c": np.zeros(ROWS, np.int64)}
    for now, before in (
        (found.result, block().result),
        (found.special, block().special),
        (found.top.term, block().top.term),
    ):
        assert np.array_equal(terms.values([now], columns)[0], terms.values([before], COLUMNS)[0])


def test_infinities_and_nans() -> None:
    expected = [None in row for row in VALUES]
    # an infinity times zero is a NaN; every special word makes a special term
    assert on_all_inputs(block().special).tolist() == expected


def has_a_term(a: Fraction | None, b: Fraction | None, c: Fraction | None) -> bool:
    """Whether all are numbers, and the product or c is not zero."""
    return a is not None and b is not None and c is not None and any((a * b, c))


def test_no_term_is_above_the_largest_exponent() -> None:
    one = block()
    assert not on_all_inputs(one.above).any()
    lower = replace(one, top=one.top.plus(-1))
    finite = np.array([has_a_term(*row) for row in VALUES])
    found = on_all_inputs(lower.above)
    assert found[finite].any() and not found[np.array([row == (0, 0, 0) for row in VALUES])].any()
    each = [on_all_inputs(lower.above_by(number)) for number in range(2)]
    assert np.array_equal(found, each[0] | each[1]) and each[0].any() and each[1].any()
    assert not on_all_inputs(one.zero_with_bits).any()


def test_below_the_largest_exponent() -> None:
    one = block()
    for number, x in enumerate(one.aligned):
        found = on_all_inputs(below(x, one.top))
        own = [(row[0], row[1]) if not number else (row[2],) for row in VALUES]
        assert found.tolist() == [None not in words for words in own]
        lower = one.top.plus(-40)
        zero = [None not in words and 0 in words for words in own]
        assert on_all_inputs(below(x, lower)).tolist() == zero


def test_another_exponent_is_put_for_the_largest() -> None:
    one = block()
    ((term, by),) = one.at(one.top.plus(0)).items()
    assert term is one.top.term
    assert np.array_equal(terms.values([by], COLUMNS)[0], terms.values([term], COLUMNS)[0])


# --- words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("fmt", [RESULT, NARROW, IEEE])
def test_multiples_are_exactly_the_words_with_whole_quotients(fmt: Format) -> None:
    word = var("x", fmt.width)
    words = np.arange(1 << fmt.width)
    for last_bit in range(fmt.e_min - fmt.fraction_bits - 2, fmt.e_max + 3):
        (found,) = terms.values([multiple_of(fmt, word, last_bit)], {"x": words})
        for one, fine in zip(words, found, strict=True):
            exact = value(fmt, int(one))
            whole = exact is None or (exact / Fraction(2) ** last_bit).denominator == 1
            assert bool(fine) == whole, (int(one), last_bit)


def test_low_bits_that_are_cut() -> None:
    word, count = var("word", 5), var("count", 7)
    rows = np.arange(1 << 12)
    columns = {"word": rows & 31, "count": rows >> 5}
    (found,) = terms.values([cut_off(word, count)], columns)
    expected = [w >> n << n for w, n in zip((rows & 31).tolist(), (rows >> 5).tolist(), strict=True)]
    assert found.astype(np.int64).tolist() == expected


@pytest.mark.parametrize("places", [0, 1, 3, 4])
def test_room_for_a_shift(places: int) -> None:
    """Whether the shifted number is one of as many bits."""
    words = np.arange(32)
    (found,) = terms.values([loses_bits(var("word", 5), places)], {"word": words})
    numbers = np.where(words < 16, words, words - 32) << places
    assert np.broadcast_to(found, 32).astype(bool).tolist() == ((numbers < -16) | (numbers > 15)).tolist()


def test_zeros_of_a_multiple_and_ranges() -> None:
    """Of an exponent from -5 to 10, in each of its words."""
    words = np.arange(16)
    x = Exponent(var("e", 4), -5, 10)
    for last_bit in (-8, -5, 0, 3, 12):
        (found,) = terms.values([clear(x, last_bit)], {"e": words})
        assert found.astype(np.int64).tolist() == [max(0, last_bit - (int(word) - 5)) for word in words]
    for low, high in ((-5, 10), (-2, 3), (4, 4), (-9, -7), (0, 30)):
        (inner,) = terms.values([inside(x, Exponent(const(0, 8), low, high))], {"e": words})
        expected = [low <= int(word) - 5 <= high for word in words]
        assert np.broadcast_to(inner, 16).astype(bool).tolist() == expected
