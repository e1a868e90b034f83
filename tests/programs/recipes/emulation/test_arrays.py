"""Emulations on arrays: against fractions, on tiny formats for random inputs, on binary64 with edge cases."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from tcsmt.programs.recipes.emulation.arrays import crt, multiply, residue_digits, simulate
from tcsmt.programs.recipes.emulation.named import emulation_named
from tcsmt.programs.recipes.emulation.schemes import Residues, moduli
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import TcsmtError
from tests.oracles import emulations as oracle
from tests.support.emulations import TINY, UNIT, everything, some_emulation
from tests.support.sampling import mostly_long, one_in


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


def test_residues_of_all_products() -> None:
    scheme = Residues(unit=UNIT, moduli=moduli(3, 16))
    numbers = np.arange(-1500, 1501)
    residues = [numbers % one for one in scheme.moduli]
    inside = np.abs(numbers) * 2 < scheme.product
    assert (crt(scheme, residues)[inside] == numbers[inside]).all()
    for base in (0, 4):
        split = Residues(unit=UNIT, moduli=(16, 15, 13), base=base)
        for modulus in split.moduli:
            digits = residue_digits(split, modulus, numbers)
            whole = sum(one * (base or 1) ** place for place, one in enumerate(digits))
            assert ((whole - numbers) % modulus == 0).all()
            assert max(np.abs(one).max() for one in digits) <= 8


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
