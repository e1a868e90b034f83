"""Constants of a split: they hold of all numbers, whatever they were guessed from."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tcsmt.analysis.bounds import split_constants
from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.matrix_units.arithmetic.formats import Specials
from tcsmt.programs.steps.split import Split
from tcsmt.prove.statements.domain import Domain
from tests.oracles import recipes, tiny
from tests.oracles.numbers import exponent, lies

WIDE = tiny.described(exponent_bits=5, fraction_bits=4, bias=15)
NARROW = tiny.described(exponent_bits=4, fraction_bits=1, bias=7)
NO_INFINITY = tiny.described(exponent_bits=3, fraction_bits=1, bias=3, specials=Specials.NAN_ONLY)


@pytest.mark.parametrize(
    ("scale", "bits"),
    [(2, 3), *(pytest.param(*one, marks=pytest.mark.long) for one in ((0, 3), (0, 5), (2, 5)))],
)
def test_constants_of_all_numbers_from_one_guess(
    bits: int, scale: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guessed from one number that loses nothing: the others are found by trying all."""

    def one(domain: Domain, wide: Any, bits: int) -> np.ndarray:
        return np.array([wide.word(Fraction(2) ** domain.low)], np.uint32)

    monkeypatch.setattr(split_constants, "_samples", one)
    split_constants.prove_split_constants.cache_clear()
    split, domain = Split(format=NARROW, wide=WIDE, words=2, scale=scale), Domain(exponents=(-2, 1))
    found = split_constants.prove_split_constants(split, domain, bits, 2)
    split_constants.prove_split_constants.cache_clear()
    inside = np.array([x for x in range(1 << WIDE.width) if lies(domain, WIDE, x, bits) and WIDE.value(x)])
    sizes = [Fraction(0), Fraction(0)]
    exponents, left = [Fraction(0), Fraction(0)], Fraction(0)
    for x, *parts in zip(inside.tolist(), *(p.tolist() for p in recipes.split(split, inside)), strict=True):
        whole = WIDE.value(x)
        values = [NARROW.value(word) for word in parts]
        for n, value in enumerate(values):
            if value:
                sizes[n] = max(sizes[n], abs(value / whole) / 2 ** (scale * n))
                power = Fraction(2) ** (exponent(NARROW, value) - scale * n)
                exponents[n] = max(exponents[n], power / abs(whole))
        rest = whole - sum(value / 2 ** (scale * n) for n, value in enumerate(values))
        left = max(left, abs(rest / whole))
    for given, right in zip(
        (*found.sizes, *found.exponents, found.left), (*sizes, *exponents, left), strict=True
    ):
        assert right <= given <= right * Fraction(17, 16), (found, sizes, exponents, left)


@pytest.mark.parametrize("power", range(5, 15))
def test_numbers_beyond_a_format_without_infinities(power: int) -> None:
    """They become the largest number, which is said to have another exponent than it has."""
    split, domain = (
        Split(format=NO_INFINITY, wide=WIDE, words=1),
        Domain(exponents=(power, power), bits=(1, 1)),
    )
    assert NO_INFINITY.e_max == 4
    with pytest.raises(Unbounded, match="overflows"):
        split_constants.prove_split_constants(split, domain, 1, 1)
