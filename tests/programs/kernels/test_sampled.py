"""Some elements under many reductions at once: bit for bit what whole products give, one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import Model, Operands
from tcsmt.programs.kernels import sampled
from tcsmt.programs.kernels.gemm import gemm
from tcsmt.programs.kernels.reduction import Reduction, reduction_named
from tcsmt.programs.kernels.sampled import sums
from tcsmt.programs.kernels.schedule import Schedule
from tcsmt.simulate.rows import run_words

TEXTS = (
    "chained", "split-k:2", "split-k:3,pairs", "sliced:2", "promote:4,from-zero", "split-k:3,parts=bf16",
    "split-k:2,total=bf16", "split-k:2/promote:3", "cuts:5", "split-k:50",
)  # fmt: skip
VOLTA = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model


def scheduled(text: str) -> tuple[Schedule, Reduction]:
    reduction = reduction_named(text)
    return Schedule(VOLTA, reduction), reduction


def drawn(rows: int, length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    a, b = ((rng.standard_normal((rows, length)) * 4).astype(np.float16) for _ in "ab")
    return a, b, rng.standard_normal(rows).astype(np.float32)


@pytest.mark.parametrize("length", [11, 16, 1])
@pytest.mark.parametrize("with_c", [True, False])
def test_sampled_elements_are_those_of_the_products(length: int, with_c: bool) -> None:
    a, b, c = drawn(23, length)
    given = np.diag(c) if with_c else None
    wanted = [scheduled(text) for text in TEXTS]
    start = c.view(np.uint32) if with_c else None
    steps: list[tuple[int, int]] = []
    found = sums(
        wanted, a.view(np.uint16), b.view(np.uint16), start,
        lambda done, count: steps.append((done, count)),
    )  # fmt: skip
    for text, (_, reduction), held in zip(TEXTS, wanted, found, strict=True):
        whole = gemm(a, b.T, given, model=VOLTA, reduction=reduction)
        assert np.diagonal(whole).view(np.uint32).tolist() == held.tolist(), text
    assert [done for done, _ in steps] == list(range(1, len(steps) + 1)) and steps[-1][0] == steps[-1][1]


def test_portions_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, c = (x.view(f"u{x.itemsize}") for x in drawn(10, 13))
    wanted = [scheduled(text) for text in TEXTS]
    whole = [held.tolist() for held in sums(wanted, a, b, c)]
    monkeypatch.setattr(sampled, "_FEW", 20)
    assert [held.tolist() for held in sums(wanted, a, b, c)] == whole


def test_chains_that_reductions_share_are_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[int] = []

    def counted(model: Model, words: Operands[Any, Any]) -> Any:
        rows.append(len(words.c))
        return run_words(model, words)

    monkeypatch.setattr(sampled, "run_words", counted)
    a, b, _ = (x.view(f"u{x.itemsize}") for x in drawn(5, 8))
    sums([scheduled("split-k:2")], a, b)
    once = sum(rows)
    rows.clear()
    sums([scheduled(text) for text in ("split-k:2", "split-k:2,reversed", "promote:4")], a, b)
    assert sum(rows) == once == 2 * 5
