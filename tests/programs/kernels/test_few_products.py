"""Witnesses with few products along K: replayed by whole products, in the domain, and short."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from tcsmt.interface.api.units import side_of
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.programs.kernels.epilogue import PLAIN, epilogue_named
from tcsmt.programs.kernels.few_products import FewProducts
from tcsmt.programs.kernels.gemm import gemm
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.kernels.model import KernelModel
from tcsmt.programs.kernels.reduction import reduction_named
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


@pytest.mark.parametrize(
    ("unit", "last"),
    [("h100/mma.m16n8k16.f32.f16.f16.f32", "f16"), ("volta/mma.m8n8k4.f32.f16.f16.f32", "bf16")],
)
@pytest.mark.slow
def test_narrow_results_are_told_apart_by_few_products(unit: str, last: str) -> None:
    """A conversion hides most differences of sums; K = 116 took a solver more than 13 minutes."""
    row, end, k = side_of(unit).row, epilogue_named(f"out={last}"), 116
    kernels = [
        Kernel(row, reduction_named(text), end)
        for text in ("chained", "split-k:2", "split-k:4", "split-k:4,pairs")
    ]
    several, domain = FewProducts(row, tuple(kernels), k), Domain(c_zero=True)
    for one, two in ((0, 1), (2, 3)):
        sides = [
            KernelModel(unit=row.model, reduction=kernels[n].reduction, epilogue=end, k=k) for n in (one, two)
        ]
        values = several.witness(one, two, domain, difference("", ("x", sides[0]), ("y", sides[1]), domain))
        assert values is not None
        a, b = (np.array([values[f"{s}{n}"] for n in range(k)], np.uint16).view(np.float16) for s in "ab")
        c = np.zeros((1, 1), np.float32)
        results = [
            gemm(a[None], b[:, None], c, model=row.model, reduction=kernels[n].reduction, epilogue=end)
            for n in (one, two)
        ]
        assert results[0] != results[1]
        assert sum(bool(x) for x in a) <= 4


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["ieee/fma.f32.f16", "h100/mma.m16n8k16.f32.f16.f16.f32"])
def test_witnesses_of_near_exponents_are_short(unit: str) -> None:
    """A sum next to the middle of two results, without products that are far apart (93 were left of 116)."""
    row, end, k = side_of(unit).row, epilogue_named("out=f16"), 116
    kernels = tuple(Kernel(row, reduction_named(text), end) for text in TEXTS[:2])
    domain = Domain(exponents=(-1, 1), c_zero=True)
    sides = [KernelModel(unit=row.model, reduction=each.reduction, epilogue=end, k=k) for each in kernels]
    question = difference("", (TEXTS[0], sides[0]), (TEXTS[1], sides[1]), domain)
    values = FewProducts(row, kernels, k).witness(0, 1, domain, question)
    assert values is not None and domain.contains(question.formats, values)
    assert 2 <= sum(bool(values[f"a{n}"]) for n in range(k)) <= 8
    a, b = (np.array([values[f"{s}{n}"] for n in range(k)], np.uint16).view(np.float16) for s in "ab")
    c = np.zeros((1, 1), np.float32)
    d = [
        gemm(a[None], b[:, None], c, model=row.model, reduction=each.reduction, epilogue=end)
        for each in kernels
    ]
    assert d[0] != d[1]


@pytest.mark.slow
def test_without_few_products_random_ones_are_reduced() -> None:
    """Exponents so near to each other that few products are summed exactly."""
    texts, k = ("chained", "split-k:2"), 64
    several = FewProducts(VOLTA, tuple(Kernel(VOLTA, reduction_named(text), PLAIN) for text in texts), k)
    domain = Domain(exponents=(0, 0), positive=True, c_zero=True)
    sides = [KernelModel(unit=VOLTA.model, reduction=reduction_named(t), epilogue=PLAIN, k=k) for t in texts]
    question = difference("", (texts[0], sides[0]), (texts[1], sides[1]), domain)
    values = several.witness(0, 1, domain, question)
    assert values is not None and domain.contains(question.formats, values)
    lanes = [n for n in range(k) if values[f"a{n}"]]
    assert 4 < len(lanes) < 17  # more than the few that are tried first
    a, b = (np.array([values[f"{s}{n}"] for n in range(k)], np.uint16).view(np.float16) for s in "ab")
    c = np.zeros((1, 1), np.float32)
    d = [gemm(a[None], b[:, None], c, model=VOLTA.model, reduction=reduction_named(text)) for text in texts]
    assert d[0] != d[1]
