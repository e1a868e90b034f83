"""Ranges of multiples of a power of two: every number that they should have, they have."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random

import pytest

from tcsmt.analysis.exactness.lattice import ZERO, Lattice, integers_up_to, largest_integer, missing_integer
from tcsmt.matrix_units.arithmetic.formats import (
    FORMATS,
    AnyFormat,
    Format,
    IntegerFormat,
    Specials,
    integers_from,
)


def some(rng: Random) -> Lattice:
    last = rng.randrange(-3, 3)
    low, high = sorted(rng.randrange(-5, 6) for _ in range(2))
    return Lattice(low * Fraction(2) ** last, high * Fraction(2) ** last, last) if low < high else ZERO


def numbers(x: Lattice) -> list[Fraction]:
    step = Fraction(2) ** x.last
    return [x.low + n * step for n in range(int((x.high - x.low) / step) + 1)]


def has(x: Lattice, number: Fraction) -> bool:
    return not number or (x.low <= number <= x.high and not number % Fraction(2) ** x.last)


@pytest.mark.parametrize("seed", range(40))
def test_results_on_numbers_lie_in_the_result_on_lattices(seed: int) -> None:
    rng = Random(seed)
    one, two = some(rng), some(rng)
    for x, y in product(numbers(one), numbers(two)):
        assert has(one + two, x + y)
        assert has(one * two, x * y)
    for x, y in product(numbers(one), repeat=2):
        assert has(one.times(2), x + y)
    places = rng.randrange(-4, 5)
    assert all(has(one.shifted(places), x * Fraction(2) ** places) for x in numbers(one))
    if not one.zero:
        assert Fraction(2) ** one.leading <= max(map(abs, numbers(one))) < Fraction(2) ** (one.leading + 1)


@pytest.mark.parametrize("name", ["e4m3", "e5m2", "e2m1", "ue4m3"])
def test_integers_of_a_format(name: str) -> None:
    fmt = FORMATS[name]
    finite = [fmt.value(word) for word in range(1 << fmt.width) if not fmt.is_special(word)]
    for limit in (1, 3, 16, 17, 100, 1000):
        found = integers_up_to(fmt, limit)
        held = [x for x in finite if abs(x) <= limit and x.denominator == 1]
        assert (found.low, found.high, found.last) == (min([*held, Fraction(0)]), max(held), 0)


def test_integers_of_integer_formats() -> None:
    found = integers_up_to(integers_from(-8, 7, 0), 100)
    assert (found.low, found.high) == (-8, 7)
    found = integers_up_to(IntegerFormat(name="u4", bits=4, signed=False), 3)
    assert (found.low, found.high) == (0, 3)


FLOATS = [
    *(FORMATS[name] for name in ("e4m3", "e5m2", "e2m1", "e3m2", "e2m3", "ue4m3", "ue8m0")),
    Format(name="coarse", exponent_bits=3, fraction_bits=2, bias=-1),
    Format(name="fine", exponent_bits=3, fraction_bits=3, bias=1),
    Format(name="far", exponent_bits=2, fraction_bits=2, bias=-4, specials=Specials.NAN_ONLY),
]  # fmt: skip
INTEGERS = [IntegerFormat(name="s4", bits=4), IntegerFormat(name="u4", bits=4, signed=False),
            IntegerFormat(name="q", bits=5, fraction_bits=2)]  # fmt: skip


@pytest.mark.parametrize("fmt", [*FLOATS, *INTEGERS], ids=lambda fmt: fmt.name)
def test_the_largest_integer_up_to_which_none_is_missing(fmt: AnyFormat) -> None:
    """By all words: every integer of the range is there up to it, and the next one is not."""
    words = (w for w in range(1 << fmt.width) if not (fmt.is_nan(w) or fmt.is_infinite(w)))
    numbers = {fmt.value(word) for word in words}
    least, most = min(numbers), max(numbers)
    found = largest_integer([fmt])

    def lacks(n: int) -> bool:
        return n != 0 and least <= n <= most and n not in numbers

    assert not any(lacks(n) for n in range(-found, found + 1))
    assert lacks(found + 1) or found == max(-least // 1, most // 1)
    assert not missing_integer([fmt], found)
    assert str(found) in missing_integer([fmt], found + 1)


def test_integers_of_two_formats() -> None:
    """The range of one may be that of the other's; what is missing in one is missing."""
    s8, u8 = IntegerFormat(name="s8", bits=8), IntegerFormat(name="u8", bits=8, signed=False)
    assert largest_integer([s8, u8]) == largest_integer([u8, s8]) == 255
    assert {"s8", "128"} <= {*missing_integer([s8, s8], 1 << 64).split()}
    f16, e5m2 = FORMATS["f16"], FORMATS["e5m2"]
    assert largest_integer([f16, e5m2]) == 8
    assert {"f16", "2049:", "2048"} <= {*missing_integer([f16, f16], 3000).split()}
    assert largest_integer([f16, s8]) == 2048
