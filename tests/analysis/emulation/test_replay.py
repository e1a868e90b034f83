"""One dot product on terms: what the arrays give, and what fractions say."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tcsmt.analysis.emulation.replay import replayed
from tcsmt.programs.recipes.arrays import simulate
from tcsmt.programs.recipes.emulation.named import emulation_named
from tests.oracles import emulations as oracle


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("ozaki1-int8,slices=3", "turing"), ("ozaki1-f16,slices=2", "volta"),
        ("ozaki2-int8,moduli=4", "turing"), ("ozaki2-e4m3,moduli=3", "hopper"),
    ],
)  # fmt: skip
def test_terms_arrays_and_fractions(name: str, unit: str) -> None:
    emulation, _ = emulation_named(name, unit)
    rng = np.random.default_rng(5)
    a, b, c = rng.standard_normal((2, 10)), rng.standard_normal((2, 10)), rng.standard_normal(2)
    found = simulate(emulation, a, b, c)
    for row in range(2):
        left, right = (side[row].view(np.uint64).tolist() for side in (a, b))
        word = replayed(emulation, left, right, int(c[row : row + 1].view(np.uint64)[0]))
        assert word == int(found[row : row + 1].view(np.uint64)[0])
        x, y = ([Fraction(number) for number in side[row].tolist()] for side in (a, b))
        assert Fraction(float(found[row])) == oracle.dot(emulation, x, y, Fraction(float(c[row])))


def test_infinite_operands_give_a_nan() -> None:
    emulation, _ = emulation_named("ozaki1-int8", "turing")
    assert replayed(emulation, [0x7FF0000000000000], [0], 0) == emulation.wide.nan_word
