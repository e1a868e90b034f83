"""Runs of terms, the best of each sort, on products whose sums nobody else makes."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.identification.diagnosis.recorded import RecordedResult
from tcsmt.identification.diagnosis.sample import ResultSample
from tcsmt.identification.diagnosis.terms import changed_terms
from tcsmt.interface.api.units import side_of
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.programs.kernels.elements import SampledElements
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.kernels.reduction import reduction_named

RNG = np.random.default_rng(5)
A, B = (RNG.standard_normal(shape).astype(np.float32) for shape in ((8, 100), (100, 6)))
KERNEL = Kernel(side_of("ieee/fma.f32").row, reduction_named("split-k:4"))


def fitting(order: list[int]) -> list[str]:
    """What explains a result of these indices of K."""
    d = KERNEL.multiply(A[:, order], B[order]).astype("f8")
    recorded = RecordedResult.of(KERNEL, {"a": A.view("u4"), "b": B.view("u4")}, d, FORMATS["f32"])
    assert recorded is not None
    sample = ResultSample.of(recorded, [KERNEL], np.argwhere(np.ones(d.shape, bool)))
    return [change.what for change in changed_terms(sample) if sample.fits(change.expected, change.count)]


K = list(range(100))


@pytest.mark.parametrize(
    ("order", "text"),
    [
        (K[:-1], "a term left out: k = 99"),
        (K[1:], "a term left out: k = 0"),
        ([*K[:31], *K[32:]], "a term left out: k = 31"),
        ([0, *K], "a term added twice: k = 0"),
        (K[:-7], "7 terms left out: k = 93 to 99, the last ones of K"),
        (K[13:], "13 terms left out: k = 0 to 12"),
        ([*K[:17], *K[41:]], "24 terms left out: k = 17 to 40"),
        ([*K, *K[25:50]], "25 terms added twice: k = 25 to 49"),
        (
            [*K[:32], *K[16:32], *K[48:]],
            "a stage of K in place of another: k = 16 to 31 in place of k = 32 to 47",
        ),
    ],
)
def test_the_run_is_found(order: list[int], text: str) -> None:
    assert fitting(order) == [text]


def test_all_of_k_twice_is_a_factor() -> None:
    assert fitting([*K, *K]) == []


def test_a_part_that_is_added_twice_is_computed_as_one_more_part() -> None:
    parts = [KERNEL.multiply(A[:, at : at + 25], B[at : at + 25]) for at in range(0, 100, 25)]
    chained = [Kernel(KERNEL.unit).multiply(A[:, at : at + 25], B[at : at + 25]) for at in range(0, 100, 25)]
    assert len(parts) == 4
    d = chained[0] + chained[1] + chained[1] + chained[2] + chained[3]
    recorded = RecordedResult.of(
        KERNEL, {"a": A.view("u4"), "b": B.view("u4")}, d.astype("f8"), FORMATS["f32"]
    )
    assert recorded is not None
    sample = ResultSample.of(recorded, [KERNEL], np.argwhere(np.ones(d.shape, bool)))
    (change,) = [one for one in changed_terms(sample) if sample.fits(one.expected, one.count)]
    way = change.ways[-1]
    inputs = way.inputs(SampledElements(recorded.a, recorded.b))
    results = [kernel.multiply(inputs.a, inputs.b.T) for kernel in way.kernels(KERNEL)]
    assert any(np.array_equal(result, d) for result in results)
