"""Proofs that results never fall, held against all inputs of random algorithms on tiny units."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import count
from random import Random

import pytest

from tcsmt.analysis.bounds.monotone import keeps_sign, never_falls, sum_of_products
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
from tests.oracles.tiny_recipes import some_algorithm, some_inputs
from tests.support.refusing import Without
from tests.support.sampling import mostly_long

pytestmark = pytest.mark.usefixtures("no_luck")


def chain(options: SolvingOptions = SolvingOptions(steps=1_000_000)) -> StepwiseProof:
    return StepwiseProof(Solving(options))


def plain(seed: int, most: int) -> tuple[Algorithm, Domain]:
    """A random algorithm of one word and one sum on a random unit, a domain with so many inputs at most."""
    rng = Random(f"monotone {seed}")
    while True:
        drawn = some_algorithm(rng)
        if drawn.split.words != 1 or (seed % 2 and not isinstance(drawn.unit, FusedDotAdd)):
            continue
        algorithm = replace(drawn, sums=(Sum(((0, 0),), 0),), c_enters="unit")
        domain = some_inputs(rng, algorithm)
        if 8 < recipes.inputs(domain, algorithm).count <= most:
            return algorithm, domain


def fused(seed: int, most: int) -> tuple[Algorithm, Domain]:
    """A random fused sum of one to three products that truncates its terms on a coarse grid, and a domain."""
    rng = Random(f"fused {seed}")
    while True:
        narrow = tiny.described(exponent_bits=3, fraction_bits=rng.choice((1, 2)), bias=3)
        wide = tiny.described(exponent_bits=5, fraction_bits=rng.choice((2, 3, 4)), bias=15)
        k, bits, sticky = rng.choice((1, 2, 2, 3)), wide.fraction_bits, rng.random() < 0.1
        unit = FusedDotAdd.of(
            a_format=narrow, b_format=narrow, c_format=wide, d_format=wide, k=k, n_fma=k,
            fraction_bits=bits + rng.choice((-1, 0, 0, 1, 1, 2)),
            rounding=ROUNDINGS[rng.choice(["RTZ", "RNE", *ROUNDINGS])],
            alignment=ROUNDINGS["RNE" if rng.random() < 0.1 and not sticky else "RTZ"],
            zero_exponent=rng.choice((None, -20)), alignment_sticky=sticky,
            products=rng.choice(("unnormalised", "unnormalised", "normalised")),
        )  # fmt: skip
        split = Split(format=narrow, wide=wide, words=1, scale=0)
        algorithm = Algorithm(k=k, unit=unit, split=split, sums=(Sum(((0, 0),), 0),))
        low = rng.choice((-2, -1, 0))
        domain = Domain(
            exponents=(low, low + rng.choice((0, 1, 2))), bits=(rng.choice((1, 2)), rng.choice((1, 2))),
            c_zero=rng.random() < 0.2, positive=rng.random() < 0.5,
        )  # fmt: skip
        if 8 < recipes.inputs(domain, algorithm).count <= most:
            return algorithm, domain


def judged(drawn: tuple[Algorithm, Domain]) -> str:
    """What was proved, held against all inputs."""
    algorithm, domain = drawn
    if not never_falls(chain(), algorithm, domain):
        return "open, and it falls" if falls(algorithm, domain) else "open"
    where = falls(algorithm, domain)
    assert not where, f"{algorithm}, {domain}: proved, and it falls: {where}"
    return f"proved, {type(algorithm.unit).__name__}"


def drawn(seed: int, most: int = 1 << 13) -> tuple[Algorithm, Domain]:
    """Every third one falls somewhere, so that a proof of the contrary would be wrong."""
    if seed % 3:
        return fused(seed, most)
    found = (fused(number, most) for number in count(1000 * seed))
    return next(one for one in found if falls(*one))


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(6, 9), pytest.param(range(9, 60), marks=pytest.mark.long)], ids=str)
def test_fused_sums(seeds: range) -> None:
    counts = Counter(judged(drawn(seed)) for seed in seeds)
    print(f"monotone: {dict(counts)}")
    assert counts["proved, FusedDotAdd"] and counts["open, and it falls"]


@pytest.mark.parametrize("seeds", [range(22, 23), pytest.param(range(60), marks=pytest.mark.long)], ids=str)
def test_any_units(seeds: range) -> None:
    """Of every kind: sums in two stages, IEEE operations in any order."""
    counts = Counter(judged(plain(seed, 1 << 12)) for seed in seeds)
    print(f"monotone: {dict(counts)}")
    assert counts["proved, IeeeDotAdd"]


PROVED = [
    ("single-f16", "volta", 1, False), ("single-f16", "volta", 2, False), ("single-f16", "volta", 4, True),
    ("single-f16", "ampere", 2, False), ("single-f16", "ampere", 4, True), ("single-f16", "hopper", 4, False),
    ("fp32-fma", "hopper", 4, False),
]  # fmt: skip


@pytest.mark.parametrize("case", mostly_long(PROVED, PROVED[-1:]), ids=str)
def test_units_that_never_fall(case: tuple[str, str, int, bool]) -> None:
    name, arch, k, c_zero = case
    algorithm, _ = algorithm_named(name, arch, k)
    assert never_falls(chain(SolvingOptions(timeout=300)), algorithm, replace(TYPE1, c_zero=c_zero))


@pytest.mark.long
@pytest.mark.parametrize("arch", ["volta", "ampere"])
def test_units_that_fall(arch: str) -> None:
    """Four products and c: a larger c cuts more off each of them than it gains."""
    algorithm, _ = algorithm_named("single-f16", arch, 4)
    proof = chain(SolvingOptions(timeout=300))
    assert not never_falls(proof, algorithm, TYPE1)
    assert proof.stopped.endswith("4 other terms, the result moves as the number: not so for all words")


@pytest.mark.slow
def test_each_lemma_is_needed() -> None:
    """Nothing is proved where any one lemma that there is no other way round is refused."""
    algorithm, domain = fused(16, 1 << 13)
    assert not domain.c_zero
    proof = chain()
    assert never_falls(proof, algorithm, domain)
    titles = [what for what, _ in proof.steps]
    assert len(titles) > 15
    for refused in titles:
        proved = never_falls(Without(proof, refused), algorithm, domain)
        assert not proved or "are gained" in refused or refused.startswith("the exponent of a product"), (
            refused
        )


def test_signs() -> None:
    """One rounding keeps the sign; two do not, nor does one where sums may be below the smallest number."""
    one, _ = algorithm_named("fp32-fma", "hopper", 1)
    assert keeps_sign(chain(), one, TYPE1)
    assert not keeps_sign(chain(), one, replace(TYPE1, exponents=(-80, 0)))
    two, _ = algorithm_named("fp32-fma", "hopper", 2)
    assert not keeps_sign(chain(), two, TYPE1)
    apart = replace(one, unit=one.unit.replace(method="sequential"))
    assert not keeps_sign(chain(), apart, TYPE1)
    fused_sum, _ = algorithm_named("single-f16", "hopper", 1)
    assert not keeps_sign(chain(), fused_sum, TYPE1)


def test_algorithms_and_domains_beyond_the_argument_are_refused() -> None:
    one, _ = algorithm_named("single-f16", "hopper", 2)
    split, _ = algorithm_named("markidis", "hopper", 2)
    assert not never_falls(chain(), split, TYPE1)
    assert not never_falls(chain(), one, replace(TYPE1, c_free=True))
    assert not never_falls(chain(), one.replace(c_enters="first"), TYPE1)
    assert not never_falls(chain(), one, replace(TYPE1, exponents=(100, 120)))


def two_sums_drawn(seed: int, most: int = 1 << 14, *, coarse: bool = False) -> tuple[Algorithm, Domain]:
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
    found = (two_sums_drawn(number, coarse=True) for number in count(1003 * seed))
    return next(one for one in found if falls(*one))


def judged_two_sums(algorithm: Algorithm, domain: Domain) -> str:
    """What was proved, held against all inputs."""
    proved = never_falls(StepwiseProof(Solving(SolvingOptions(steps=1_000_000))), algorithm, domain)
    where = falls(algorithm, domain)
    assert not (proved and where), f"{algorithm}, {domain}: proved, and it falls: {where}"
    return "proved" if proved else "open, and it falls" if where else "open"


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(6, 8), pytest.param(range(8, 80), marks=pytest.mark.long)], ids=str)
def test_sums_of_two_stages(seeds: range) -> None:
    """Every third one falls somewhere, so that a proof of the contrary would be wrong."""
    counts = Counter(
        judged_two_sums(*(two_sums_drawn(seed) if seed % 3 else one_that_falls(seed))) for seed in seeds
    )
    print(f"two sums: {dict(counts)}")
    assert counts["proved"] and counts["open, and it falls"]


@pytest.mark.long
@pytest.mark.parametrize(("k", "c_zero"), [(1, False), (2, False), (4, False), (4, True)])
def test_cdna3_is_proved_never_to_fall(k: int, c_zero: bool) -> None:
    algorithm, _ = algorithm_named("single-f16", "cdna3", k)
    proof = StepwiseProof(Solving(SolvingOptions(timeout=300)))
    assert never_falls(proof, algorithm, replace(TYPE1, c_zero=c_zero))


@pytest.mark.slow
def test_each_lemma_of_two_sums_is_needed() -> None:
    """Nothing is proved where any one lemma is refused."""
    algorithm, domain = two_sums_drawn(7)
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
