"""Bounds of emulations: against every input of tiny formats, by exact arithmetic."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.emulation.budget import budget
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.programs.recipes.arrays import simulate
from tcsmt.programs.recipes.emulation.named import emulation_named
from tcsmt.programs.recipes.emulation.schemes import Residues, Slices
from tcsmt.programs.steps.slicing import Slicing
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tests.support.emulations import TINY, UNIT, everything, some_emulation

SOLVING = Solving()
#: The values of the tiny format's words; binary64 has them, their products and sums of a few exactly.
VALUES = np.array([np.nan if TINY.is_special(w) else float(TINY.value(w)) for w in range(1 << TINY.width)])


def judged(seed: int) -> str:
    """What was proved of a random emulation, held against all inputs."""
    rng = Random(f"emulation {seed}")
    emulation = some_emulation(rng)
    k = rng.choice((1, 2, 2))
    low = rng.choice((-1, 0, -20))
    wide = rng.choice((0, 1)) if k == 2 else rng.choice((0, 3))
    domain = Domain(exponents=(low, low + wide), c_zero=k == 2, positive=k == 2 and rng.random() < 0.5)
    try:
        spent = budget(StepwiseProof(SOLVING), emulation.program(k), domain, k)
    except Unbounded:
        return "no bound"
    a, b, c = everything(domain, k)
    found = VALUES[simulate(emulation, a, b, c).astype(np.int64)]
    left, right, added = VALUES[a], VALUES[b], VALUES[c]
    error = np.abs(found - ((left * right).sum(axis=1) + added))
    size = np.abs(left * right).sum(axis=1) + np.abs(added)
    largest = k * np.abs(left).max(axis=1) * np.abs(right).max(axis=1) + np.abs(added)
    for measure, proved in ((size, spent.total), (largest, spent.of_largest)):
        # the smallest binary64 number that is no smaller than the bound
        over = float(proved) if Fraction(float(proved)) >= proved else np.nextafter(float(proved), np.inf)
        assert (error <= over * measure).all(), (seed, emulation, domain, proved)
    reached = (error[size > 0] / size[size > 0]).max()
    return "within 4" if float(spent.total) <= 4 * reached else "looser"


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 240), marks=pytest.mark.long)], ids=str)
def test_bounds_hold_for_all_inputs(seeds: range) -> None:
    counts = Counter(judged(seed) for seed in seeds)
    print(dict(counts))
    assert counts["within 4"] >= len(seeds) // 6
    assert counts["looser"] + counts["within 4"] >= len(seeds) / 2


@pytest.mark.long
def test_a_unit_that_is_not_exact_has_no_bound() -> None:
    """Hopper's FP8 sums 64 products of integers up to 16 exactly, and not 65."""
    model = row_named("hopper/wgmma.m64nNk32.f32.e4m3.e4m3").model
    cut = Slicing(bits=4, count=2)
    scheme = Slices(unit=model, cut=cut, products=((0, 0),), every=128)
    with pytest.raises(Unbounded, match=r"a chain of 128 products of integers up to 15.*up to 72 it is"):
        budget(StepwiseProof(SOLVING), scheme.program(1000), Domain(exponents=(0, 0)), 1000)


def test_residues_need_moduli_large_enough() -> None:
    scheme = Residues(unit=UNIT, moduli=(256, 255), bits=8)
    domain = Domain(exponents=(0, 0))
    with pytest.raises(Unbounded, match=r"the condition does not hold: 2·1·\(2\^8 - 1\)\^2 < 65280"):
        budget(StepwiseProof(SOLVING), scheme.program(1), domain, 1)
    smaller = Residues(unit=UNIT, moduli=(256, 255), bits=7)
    assert budget(StepwiseProof(SOLVING), smaller.program(2), domain, 2).shares


@pytest.mark.long
def test_the_order_of_additions_counts() -> None:
    domain = Domain(exponents=(0, 0), c_zero=True)
    name = "ozaki1-int8,slices=5"
    first, last = (
        budget(
            StepwiseProof(SOLVING), emulation_named(one, "turing")[0].program(1 << 16), domain, 1 << 16
        ).shares
        for one in (name, f"{name},order=reversed")
    )
    assert first["the cut"] == last["the cut"]
    assert last["additions outside"] < first["additions outside"]
