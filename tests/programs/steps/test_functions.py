"""Functions to the nearest number, against decimals of many digits."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from tcsmt.matrix_units.arithmetic.conversion import QUIET
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.programs.steps.functions import FUNCTIONS


def power(x: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = 200  # of an integer, all digits
        return Fraction(Decimal(2) ** (Decimal(x.numerator) / Decimal(x.denominator)))


@pytest.mark.parametrize("name", ["f32", "bf16", "f16"])
def test_powers_of_two_are_the_nearest(name: str) -> None:
    """Among them the smallest numbers, and the middle of zero and the smallest one."""
    fmt = FORMATS[name]
    rng = np.random.default_rng(7)
    least = fmt.e_min - fmt.fraction_bits
    values = [Fraction(n) for n in (0, 1, -1, least, least - 1, least - 2, fmt.e_max)]
    values += [Fraction(float(x)) for x in rng.uniform(least - 3, fmt.e_max, 60)]
    values += [Fraction(float(x)) for x in rng.standard_normal(40) * 2.0**-9]
    words = [fmt.nearest_word(value) for value in values]
    found = FUNCTIONS["ex2"](fmt, np.array(words, unsigned(fmt)), QUIET)
    for word, result in zip(words, found, strict=True):
        assert int(result) == fmt.nearest_word(power(fmt.value(word))), fmt.describe(word)


def test_the_ends() -> None:
    fmt = FORMATS["f32"]
    given = np.array([np.inf, -np.inf, np.nan, 128, 1e30, -1e30], np.float32).view(np.uint32)
    found = FUNCTIONS["ex2"](fmt, given, QUIET)
    assert found.tolist() == [0x7F800000, 0, 0x7FC00000, 0x7F800000, 0x7F800000, 0]
