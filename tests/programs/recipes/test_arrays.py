"""Algorithms on arrays: the words of the graphs, as rows and as matrices."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.analysis.search.search import random_rows
from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.programs.recipes import RECIPES, algorithm_named
from tcsmt.programs.recipes.arrays import multiply, simulate
from tcsmt.programs.steps.on_arrays import split_words
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import TcsmtError
from tests.oracles import recipes
from tests.oracles.tiny_recipes import Drawn
from tests.support.sampling import mostly_long

F32 = FORMATS["f32"]


#: Of each kind of sum, and each format of words.
SOME = (
    "single-f16", "single-bf16", "markidis", "ootomo-halfhalf", "fasi-bf16x3", "fp8-promoted", "fp32-fma",
)  # fmt: skip


@pytest.mark.parametrize("name", mostly_long(RECIPES, SOME))
def test_terms_and_arrays_agree(name: str) -> None:
    for arch in ("hopper", "cdna3") if name in ("markidis", "ootomo-halfhalf") else ("hopper",):
        algorithm, _ = algorithm_named(name, arch, 2)
        rows = random_rows(Domain(exponents=(-20, 20)), F32, 2, 12, np.random.default_rng(3))
        results = rows.words(algorithm)
        for row in range(len(rows)):
            assert evaluate([algorithm.trace.output], rows.values(row)) == [int(results[row])]


@pytest.mark.library
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


@pytest.mark.parametrize("seed", range(6))
def test_tiny_algorithms_by_the_oracle(seed: int) -> None:
    """Rows of words of a small wide format, which are words in the result, too."""
    drawn = Drawn.of(f"arrays {seed}", 1 << 10)
    one = drawn.algorithm
    (columns,) = drawn.everything
    dtype = unsigned(one.wide)
    a, b = (np.stack([columns[f"{side}{n}"] for n in range(one.k)], axis=1).astype(dtype) for side in "ab")
    found = simulate(one, a, b, columns["c"].astype(dtype))
    assert found.astype(np.int64).tolist() == recipes.results(one, columns).tolist()
    for got, expected in zip(
        split_words(one.split, a), recipes.split(one.split, a.astype(np.int64)), strict=True
    ):
        assert got.shape == a.shape and got.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("a", "b", "c", "message"),
    [
        ((3, 4), (3, 5), (), r"a has shape \(3, 4\), b \(3, 5\): both must have the same shape"),
        ((3, 0), (3, 0), (), "both must have the same shape"),
        ((4,), (4,), (), "both must have the same shape"),
        ((3, 4), (3, 4), (2,), r"c has shape \(2,\): must be \(3,\) or one number"),
    ],
)
def test_rows_that_do_not_fit(
    a: tuple[int, ...], b: tuple[int, ...], c: tuple[int, ...], message: str
) -> None:
    algorithm, _ = algorithm_named("markidis", "volta")
    with pytest.raises(TcsmtError, match=message):
        simulate(algorithm, np.zeros(a, np.float32), np.zeros(b, np.float32), np.zeros(c, np.float32))


@pytest.mark.parametrize(
    ("a", "b", "c", "message"),
    [
        ((3, 4), (3, 4), None, r"A \(3, 4\) and B \(3, 4\): the number of columns of A must equal"),
        ((3, 0), (0, 2), None, "must be"),
        ((3, 4), (4, 2), (3, 3), r"C has shape \(3, 3\): must be \(3, 2\), the shape of A·B"),
    ],
)
def test_matrices_that_do_not_fit(
    a: tuple[int, ...], b: tuple[int, ...], c: tuple[int, ...] | None, message: str
) -> None:
    algorithm, _ = algorithm_named("markidis", "volta")
    given = None if c is None else np.zeros(c, np.float32)
    with pytest.raises(TcsmtError, match=message):
        multiply(algorithm, np.zeros(a, np.float32), np.zeros(b, np.float32), given)
