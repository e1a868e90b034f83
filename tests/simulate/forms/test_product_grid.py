"""Products on a grid: exponent words that are the products' exponents, and what is left of products there."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from tcsmt.language.run.arrays import Program
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import const, var
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.matrix_units.arithmetic.ieee import widen
from tcsmt.simulate.forms.product_grid import BIAS, WIDE, GridNumbers, exact_products, exponent_word
from tcsmt.support.invariants import not_none

FRACTION_BITS = 13


def numbers(a: str, b: str) -> GridNumbers:
    """Of products of two formats."""
    found = GridNumbers.of(FORMATS[a], FORMATS[b], FRACTION_BITS, scale=None, zero_exponent=None)
    assert found is not None
    return found


def exponent(fmt: Format, word: int) -> int:
    """Of a finite number, by its fields: subnormal ones have that of the smallest normal one."""
    return max(word >> fmt.fraction_bits & (1 << fmt.exponent_bits) - 1, 1) - fmt.bias


@pytest.mark.slow
@pytest.mark.parametrize(("a", "b"), [("e4m3", "e5m2"), ("e2m1", "e3m2"), ("e4m3fnuz", "e5m2fnuz")])
def test_exponent_words_of_all_pairs(a: str, b: str) -> None:
    """The sum of two is the product's exponent; less than any with a zero, more with a NaN or an infinity."""
    grid, left, right = numbers(a, b), FORMATS[a], FORMATS[b]
    word = grid.exponent([var("a", left.width), var("b", right.width)])
    pairs = list(product(range(1 << left.width), range(1 << right.width)))
    columns = np.array(pairs, np.uint32).T
    (words,) = Program([word]).run({"a": columns[0], "b": columns[1]})
    for (x, y), sum_of_words in zip(pairs, map(int, words), strict=True):
        if any(fmt.is_nan(w) or fmt.is_infinite(w) for fmt, w in ((left, x), (right, y))):
            assert sum_of_words > grid.bias + BIAS + left.e_max + right.e_max
        elif left.value(x) == 0 or right.value(y) == 0:
            assert sum_of_words < grid.least
        else:
            assert sum_of_words == exponent(left, x) + exponent(right, y) + BIAS + grid.bias >= grid.least


@pytest.mark.slow
def test_what_is_left_of_a_product() -> None:
    """Its integer part in units of 2^(grid - F), on each grid from its own exponent on."""
    fmt, grid = FORMATS["e4m3"], numbers("e4m3", "e4m3")
    pair = [var("a", 8), var("b", 8)]
    own, top = grid.exponent(pair), var("grid", 32)
    lane = grid.lane(pair, own, grid.scale(top))
    for x, y in product(range(1, 127, 7), range(129, 255, 5)):
        values = Fraction(fmt.value(x)) * Fraction(fmt.value(y))
        (exponent_of_both,) = evaluate([own], {"a": x, "b": y})
        for above in (0, 1, 5, 14):
            place = exponent_of_both + above
            (aligned,) = evaluate([lane.aligned], {"a": x, "b": y, "grid": place})
            units = values * Fraction(2) ** (FRACTION_BITS - (place - BIAS - grid.bias))
            assert aligned - (aligned >> 31 << 32) == int(units)
            assert abs(int(units)) <= grid.largest_aligned


def test_which_formats_have_exact_products() -> None:
    held = {name: exact_products(FORMATS[name], FORMATS[name]) for name in ("f16", "bf16", "tf32", "f32")}
    assert held == {"f16": True, "bf16": True, "tf32": True, "f32": False}
    assert GridNumbers.of(FORMATS["f32"], FORMATS["f32"], 24, scale=None, zero_exponent=None) is not None


def test_a_scale_with_few_exponents_is_no_reason_to_refuse() -> None:
    """Scales take room from exponent words: what is refused is a product that binary32 does not hold."""
    scale = FORMATS["ue8m0"]
    assert GridNumbers.of(FORMATS["e4m3"], FORMATS["e4m3"], 25, scale=scale, zero_exponent=None) is not None
    assert GridNumbers.of(FORMATS["bf16"], FORMATS["bf16"], 25, scale=scale, zero_exponent=None) is None


def test_the_word_of_one_operand() -> None:
    fmt = FORMATS["f16"]
    word, zero, nan = (exponent_word(fmt, const(x, 16), 7).value for x in (0x3C00, 0x8000, fmt.nan_word or 0))
    assert (word, zero) == (fmt.bias + 7, 0)
    assert not_none(nan) > 1 << 13
    assert widen(const(0x3C00, 16), fmt, WIDE).value == 0x3F800000
