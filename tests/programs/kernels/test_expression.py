"""Digests of the trees of sums: equal where the arithmetic is, for every small reduction and length."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from tcsmt.programs.kernels.expression import expression
from tcsmt.programs.kernels.gemm import gemm
from tcsmt.programs.kernels.reduction import Reduction, reduction_named
from tcsmt.programs.kernels.units import ieee_unit

UNIT = ieee_unit("ieee/fma.f32").model
TEXTS = (
    "chained", "split-k:1", "split-k:2", "split-k:2,reversed", "split-k:2,step=4", "split-k:3",
    "split-k:3,reversed", "split-k:4", "split-k:4,pairs", "split-k:4,reversed", "promote:4", "promote:3",
    "promote:6", "sliced:2", "sliced:2,step=1", "sliced:4,step=1,halves", "sliced:4,step=1,pairs",
    "promote:4,from-zero", "split-k:2,parts=bf16", "split-k:2,total=bf16", "split-k:2/promote:3",
    "cuts:6", "cuts:4-8",
)  # fmt: skip


def same(one: str, two: str, length: int, k: int = 1) -> bool:
    return expression(reduction_named(one), length, k) == expression(reduction_named(two), length, k)


@pytest.mark.parametrize(
    ("one", "two", "length", "equal"),
    [
        ("split-k:2", "promote:6", 12, True),
        ("split-k:2", "cuts:6", 12, True),
        ("split-k:2", "split-k:2,reversed", 12, True),  # additions commute
        ("split-k:3", "split-k:3,reversed", 12, False),
        ("split-k:4,pairs", "split-k:4", 12, False),
        ("sliced:4,step=1,halves", "sliced:4,step=1,pairs", 12, False),
        ("split-k:1", "chained", 12, True),
        ("promote:12", "chained", 12, True),
        ("promote:12", "chained", 13, False),
        ("promote:12,from-zero", "chained", 12, False),  # +0 is added
        ("split-k:2,parts=bf16", "split-k:2", 12, False),
        ("split-k:1,parts=bf16", "chained", 12, False),
        ("split-k:2,parts=bf16", "split-k:2,total=bf16", 12, False),
        ("split-k:1,sum=f64", "chained", 12, False),  # the result has another format
        ("split-k:2/split-k:1,sum=f64", "split-k:2", 12, False),  # and so have its sums
        ("split-k:2,sum=f64/split-k:1,sum=f64", "split-k:2,sum=f64", 12, True),
        ("split-k:3,any", "split-k:3,step=4,any", 12, True),
        ("split-k:3,any", "split-k:3", 12, False),
    ],
)
def test_reductions_are_the_same_where_additions_commute(
    one: str, two: str, length: int, equal: bool
) -> None:
    assert same(one, two, length) is equal


@pytest.mark.parametrize("length", [3, 12])
def test_equal_digests_are_equal_products(length: int) -> None:
    """And others are told apart by numbers of many sizes."""
    rng = np.random.default_rng(length)
    a, b = (
        (rng.standard_normal(shape) * 2.0 ** rng.integers(-9, 9, shape)).astype(np.float32)
        for shape in ((40, length), (length, 40))
    )
    found = {text: gemm(a, b, model=UNIT, reduction=reduction_named(text)).tobytes() for text in TEXTS}
    apart = 0
    for one, two in combinations(TEXTS, 2):
        equal = found[one] == found[two]
        assert equal or not same(one, two, length), (one, two)
        # +0 changes no sum but that of negative zeros, of which there is none here
        assert same(one, two, length) or not equal or "from-zero" in one + two, (one, two)
        apart += found[one] != found[two]
    assert apart > 20


def test_c_enters_a_chain_or_is_added_to_it() -> None:
    one, two = (reduction_named(text) for text in ("chained", "split-k:1"))
    assert expression(one, 12, 1) == expression(two, 12, 1)
    assert expression(one, 12, 1, c=True) != expression(two, 12, 1, c=True)


def test_the_unit_s_k_counts_where_stripes_are_as_long() -> None:
    assert expression(reduction_named("sliced:2"), 16, 4) != expression(reduction_named("sliced:2"), 16, 1)
    assert expression(Reduction(), 16, 4) == expression(Reduction(), 16, 1)
