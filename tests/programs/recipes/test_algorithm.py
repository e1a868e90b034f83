"""Algorithms against their papers in fractions, and against the oracle on tiny formats."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tcsmt.analysis.search.search import random_rows
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.programs.recipes import algorithm_named
from tcsmt.programs.recipes.algorithm import Algorithm, Sum
from tcsmt.programs.recipes.arrays import simulate
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import TcsmtError
from tests.oracles import recipes, terms
from tests.oracles.papers import reference
from tests.oracles.tiny_recipes import Drawn

F32 = FORMATS["f32"]


@pytest.mark.parametrize(("arch", "bits", "block"), [("volta", 23, 4), ("ampere", 24, 8), ("hopper", 25, 16)])
@pytest.mark.parametrize("name", ["markidis", "ootomo-halfhalf"])
def test_algorithms_follow_the_papers(name: str, arch: str, bits: int, block: int) -> None:
    algorithm, _ = algorithm_named(name, arch, 3)
    rows = random_rows(Domain(exponents=(-13, 14)), F32, 3, 200, np.random.default_rng(7))
    results = rows.run(algorithm)
    for row in range(len(rows)):
        values = rows.values(row)
        assert Fraction(float(results[row])) == reference(algorithm, values, bits, block), values


def test_promotion_adds_outside() -> None:
    promoted, _ = algorithm_named("fp8-promoted,every=4", "hopper/wgmma.m64nNk32.f32.e4m3.e4m3", 8)
    plain, _ = algorithm_named("fp8", "hopper/wgmma.m64nNk32.f32.e4m3.e4m3", 4)
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-8, 9, (50, 8)).astype(np.float32) / 8 for _ in range(2))
    halves = [simulate(plain, a[:, s], b[:, s]) for s in (slice(4), slice(4, 8))]
    assert (simulate(promoted, a, b, np.float32(3)) == (np.float32(3) + halves[0]) + halves[1]).all()


@pytest.mark.parametrize("seed", range(6))
def test_tiny_algorithms_by_the_oracle(seed: int) -> None:
    """The graph on every input of a domain."""
    drawn = Drawn.of(f"algorithm {seed}", 1 << 10)
    for columns in drawn.everything:
        (found,) = terms.values([drawn.algorithm.trace.output], columns)
        assert (found.astype(np.int64) == recipes.results(drawn.algorithm, columns)).all(), str(drawn)


def markidis(**changes: object) -> Algorithm:
    algorithm, _ = algorithm_named("markidis", "volta", 8)
    return replace(algorithm, **changes)


@pytest.mark.parametrize(
    ("changes", "chains"),
    [
        # both products of the four lanes, then of the next four
        ({}, [(0, [(0, 0, range(4)), (1, 0, range(4)), (0, 0, range(4, 8)), (1, 0, range(4, 8))])]),
        ({"interleaved": False},
         [(0, [(0, 0, range(4)), (0, 0, range(4, 8)), (1, 0, range(4)), (1, 0, range(4, 8))])]),
        ({"sums": (Sum(((0, 0), (1, 0)), every=4),)},
         [(0, [(0, 0, range(4)), (1, 0, range(4))]), (0, [(0, 0, range(4, 8)), (1, 0, range(4, 8))])]),
        ({"sums": (Sum(((0, 0),)), Sum(((1, 0),)))},
         [(0, [(0, 0, range(4)), (0, 0, range(4, 8))]), (0, [(1, 0, range(4)), (1, 0, range(4, 8))])]),
    ],
)  # fmt: skip
def test_chains_of_instructions(changes: dict[str, object], chains: list[object]) -> None:
    base = {"sums": (Sum(((0, 0), (1, 0))),)}
    assert list(markidis(**base | changes).chains(8)) == chains
    ((_, steps),) = markidis(**base, interleaved=False).chains(3)
    assert steps == [(0, 0, range(3)), (1, 0, range(3))]  # fewer lanes than the unit has


def test_scaled_sums() -> None:
    algorithm, _ = algorithm_named("ootomo-halfhalf", "volta", 4)
    assert [shift for shift, _ in algorithm.chains(4)] == [0, 11]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sums": ()}, "must be one product or more"),
        ({"sums": (Sum(()),)}, "must be one product or more"),
        ({"sums": (Sum(((0, 0), (0, 0))),)}, "must be each product of words once"),
        ({"sums": (Sum(((0, 2),)),)}, "must be words 0 to 1"),
        ({"sums": (Sum(((0, 0),), every=-1),)}, "must be 0 or more for every"),
        (
            {"unit": row_named("volta/mma.m8n8k4.f16.f16.f16.f16").model},
            "a unit with f32 for c and the result",
        ),
        ({"unit": row_named("hopper/mma.m16n8k16.f32.bf16.bf16.f32").model}, "a unit with f16 operands"),
        ({"c_enters": "nowhere"}, "c_enters"),
    ],
)
def test_contradictory_algorithms_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(TcsmtError, match=message):
        markidis(**changes)


@pytest.mark.parametrize(
    ("sums", "message"),
    [
        ((Sum(((0, 0), (0, 1))),), "products of one scale in each sum"),
        ((Sum(((0, 1), (1, 0))), Sum(((0, 0),))), "a first sum that is not scaled"),
    ],
)
def test_sums_of_other_scales(sums: tuple[Sum, ...], message: str) -> None:
    algorithm, _ = algorithm_named("ootomo-halfhalf", "volta", 4)
    with pytest.raises(TcsmtError, match=message):
        replace(algorithm, sums=sums)
