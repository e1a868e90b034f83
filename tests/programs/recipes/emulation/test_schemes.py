"""The parameters of schemes: moduli, weights, the condition, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import gcd, log2

import pytest

from tcsmt.matrix_units.arithmetic.formats import FORMATS, integers_from
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.programs.recipes.emulation.schemes import (
    Residues,
    Slices,
    digits_of_residues,
    has_integers,
    moduli,
)
from tcsmt.programs.recipes.emulation.slicing import Slicing
from tcsmt.support.errors import TcsmtError
from tests.support.emulations import UNIT


def test_moduli_have_no_common_divisor() -> None:
    found = moduli(15, 256)
    assert found[:6] == (256, 255, 253, 251, 247, 241)
    assert all(gcd(one, two) == 1 for one, two in combinations(found, 2))
    assert moduli(1, 2) == (2,)
    with pytest.raises(TcsmtError, match="there are 3 up to 5"):
        moduli(4, 5)


def test_weights_and_the_condition() -> None:
    scheme = Residues(unit=UNIT, moduli=moduli(15, 256))
    for place, weight in enumerate(scheme.weights):
        assert [weight % one for one in scheme.moduli] == [int(p == place) for p in range(15)]
    for k in (1, 16, 1000, 65536):
        bits = scheme.most_bits(k)
        assert scheme.holds(k, bits)
        assert not scheme.holds(k, bits + 1)
        assert abs(2 * bits + log2(2 * k) - log2(scheme.product)) < 2.5
    with pytest.raises(TcsmtError, match="too small for one bit"):
        Residues(unit=UNIT, moduli=(3, 2)).slicing(4)


@pytest.mark.parametrize(("modulus", "base"), [(256, 0), (255, 0), (1056, 32), (1055, 32), (9, 4), (2, 0)])
def test_digits_of_residues(modulus: int, base: int) -> None:
    low, high = digits_of_residues(modulus, base)
    residues = [n if 2 * n < modulus else n - modulus for n in range(modulus)]
    if base:
        lows = [(n + base // 2) % base - base // 2 for n in residues]
        residues = [*lows, *((n - last) // base for n, last in zip(residues, lows, strict=True))]
    assert (low, high) == (min(residues), max(residues))


def test_formats_that_have_integers() -> None:
    s8, e4m3 = integers_from(-128, 127), FORMATS["e4m3"]
    assert has_integers(s8, -128, 127)
    assert not has_integers(s8, -128, 128)
    held = {e4m3.value(word) for word in range(256) if not e4m3.is_special(word)}
    for limit in range(1, 40):
        assert has_integers(e4m3, -limit, limit) == all(n in held for n in range(limit + 1))


def test_schemes_beyond_the_unit_are_refused() -> None:
    cut = Slicing(bits=8, count=2)
    with pytest.raises(TcsmtError, match="integers from -255 to 255: s8 does not have all of them"):
        Slices(unit=UNIT, cut=cut, products=((0, 0),))
    small = replace(cut, bits=7)
    for products, said in (((), "one or more"), (((0, 0), (0, 0)), "each one once"), (((0, 2),), "0 to 1")):
        with pytest.raises(TcsmtError, match=said):
            Slices(unit=UNIT, cut=small, products=products)
    with pytest.raises(TcsmtError, match="moduli 6 and 4 have the common divisor 2"):
        Residues(unit=UNIT, moduli=(6, 4))
    one_way = row_named("volta/mma.m8n8k4.f32.f16.f16.f16").model
    with pytest.raises(TcsmtError, match="give what it takes as c"):
        Slices(unit=one_way, cut=small, products=((0, 0),))
