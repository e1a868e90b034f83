"""Algorithms on integers: their words add up, and sums are exact where that is proved."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tcsmt
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.exactness.largest import exact
from tcsmt.analysis.exactness.lattice import Inexact
from tcsmt.analysis.exactness.programs import ProgramSubject, word_lattices
from tcsmt.analysis.exactness.search import Subject, counterexample
from tcsmt.interface.api.units import side_of
from tcsmt.programs.recipes.arrays import multiply
from tcsmt.programs.recipes.named import algorithm_named
from tcsmt.programs.steps.model import ProgramModel
from tcsmt.programs.steps.running_sum import COMPENSATIONS
from tests.support.sums_of_integers import chain


def subjects(name: str, unit: str) -> tuple[StepwiseProof, Subject]:
    proof = chain()
    return proof, ProgramSubject.of_algorithm(proof, algorithm_named(name, unit)[0])


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
    a, b = random_sums(np.random.default_rng(5), limit, k)
    got = multiply(algorithm_named(name, unit)[0], a.astype(np.float32), b.T.astype(np.float32))
    assert (got == a @ b.T).all()
    assert counterexample(subject, limit, k) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "compensated",
    [pytest.param(name, marks=() if name == "kahan" else pytest.mark.long) for name in COMPENSATIONS],
)
def test_a_compensated_sum_of_integers_is_exact(compensated: str) -> None:
    """Its error is a sum of nothing; as far as a plain sum is exact, and no further."""
    plain, (_, subject) = (
        subjects("fasi-bf16x3,every=16", "hopper"),
        subjects(f"fasi-bf16x3,every=16,compensated={compensated}", "hopper"),
    )
    for limit, k in ((4, 64), (255, 128), (600, 64)):
        assert (subject.proved(limit, k) == "") == (plain[1].proved(limit, k) == ""), (limit, k)
    assert subject.proved(4, 64) == "" != subject.proved(4095, 64)
    a, b = random_sums(np.random.default_rng(5), 255, 128)
    algorithm, _ = algorithm_named(f"fasi-bf16x3,every=16,compensated={compensated}", "hopper")
    got = multiply(algorithm, a.astype(np.float32), b.T.astype(np.float32))
    assert (got == a @ b.T).all() and subject.proved(255, 128) == ""
    a, b = random_sums(np.random.default_rng(5), 4, 64)
    words = [x[0].astype(np.float32).view(np.uint32).astype(np.uint64) for x in (a, b)]
    replayed = np.uint32(subject.replayed(*words)).view(np.float32)
    assert replayed == (a[0] * b[0]).sum()


KERNELS = ("split-k:4,pairs,parts=bf16", "promote:16,total=f16", "sliced:3,step=4", "split-k:2,reversed")


@pytest.mark.slow
@pytest.mark.parametrize("text", KERNELS)
def test_kernels_are_exact_as_far_as_is_proved(text: str) -> None:
    """Random integers up to the limit have their sum as the result; beyond, a counterexample is replayed."""
    proof = chain()
    row = side_of(f"volta/mma.m8n8k4.f32.f16.f16.f32+{text}@48").row
    assert isinstance(row.model, ProgramModel)
    subject = ProgramSubject.of_model(proof, row.model)
    limit = max((n for n in (1, 2, 3, 4, 6, 12, 40, 300) if not subject.proved(n, 48)), default=0)
    for seed in range(4):
        a, b = random_sums(np.random.default_rng(seed), limit, 48)
        words = (side.astype(np.float16).view(np.uint16) for side in (a, b))
        got = subject.results(*words)
        assert (row.model.d_format.name == "f32") and (got.view(np.float32) == a @ b.T).all()
    assert limit and counterexample(subject, limit, 48) is None
    beyond = counterexample(subject, 2000, 48)
    assert beyond is not None and beyond.result != beyond.exact
    assert "the program has 48 products" in subject.proved(1, 49)


@pytest.mark.slow
def test_a_program_that_leaves_products_out_is_not_exact(tmp_path: Path) -> None:
    path = tmp_path / "tail.toml"
    unit = "volta/mma.m8n8k4.f32.f16.f16.f32"
    path.write_text(
        f'a_format = "f16"\nb_format = "f16"\nprogram = "d = chain({unit}, A·B over K[:6], c)"\n',
        "utf-8",
    )
    found = tcsmt.accuracy.exact(f"{path}@8", integers=1, k=8)
    assert found.is_exact is False and "product 6 is added 0 times" in found.found.ends
    assert tcsmt.accuracy.exact(f"{path}@6", integers=1, k=6).is_exact
    options = tcsmt.SolvingOptions(certificate=tmp_path / "book")
    with pytest.raises(tcsmt.TcsmtError, match="certificates of exact kernels"):
        tcsmt.accuracy.exact(f"{path}@6", integers=1, k=6, options=options)


@pytest.mark.slow
def test_a_step_that_no_rule_looks_at_ends_the_proof_and_not_the_search(tmp_path: Path) -> None:
    path = tmp_path / "scaled.toml"
    unit = "volta/mma.m8n8k4.f32.f16.f16.f32"
    for factor, constant in (("0.5", "0x3f000000"), ("1", "0x3f800000")):
        path.write_text(
            'a_format = "f16"\nb_format = "f16"\n'
            f'program = "d = multiply_add(chain({unit}, A·B over K), {factor}:f32, c, f32)"\n', "utf-8",
        )  # fmt: skip
        found = tcsmt.accuracy.exact(f"{path}@4", integers=3, k=4)
        assert f"the constant {constant} in f32 is looked at by no rule" in found.found.ends
        # half of the sum is not the sum; the other is, and nothing says so
        assert found.is_exact is (False if factor == "0.5" else None)
