"""Algorithms on integers: their words add up, and sums are exact where that is proved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.exactness.largest import exact
from tcsmt.analysis.exactness.lattice import Inexact
from tcsmt.analysis.exactness.recipes import AlgorithmSubject, word_lattices
from tcsmt.analysis.exactness.search import Subject, counterexample
from tcsmt.compose.programs.running_sum import COMPENSATIONS
from tcsmt.compose.recipes.arrays import multiply
from tcsmt.compose.recipes.named import algorithm_named
from tests.support.sums_of_integers import chain


def subjects(name: str, unit: str) -> tuple[StepwiseProof, Subject]:
    proof = chain()
    return proof, AlgorithmSubject(proof, algorithm_named(name, unit)[0])


@pytest.mark.long
def test_promotion_makes_chains_short() -> None:
    where = "hopper/wgmma.m64nNk32.f32.e4m3.e4m3"
    proof, subject = subjects("fp8-promoted", where)
    assert exact(subject, proof, integers=16, search=False).k == 64
    proof, subject = subjects("fp8-promoted,every=64", where)
    assert exact(subject, proof, integers=16, k=4096, search=False).k == 4096


def test_words_of_integers() -> None:
    two = algorithm_named("markidis", "volta")[0].split
    one, other = word_lattices(two, 3000)
    assert (one.low, one.high, one.last) == (-3000, 3000, 0)
    assert (other.low, other.high, other.last) == (-1, 1, 0)
    single = algorithm_named("single-f16", "volta")[0].split
    with pytest.raises(Inexact, match=r"the words of \d+ do not add up"):
        word_lattices(single, 3000)
    with pytest.raises(Inexact, match="tried for all integers"):
        word_lattices(two, 1 << 21)


@pytest.mark.long
def test_a_product_that_is_left_out_is_missed() -> None:
    proof, subject = subjects("fasi-f16x2", "volta")
    found = exact(subject, proof, integers=4095, k=1)
    assert found.k == 0
    assert "left out" in found.ends
    assert found.beyond is not None
    proof, subject = subjects("markidis", "volta")
    assert exact(subject, proof, integers=2900, k=1, search=False).k == 1


def random_sums(rng: np.random.Generator, limit: int, k: int) -> Iterator[Any]:
    for _ in range(2):
        yield rng.integers(-limit, limit + 1, (24, k))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "unit", "limit", "k"),
    [
        ("markidis", "volta", 2900, 1),
        pytest.param("ootomo-halfhalf", "volta", 64, 4096, marks=pytest.mark.long),
        pytest.param("bf16x9", "hopper", 400, 100, marks=pytest.mark.long),
    ],
)
def test_algorithms_are_exact_where_that_is_proved(name: str, unit: str, limit: int, k: int) -> None:
    proof, subject = subjects(name, unit)
    assert exact(subject, proof, integers=limit, k=k, search=False).k == k, subject.proved(limit, k)
    assert isinstance(subject, AlgorithmSubject)
    a, b = random_sums(np.random.default_rng(5), limit, k)
    got = multiply(subject.algorithm, a.astype(np.float32), b.T.astype(np.float32))
    assert (got == a @ b.T).all()
    assert counterexample(subject, limit, k) is None


@pytest.mark.slow
@pytest.mark.parametrize("compensated", COMPENSATIONS)
def test_a_compensated_sum_of_integers_is_exact(compensated: str) -> None:
    """Its error is a sum of nothing; as far as a plain sum is exact, and no further."""
    plain, (_, subject) = (
        subjects("fasi-bf16x3,every=16", "hopper"),
        subjects(f"fasi-bf16x3,every=16,compensated={compensated}", "hopper"),
    )
    for limit, k in ((4, 64), (255, 128), (600, 64)):
        assert (subject.proved(limit, k) == "") == (plain[1].proved(limit, k) == ""), (limit, k)
    assert subject.proved(4, 64) == "" != subject.proved(4095, 64)
    assert isinstance(subject, AlgorithmSubject)
    a, b = random_sums(np.random.default_rng(5), 255, 128)
    got = multiply(subject.algorithm, a.astype(np.float32), b.T.astype(np.float32))
    assert (got == a @ b.T).all() and subject.proved(255, 128) == ""
    a, b = random_sums(np.random.default_rng(5), 4, 64)
    words = [x[0].astype(np.float32).view(np.uint32).astype(np.uint64) for x in (a, b)]
    replayed = np.uint32(subject.replayed(*words)).view(np.float32)
    assert replayed == (a[0] * b[0]).sum()
