"""What rounding modes say of themselves, against what the words in their definitions mean."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor

import pytest

from tcsmt.language.terms import FALSE, TRUE
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding

#: Quarters about 0, 1 and 2, of both signs: every sign, last bit, first dropped bit, and one below it.
NUMBERS = [Fraction(n, 4) for n in range(-11, 12) if n]


def rounded(mode: Rounding, x: Fraction) -> int:
    """The whole number that a mode makes of a number, by what it says of the bits."""
    kept, quarters = floor(abs(x)), int(abs(x) * 4) % 4
    bits = (x < 0, kept % 2, quarters // 2, quarters % 2)
    away = mode.away(*(TRUE if bit else FALSE for bit in bits)).value
    return (kept + (away or 0)) * (-1 if x < 0 else 1)


def follows(mode: Rounding, rule: Callable[[Fraction], int]) -> bool:
    return all(rounded(mode, x) == rule(x) for x in NUMBERS)


def half_away(x: Fraction) -> int:
    return floor(abs(x) + Fraction(1, 2)) * (-1 if x < 0 else 1)


def odd(x: Fraction) -> int:
    """The number itself, or the odd one of its two neighbours."""
    return int(x) if x.denominator == 1 else next(n for n in (floor(x), ceil(x)) if n % 2)


@pytest.mark.parametrize("mode", ROUNDINGS.values(), ids=str)
def test_roundings_do_what_their_properties_say(mode: Rounding) -> None:
    assert mode.truncates == follows(mode, int) == (mode.name == "RTZ")
    assert mode.floors == follows(mode, floor) == (mode.name == "RTN")
    assert mode.ties_to_even == follows(mode, round) == (mode.name == "RNE")
    assert mode.ties_away == follows(mode, half_away) == (mode.name == "RNA")
    assert mode.to_odd == follows(mode, odd) == (mode.name == "RTO")
    assert mode.nearest == all(abs(rounded(mode, x) - x) <= Fraction(1, 2) for x in NUMBERS)


def test_overflow_by_sign() -> None:
    """Rounding up makes an infinity of a large positive number, the largest finite one of a negative."""
    assert [name for name, mode in ROUNDINGS.items() if mode.overflows_by_sign] == ["RTP", "RTN"]
    up, down = ROUNDINGS["RTP"], ROUNDINGS["RTN"]
    assert follows(up, ceil)
    assert up.overflows(negative=False)
    assert not up.overflows(negative=True)
    assert down.overflows(negative=True)
    assert not ROUNDINGS["RTZ"].overflows(negative=False)
