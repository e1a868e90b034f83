"""Proofs that results never fall where products are summed before c is added, held against all inputs.

The oracle adds up in exact fractions (``tests/oracles``) and shares no code with the lemmas.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import count
from random import Random

import pytest

from tcsmt.analysis.bounds.monotone import never_falls
from tcsmt.analysis.bounds.monotone_two_sums import sum_of_products
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.sweeps.findings import TYPE1
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.models import DotThenAdd, FusedDotAdd, Kind
from tcsmt.programs.recipes import algorithm_named
from tcsmt.programs.recipes.algorithm import Algorithm, Sum
from tcsmt.programs.steps.split import Split
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tests.oracles import recipes, tiny
from tests.oracles.monotone import falls
from tests.support.refusing import Without

pytestmark = pytest.mark.usefixtures("no_luck")


def drawn(seed: int, most: int = 1 << 14, *, coarse: bool = False) -> tuple[Algorithm, Domain]:
    """A random sum of up to three products, then of c, on coarse grids, or on very coarse ones; a domain."""
    rng = Random(f"two sums {seed}")
    while True:
        narrow = tiny.described(exponent_bits=3, fraction_bits=rng.choice((1, 2)), bias=3)
        wide = tiny.described(exponent_bits=5, fraction_bits=rng.choice((2, 3, 4)), bias=15)
        k, bits = rng.choice((2, 2, 3)), wide.fraction_bits + rng.choice((-1, 0, 1, 2, 3, 4))
        if coarse:
            k, bits = 3, rng.choice((1, 2))
        unit = DotThenAdd(
            a_format=narrow, b_format=narrow, c_format=wide, d_format=wide, k=k, n_fma=k,
            fraction_bits=bits, dot_fraction_bits=bits + rng.choice((0, 0, 1, 2, 3)),
            alignment=ROUNDINGS["RNE" if rng.random() < 0.1 else "RTZ"],
            realignment=ROUNDINGS[rng.choice(("RTN", "RTN", "RTZ", "RNE"))],
            c_reach=rng.choice((None, None, None, 2, bits + 2)),
            normalised_fraction_bits=rng.choice((None, bits, bits + 2)),
            rounding=ROUNDINGS[rng.choice(["RNE", *ROUNDINGS])],
        )  # fmt: skip
        split = Split(format=narrow, wide=wide, words=1, scale=0)
        algorithm = Algorithm(k=rng.choice((1, k, k)), unit=unit, split=split, sums=(Sum(((0, 0),), 0),))
        low, short = rng.choice((-2, -1, 0)), rng.random() < 0.6
        domain = Domain(
            exponents=(low, low + rng.choice((0, 1, 2))),
            bits=(1, 1) if short else (rng.choice((1, 2)), rng.choice((1, 2))),
            c_zero=rng.random() < 0.2, positive=rng.random() < 0.3,
        )  # fmt: skip
        if coarse:
            algorithm, domain = (
                algorithm.replace(k=3),
                replace(domain, exponents=(low, low + 1), bits=(1, 1)),
            )
        if 8 < recipes.inputs(domain, algorithm).count <= most:
            return algorithm, domain


def one_that_falls(seed: int) -> tuple[Algorithm, Domain]:
    found = (drawn(number, coarse=True) for number in count(1003 * seed))
    return next(one for one in found if falls(*one))


def judged(algorithm: Algorithm, domain: Domain) -> str:
    """What was proved, held against all inputs."""
    proved = never_falls(StepwiseProof(Solving(SolvingOptions(steps=1_000_000))), algorithm, domain)
    where = falls(algorithm, domain)
    assert not (proved and where), f"{algorithm}, {domain}: proved, and it falls: {where}"
    return "proved" if proved else "open, and it falls" if where else "open"


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(6, 8), pytest.param(range(8, 80), marks=pytest.mark.long)], ids=str)
def test_sums_of_two_stages(seeds: range) -> None:
    """Every third one falls somewhere, so that a proof of the contrary would be wrong."""
    counts = Counter(judged(*(drawn(seed) if seed % 3 else one_that_falls(seed))) for seed in seeds)
    print(f"two sums: {dict(counts)}")
    assert counts["proved"] and counts["open, and it falls"]


@pytest.mark.long
@pytest.mark.parametrize(("k", "c_zero"), [(1, False), (2, False), (4, False), (4, True)])
def test_cdna3_is_proved_never_to_fall(k: int, c_zero: bool) -> None:
    algorithm, _ = algorithm_named("single-f16", "cdna3", k)
    proof = StepwiseProof(Solving(SolvingOptions(timeout=300)))
    assert never_falls(proof, algorithm, replace(TYPE1, c_zero=c_zero))


@pytest.mark.slow
def test_each_lemma_is_needed() -> None:
    """Nothing is proved where any one lemma is refused."""
    algorithm, domain = drawn(7)
    assert algorithm.k == 2 and not domain.c_zero
    proof = StepwiseProof(Solving(SolvingOptions(steps=1_000_000)))
    assert never_falls(proof, algorithm, domain)
    titles = [what for what, _ in proof.steps]
    assert sum("products' sum" in title or "half of their sum" in title for title in titles) == 5
    for refused in titles:
        proved = never_falls(Without(proof, refused), algorithm, domain)
        assert not proved or refused.startswith("the exponent of a product"), refused


def test_which_sums_are_of_two_stages() -> None:
    for name, two in (("cdna3", True), ("hopper", False)):
        unit = algorithm_named("single-f16", name, 2)[0].unit
        assert isinstance(unit, DotThenAdd if two else FusedDotAdd)
        (whole,) = unit.trace.of(Kind.SUM)[:1]
        assert (sum_of_products(whole.value) is not None) == two
