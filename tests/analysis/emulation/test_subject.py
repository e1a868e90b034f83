"""Integers that emulations multiply exactly: every pair of tiny formats, and the limits of binary64's."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.emulation.subject import DigitSubject
from tcsmt.analysis.exactness.largest import exact
from tcsmt.programs.recipes.arrays import simulate
from tcsmt.programs.recipes.emulation.named import emulation_named
from tcsmt.prove.engine.solving import Solving
from tests.support.emulations import TINY, some_emulation

SOLVING = Solving()


def wrong(emulation: object, limit: int, k: int) -> int:
    """How many of all inputs of integers up to a limit that the tiny format has are not exact."""
    finite = [word for word in range(1 << TINY.width) if not TINY.is_special(word)]
    values = {word: TINY.value(word) for word in finite}
    words = {int(x): word for word, x in values.items() if x.denominator == 1 and abs(x) <= limit}
    numbers = np.array(sorted(words))
    grid = np.stack(np.meshgrid(*[numbers] * (2 * k), indexing="ij"), -1).reshape(-1, 2 * k)
    coded = np.vectorize(words.__getitem__)(grid).astype(np.uint16)
    found = simulate(emulation, coded[:, :k], coded[:, k:])
    total = (grid[:, :k] * grid[:, k:]).sum(axis=1)
    return sum(TINY.is_special(int(w)) or TINY.value(int(w)) != n for w, n in zip(found, total, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(3, 60), marks=pytest.mark.long)], ids=str)
def test_tiny_emulations(seeds: range) -> None:
    proved = 0
    for seed in seeds:
        emulation = some_emulation(Random(f"exact {seed}"))
        subject = DigitSubject(StepwiseProof(SOLVING), emulation.program, (emulation.wide,) * 3)
        for limit, k in ((1, 1), (2, 1), (1, 2), (1, 3)):
            if not subject.proved(limit, k):
                proved += 1
                assert not wrong(emulation, limit, k), (seed, emulation, limit, k)
    assert proved > len(seeds)


@pytest.mark.parametrize(
    ("name", "k", "most"),
    [
        pytest.param("ozaki1-int8,slices=3", 4, 16383, marks=pytest.mark.long),
        ("ozaki1-int8,slices=2", 4, 127),
        ("ozaki2-int8,moduli=3", 4, 1023),
    ],
)
def test_the_largest_exact_integers_are_those_of_the_scheme(name: str, k: int, most: int) -> None:
    chain = StepwiseProof(SOLVING)
    emulation = emulation_named(name, "turing")[0]
    found = exact(DigitSubject(chain, emulation.program, (emulation.wide,) * 3), chain, k=k)
    assert found.integers == most
    assert found.beyond is not None
    assert found.closed
