"""Schemes: their parameters, and their programs on arrays and terms, against fractions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import gcd, log2
from random import Random

import numpy as np
import pytest

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import var
from tcsmt.matrix_units.arithmetic.conversion import QUIET
from tcsmt.matrix_units.arithmetic.formats import FORMATS, integers_from
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.programs.recipes.arrays import multiply, simulate
from tcsmt.programs.recipes.emulation.named import emulation_named
from tcsmt.programs.recipes.emulation.schemes import (
    Residues,
    Slices,
    moduli,
)
from tcsmt.programs.steps.digits import residue_range
from tcsmt.programs.steps.on_terms import TermRules
from tcsmt.programs.steps.program import NoRule, read
from tcsmt.programs.steps.slicing import Slicing, has_integers
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import TcsmtError
from tests.oracles import emulations as oracle
from tests.support.emulations import TINY, UNIT, everything, some_emulation
from tests.support.sampling import mostly_long, one_in


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
def test_residue_range(modulus: int, base: int) -> None:
    low, high = residue_range(modulus, base)
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


@pytest.mark.parametrize("seed", one_in(3, range(12)))
def test_tiny_emulations(seed: int) -> None:
    emulation = some_emulation(Random(seed))
    domain = Domain(exponents=(-2, 1), c_zero=seed % 2 == 0)
    a, b, c = everything(domain, 1)
    rng = np.random.default_rng(seed)
    more = rng.integers(0, len(a), (60, 3))
    for left, right in ((a[more[:, :1], 0], b[more[:, :1], 0]), (a[more, 0], b[more, 0])):
        added = c[more[:, 0]]
        found = simulate(emulation, left, right, added)
        for number, word in enumerate(found.tolist()):
            x, y = ([TINY.value(int(w)) for w in side[number]] for side in (left, right))
            assert TINY.value(word) == oracle.dot(emulation, x, y, TINY.value(int(added[number]))), emulation


CASES = [
    ("ozaki1-int8", "turing"),
    ("ozaki1-int8,products=all,order=reversed,slices=4", "turing"),
    ("ozaki1-f16,slices=3", "volta"),
    ("ozaki1-e4m3,slices=3,every=16", "hopper"),
    ("ozaki2-int8", "turing"),
    ("ozaki2-int8,moduli=3,bits=20", "turing"),
    ("ozaki2-e4m3,moduli=4", "hopper"),
]


@pytest.mark.long
@pytest.mark.parametrize("case", mostly_long(CASES, [CASES[5]]), ids=str)
def test_binary64_on_units(case: tuple[str, str]) -> None:
    emulation, _ = emulation_named(*case)
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((3, 40)), rng.standard_normal((40, 2)) * 2.0 ** rng.integers(-30, 30, (40, 2))
    a[0, 5:] = 0.0
    a[1] = 0.0
    c = rng.standard_normal((3, 2))
    found = multiply(emulation, a, b, c)
    for i, j in np.ndindex(3, 2):
        x, y = ([Fraction(n) for n in side] for side in (a[i].tolist(), b[:, j].tolist()))
        assert Fraction(found[i, j].item()) == oracle.dot(emulation, x, y, Fraction(c[i, j].item()))
    rows = simulate(emulation, a[:2], b.T[:2], np.array([c[0, 0], c[1, 1]]))
    assert rows.tolist() == [found[0, 0], found[1, 1]]


@pytest.mark.parametrize("name", ["ozaki1-int8", "ozaki2-int8"])
def test_the_ends_of_binary64(name: str) -> None:
    """Overflow, subnormal results and operands, what is not finite, and zeros."""
    emulation, _ = emulation_named(name, "turing")
    tiny, huge = 5e-324, 1.7e308
    given = [
        ([huge, huge], [huge, 1.0], np.inf), ([huge, 0.0], [-huge, 1.0], -np.inf),
        ([2.0**-600, 0.0], [2.0**-474 * 1.5, 0.0], 1e-323), ([2.0**-600], [2.0**-480], 0.0),
        ([tiny, tiny], [1.0, 2.0], 3 * tiny), ([0.0, 0.0], [1.0, 2.0], 0.0),
        ([np.inf, 1.0], [1.0, 1.0], np.nan), ([1.0, 1.0], [np.nan, 1.0], np.nan),
        ([2.0**1000], [2.0**-1000], 1.0),
    ]  # fmt: skip
    for a, b, expected in given:
        found = multiply(emulation, np.array([a]), np.array([b]).T)
        assert np.array_equal(found, [[expected]], equal_nan=True), (a, b, found)
    assert multiply(emulation, np.ones((1, 1)), np.ones((1, 1)), np.full((1, 1), np.nan)) != 1


def test_shapes_are_refused() -> None:
    emulation, _ = emulation_named("ozaki1-int8", "turing")
    with pytest.raises(TcsmtError, match="the number of columns of A must equal"):
        multiply(emulation, np.ones((2, 3)), np.ones((2, 3)))
    with pytest.raises(TcsmtError, match="the shape of A·B"):
        multiply(emulation, np.ones((2, 3)), np.ones((3, 2)), np.ones((1, 2)))
    with pytest.raises(TcsmtError, match="the same shape"):
        simulate(emulation, np.ones((2, 3)), np.ones((3, 3)))
    with pytest.raises(TcsmtError, match="c has shape"):
        simulate(emulation, np.ones((2, 3)), np.ones((2, 3)), np.ones(3))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3, 5])
def test_slices_on_terms(seed: int) -> None:
    """The reading as terms says of every input what the arrays give."""
    cut = Slicing(bits=2, count=2, wide=TINY, rounding=ROUNDINGS["RNE" if seed == 3 else "RTZ"])
    scheme = Slices(unit=UNIT, wide=TINY, cut=cut, products=((0, 0), (1, 0), (0, 1)), every=seed % 2)
    names = ["a0", "a1", "b0", "b1", "c"]
    x = [var(name, TINY.width) for name in names]
    result = read(scheme.program(2), TermRules([], QUIET), {"A": x[:2], "B": x[2:4], "c": x[4]})
    words = np.random.default_rng(seed).integers(0, 1 << TINY.width, (400, 5), dtype=np.uint16)
    found = simulate(scheme, words[:, :2], words[:, 2:4], words[:, 4])
    for row, word in zip(words.tolist(), found.tolist(), strict=True):
        assert evaluate([result], dict(zip(names, row, strict=True))) == [word]


def test_residues_on_terms_are_refused() -> None:
    scheme = Residues(unit=UNIT, wide=TINY, moduli=(64, 63))
    x = var("x", TINY.width)
    with pytest.raises(NoRule, match="residue: TermRules has no rule for it"):
        read(scheme.program(1), TermRules([], QUIET), {"A": [x], "B": [x], "c": x})
