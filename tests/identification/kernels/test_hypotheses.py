"""Kernels that are tried: each another function, all that libraries do among them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tcsmt.identification.kernels.hypotheses import (
    hypotheses,
    reductions,
    same_function,
    varying,
    varying_hypotheses,
)
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.programs.kernels.epilogue import PLAIN, epilogue_named
from tcsmt.programs.kernels.expression import expression
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.kernels.reduction import CHAINED, reduction_named
from tcsmt.programs.kernels.units import ieee_unit

VOLTA, HALF = row_named("volta/mma.m8n8k4.f32.f16.f16.f32"), row_named("volta/mma.m8n8k4.f16.f16.f16.f16")
F16, F32 = FORMATS["f16"], FORMATS["f32"]
FMA = ieee_unit("ieee/fma.f32")


@pytest.mark.parametrize(
    ("k", "length", "ordinary"), [(4, 64, False), (16, 200, False), (1, 48, True), (1, 3, True)]
)
def test_each_is_another_function(k: int, length: int, ordinary: bool) -> None:
    """And what is listed beside it is the same one."""
    found = reductions(k, length, ordinary=ordinary)
    digests = [expression(one, length, k) for one in found]
    assert len(set(digests)) == len(digests)
    assert next(iter(found)) == CHAINED
    for one, others in found.items():
        assert all(expression(other, length, k) == expression(one, length, k) for other in others)
        assert one not in others
        assert all(level.order == "order" for other in others for level in other.levels)


@cache
def all_expressions(length: int, ordinary: bool) -> set[str]:
    """What each reduction that is tried computes, four lanes at a time."""
    return {expression(one, length, 4) for one in reductions(4, length, ordinary=ordinary)}


@pytest.mark.parametrize(
    ("length", "ordinary", "text"),
    [
        (4096, False, "split-k:3,step=64"),
        (4096, False, "promote:128"),
        (4096, False, "sliced:4,step=16"),
        (512, True, "promote:336"),
        (512, True, "promote:400,halved=8"),
        (64, True, "sliced:8,step=1,halves"),
        (512, True, "split-k:8"),
        (64, False, "split-k:5,reversed"),
        (8192, False, "sliced:13,step=64,folded"),
        (8192, False, "sliced:5,step=64/promote:128"),
        (4096, False, "split-k:3,step=128/promote:128"),
        (256, True, "sliced:4,step=1,pairs/sliced:2,step=1"),
        (1024, True, "sliced:4,step=1,pairs/sliced:2,step=1/sliced:4,step=2/sliced:2,step=1"),
        (1000, True, "promote:8"),
        (256, True, "promote:8/sliced:2,step=1"),
    ],
)
@pytest.mark.slow_cases("8192-False-sliced:13,step=64,folded")
def test_reductions_of_libraries_are_tried(length: int, ordinary: bool, text: str) -> None:
    wanted = expression(reduction_named(text), length, 4)
    assert wanted in all_expressions(length, ordinary)


def test_parts_and_totals_in_memory() -> None:
    """Only of narrower results, and of a split K in order."""
    plain = reductions(4, 64, ordinary=False)
    narrow = reductions(4, 64, ordinary=False, narrow=F16)
    assert plain.keys() < narrow.keys()
    texts = {str(one) for one in narrow.keys() - plain.keys()}
    assert {"split-k:2,parts=f16", "split-k:3,total=f16"} <= texts
    assert all(text.startswith("split-k:") and "reversed" not in text for text in texts)
    assert reductions(4, 64, ordinary=False, narrow=FORMATS["e4m3"]).keys() == plain.keys()  # no infinities


def test_results_of_the_unit_and_narrower_ones() -> None:
    own = hypotheses(VOLTA, F32, 64)
    assert {kernel.epilogue for kernel in own} == {PLAIN} and {kernel.unit for kernel in own} == {VOLTA}
    assert len(own) == len(reductions(4, 64, ordinary=False))
    half = hypotheses(VOLTA, F16, 64)
    assert {str(kernel.epilogue) for kernel in half} == {"out=f16"}
    assert len(half) == len(reductions(4, 64, ordinary=False, narrow=F16))
    eight = hypotheses(VOLTA, FORMATS["e4m3"], 64)
    assert eight and all(kernel.epilogue.saturate for kernel in eight)
    assert hypotheses(HALF, F32, 64) == []  # no wider ones
    assert hypotheses(row_named("x86/vpdpbusd"), F32, 64) == []


def test_reductions_that_vary_within_a_product() -> None:
    """No two of stream-K have the same cuts in all tiles; none cuts all tiles alike."""
    shape = 256, 192, 512
    found = [str(one) for one in varying(shape, 4)]
    assert {"split-k:3,any", "split-k:5,any", "stream-k:7,tile=64x64x32"} <= set(found)
    shared = [one for one in varying(shape, 4) if one.tiled]
    places = [(row, column) for row in range(0, 256, 64) for column in range(0, 192, 64)]
    cuts = [tuple(one.of_element(*place, shape) for place in places) for one in shared]
    assert all(len(set(one)) > 1 for one in cuts)
    sides = [one.levels[0].tile[:2] for one in shared]
    assert len(set(zip(sides, cuts, strict=True))) == len(shared)
    assert not any(one.tiled for one in varying((64, 64, 512), 4))  # one tile
    kernels = varying_hypotheses(VOLTA, F16, shape)
    assert len(kernels) == len(found) and {str(one.epilogue) for one in kernels} == {"out=f16"}
    assert varying_hypotheses(HALF, F32, shape) == []


def test_each_epilogue_with_each_reduction() -> None:
    ends = [epilogue_named("alpha=2"), epilogue_named("c=epilogue")]
    found = hypotheses(VOLTA, F32, 32, ends)
    count = len(reductions(4, 32, ordinary=False))
    assert [kernel.epilogue for kernel in found] == [end for end in ends for _ in range(count)]


def test_loops_are_tried_on_multiply_adds_alone() -> None:
    def kinds(kernels: list[Kernel]) -> set[tuple[str, int | None]]:
        return {(level.kind, level.step) for kernel in kernels for level in kernel.reduction.levels}

    assert ("sliced", 1) in kinds(hypotheses(FMA, F32, 64))
    assert ("sliced", 1) not in kinds(hypotheses(VOLTA, F32, 64))
    assert ("sliced", 16) in kinds(hypotheses(VOLTA, F32, 64))


def test_other_names_of_a_hypothesis() -> None:
    kernel = next(k for k in hypotheses(VOLTA, F32, 64) if str(k.reduction).startswith("split-k:2"))
    others = same_function(kernel, F32, 64)
    assert "promote:32" in map(str, others)
    assert same_function(replace(kernel, reduction=reduction_named("cuts:7")), F32, 64) == ()


def test_texts_of_one_function_give_the_same_words() -> None:
    """With a C, which a chain begins with, and which is added to a part."""
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((8, 16), (16, 8)))
    given = rng.standard_normal((8, 8)).astype(np.float32)
    kernel = Kernel(VOLTA, reduction_named("chained"))
    one_part = reduction_named("sliced:2,step=16")
    counts = []
    for c in (None, given):
        others = same_function(kernel, F32, 16, c=c is not None)
        assert (one_part in others) is (c is None)
        tried = [one.reduction for one in hypotheses(VOLTA, F32, 16, c=c is not None)]
        counts.append(len(tried))
        for other in others:
            assert (replace(kernel, reduction=other).multiply(a, b, c) == kernel.multiply(a, b, c)).all()
    assert counts[1] > counts[0]
    assert (replace(kernel, reduction=one_part).multiply(a, b, given) != kernel.multiply(a, b, given)).any()


@pytest.mark.slow
def test_parts_and_totals_are_rounded_together() -> None:
    """What a kernel does that holds partial sums and their running total in a BF16 workspace."""
    found = {str(one) for one in reductions(16, 4096, ordinary=False, narrow=FORMATS["bf16"])}
    assert "split-k:4,parts=bf16,total=bf16" in {text.replace(",step=16", "") for text in found}
