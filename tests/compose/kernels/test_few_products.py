"""Witnesses with few products along K: replayed by whole products, in the domain, and short."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from tcsmt.compose.kernels.epilogue import PLAIN
from tcsmt.compose.kernels.few_products import FewProducts
from tcsmt.compose.kernels.gemm import gemm
from tcsmt.compose.kernels.kernel import Kernel
from tcsmt.compose.kernels.model import KernelModel
from tcsmt.compose.kernels.reduction import reduction_named
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import Question, difference

VOLTA = row_named("volta/mma.m8n8k4.f32.f16.f16.f32")
TEXTS = ("chained", "split-k:2", "split-k:3", "promote:8", "split-k:2,reversed")
K = 12


def asked(one: str, two: str, domain: Domain) -> Question:
    sides = [
        KernelModel(unit=VOLTA.model, reduction=reduction_named(text), epilogue=PLAIN, k=K)
        for text in (one, two)
    ]
    return difference("kernels", (one, sides[0]), (two, sides[1]), domain)


@pytest.fixture(scope="module")
def few() -> FewProducts:
    return FewProducts(VOLTA, tuple(Kernel(VOLTA, reduction_named(text), PLAIN) for text in TEXTS), K)


def product(values: dict[str, int], text: str) -> int:
    """On arrays, by the whole product."""
    a, b = (np.array([values[f"{side}{n}"] for n in range(K)], np.uint16).view(np.float16) for side in "ab")
    c = np.array([[values["c"]]], np.uint32).view(np.float32)
    whole = gemm(a[None], b[:, None], c, model=VOLTA.model, reduction=reduction_named(text))
    return int(whole.view(np.uint32)[0, 0])


@pytest.mark.parametrize("domain", [Domain(), Domain(positive=True, c_zero=True, exponents=(-3, 3))], ids=str)
def test_witnesses_replay(few: FewProducts, domain: Domain) -> None:
    found = 0
    for (one, left), (two, right) in combinations(enumerate(TEXTS[:3]), 2):
        question = asked(left, right, domain)
        values = few.witness(one, two, domain, question)
        if values is None:
            continue
        found += 1
        assert values.keys() == question.formats.keys()
        assert domain.contains(question.formats, values)
        assert product(values, left) != product(values, right), (left, right)
        lanes = {name[1:] for name, word in values.items() if word and name != "c"}
        assert len(lanes) <= 4
    assert found == 3


def test_the_same_function_has_no_witness(few: FewProducts) -> None:
    """Two parts in any order, or of eight products and four."""
    for left, right in (("split-k:2", "split-k:2,reversed"), ("split-k:2", "promote:8")):
        domain = Domain(c_zero=True)  # it is added first
        question = asked(left, right, domain)
        assert few.witness(TEXTS.index(left), TEXTS.index(right), domain, question) is None


def test_no_witness_outside_of_the_domain(few: FewProducts) -> None:
    """Numbers so coarse that every sum is exact."""
    domain = Domain(exponents=(0, 0), bits=(1, 1), c_zero=True)
    assert few.witness(0, 1, domain, asked("chained", "split-k:2", domain)) is None
