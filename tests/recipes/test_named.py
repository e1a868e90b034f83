"""Algorithms against their papers in fractions; as terms, as rows and as matrices."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.algorithms.search import random_rows
from tcsmt.arithmetic.formats import FORMATS
from tcsmt.interpret.exact import evaluate
from tcsmt.models import Kind
from tcsmt.models.stages import OperandPlace
from tcsmt.recipes import RECIPES, algorithm_named
from tcsmt.recipes.arrays import multiply, simulate
from tcsmt.statements.domain import Domain
from tests.oracles.papers import reference, words_of
from tests.support.sampling import mostly_long

F32 = FORMATS["f32"]


def value(word: int) -> Fraction:
    return F32.value(word)


MODERATE = st.builds(
    lambda sign, exponent, fraction: sign << 31 | (exponent + 127) << 23 | fraction,
    st.integers(0, 1), st.integers(-15, 14), st.integers(0, (1 << 23) - 1),
)  # fmt: skip


@given(word=MODERATE)
@settings(max_examples=15, deadline=None)
@pytest.mark.parametrize(
    "name",
    mostly_long(
        ["markidis", "ootomo-halfhalf", "cutlass-3xtf32", "fasi-bf16x3", "markidis,split=RTZ"],
        ["ootomo-halfhalf", "fasi-bf16x3", "markidis,split=RTZ"],
    ),
)
def test_split_follows_its_definition(name: str, word: int) -> None:
    algorithm, _ = algorithm_named(name, "hopper", 1)
    trace = algorithm.trace
    stages = [s.term for s in trace.of(Kind.WORD) if s.block == OperandPlace("a", 0)]
    found = evaluate(stages, {"a0": word, "b0": 0, "c": 0})
    fmt = algorithm.split.format
    assert [fmt.value(w) for w in found] == words_of(value(word), algorithm)


@pytest.mark.parametrize(("arch", "bits", "block"), [("volta", 23, 4), ("ampere", 24, 8), ("hopper", 25, 16)])
@pytest.mark.parametrize("name", ["markidis", "ootomo-halfhalf"])
def test_algorithms_follow_the_papers(name: str, arch: str, bits: int, block: int) -> None:
    algorithm, _ = algorithm_named(name, arch, 3)
    rows = random_rows(Domain(exponents=(-13, 14)), F32, 3, 200, np.random.default_rng(7))
    results = rows.run(algorithm)
    for row in range(len(rows)):
        values = rows.values(row)
        assert Fraction(float(results[row])) == reference(algorithm, values, bits, block), values


#: Of each kind of sum, and each format of words.
SOME = (
    "single-f16", "single-bf16", "markidis", "ootomo-halfhalf", "fasi-bf16x3", "fasi-e5m2x4", "fp8-promoted",
    "cutlass-3xtf32", "fp32-fma",
)  # fmt: skip


@pytest.mark.parametrize("name", mostly_long(RECIPES, SOME))
def test_terms_and_arrays_agree(name: str) -> None:
    for arch in ("hopper", "cdna3") if name in ("markidis", "ootomo-halfhalf") else ("hopper",):
        algorithm, _ = algorithm_named(name, arch, 2)
        rows = random_rows(Domain(exponents=(-20, 20)), F32, 2, 12, np.random.default_rng(3))
        results = rows.words(algorithm)
        for row in range(len(rows)):
            assert evaluate([algorithm.trace.output], rows.values(row)) == [int(results[row])]


def test_matrices_and_rows_agree_beyond_the_units_k() -> None:
    rng = np.random.default_rng(5)
    for name in (
        "markidis",
        "ootomo-halfhalf",
        "fasi-f16x3",
        "markidis,interleaved=no",
        "ootomo-halfhalf,c=first",
    ):
        algorithm, _ = algorithm_named(name, "volta")
        a, b = (
            rng.standard_normal((3, 37)).astype(np.float32),
            rng.standard_normal((37, 4)).astype(np.float32),
        )
        c = rng.standard_normal((3, 4)).astype(np.float32)
        d = multiply(algorithm, a, b, c)
        rows = simulate(algorithm, np.repeat(a, 4, axis=0), np.tile(b.T, (3, 1)), c.reshape(-1))
        assert (d.reshape(-1) == rows).all()
        assert np.abs(d - (a.astype(float) @ b + c)).max() < 1e-3


def test_promotion_adds_outside() -> None:
    promoted, _ = algorithm_named("fp8-promoted,every=4", "hopper/wgmma.m64nNk32.f32.e4m3.e4m3", 8)
    plain, _ = algorithm_named("fp8", "hopper/wgmma.m64nNk32.f32.e4m3.e4m3", 4)
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-8, 9, (50, 8)).astype(np.float32) / 8 for _ in range(2))
    halves = [simulate(plain, a[:, s], b[:, s]) for s in (slice(4), slice(4, 8))]
    assert (simulate(promoted, a, b, np.float32(3)) == (np.float32(3) + halves[0]) + halves[1]).all()
