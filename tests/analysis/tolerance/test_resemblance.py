"""What planted bugs look like."""

from typing import Any

import numpy as np
import pytest

from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.tolerance.exact import outside
from tcsmt.analysis.tolerance.kernels import MatrixWords, bounds_of_product, least_operand, loss_on
from tcsmt.analysis.tolerance.resemblance import looks_like
from tcsmt.compose.kernels.epilogue import epilogue_named
from tcsmt.compose.kernels.kernel import Kernel
from tcsmt.compose.kernels.reduction import reduction_named
from tcsmt.face.api.units import side_of
from tcsmt.prove.engine.solving import Solving

UNIT = side_of("ieee/fma.f32.f16").row
RNG = np.random.default_rng(6)
A, B = (RNG.standard_normal(shape).astype(np.float16) for shape in ((24, 96), (96, 24)))
C, BIAS = RNG.standard_normal((24, 24)).astype("f4"), RNG.standard_normal(24).astype("f4")
OPERANDS = MatrixWords(A.view("u2"), B.view("u2"), C.view("u4"), BIAS.view("u4"))
LOSS = loss_on(StepwiseProof(Solving()), UNIT.model, least_operand(UNIT.model, OPERANDS))
TERMS = A.astype("f4")[:, :, None] * B.astype("f4")[None]


def kernel(text: str) -> Kernel:
    reduction, _, epilogue = text.partition("+")
    return Kernel(UNIT, reduction_named(reduction), epilogue_named(epilogue))


KERNEL = kernel("split-k:2+bias")
BOUNDS = bounds_of_product(KERNEL, OPERANDS, LOSS)


def result(text: str = "split-k:2+bias") -> Any:
    return kernel(text).multiply(A, B, C, bias=BIAS if "bias" in text else None)


def kinds(d: Any) -> list[str]:
    values = d.astype(np.float64)
    wrong = outside(KERNEL, OPERANDS, BOUNDS, values)
    assert wrong.any()
    return looks_like(KERNEL, OPERANDS, BOUNDS, values, wrong, LOSS)


def halves() -> Any:
    """As a program does that accumulates in FP16."""
    total = np.zeros((24, 24), np.float16)
    for k in range(96):
        total = (total + (A[:, k : k + 1] * B[k : k + 1]).astype(np.float16)).astype(np.float16)
    return total.astype("f4") + C + BIAS


D = result()


@pytest.mark.parametrize(
    ("d", "text"),
    [
        (D - TERMS[:, 41], "a term left out: k = 41"),
        (D + TERMS[:, 7], "a term added twice: k = 7"),
        (D - TERMS[:, 80:].sum(axis=1), "16 terms left out: k = 80 to 95, the last ones of K"),
        (D - TERMS[:, :9].sum(axis=1), "9 terms left out: k = 0 to 8"),
        (D - C, "C left out"),
        (D + C, "C added twice"),
        (result("split-k:2"), "the bias left out"),
        (np.zeros_like(D), "elements that were never computed: they are zero within their bounds"),
        (BOUNDS.exact * 0.5, "alpha, or a scale: every element is 0.5 times the exact result"),
        (D.T, "a transposed result: every element is that of D's transpose"),
        (D.astype(np.float16), "results in F16: no element tried is off by more than that allows"),
        (
            result("split-k:2,parts=bf16+bias"),
            "partial sums in BF16: split-k:2,parts=bf16 gives the same bits, on all 256 elements tried",
        ),
        (
            result("split-k:2,total=f16+bias"),
            "a running total in F16: split-k:2,total=f16 gives the same bits, on all 256 elements tried",
        ),
        (
            result("promote:1,total=f16+bias"),
            "accumulation in F16: promote:1,total=f16 gives the same bits, on all 256 elements tried",
        ),
        (halves(), "accumulation in F16: no element tried is off by more than that allows"),
        (
            np.full_like(D, np.nan),
            "memory that was never written, or Inf - Inf: 256 of 256 elements are NaNs",
        ),
        (np.full_like(D, np.inf), "an overflow, as of FP16 partial sums: 256 of 256 elements are infinite"),
    ],
)
def test_planted_bugs(d: Any, text: str) -> None:
    assert kinds(d) == [text]


def test_a_part_of_d() -> None:
    d = D.copy()
    d[8:16, 4:8] = 0.25
    (text,) = kinds(d)
    assert text == "a tile, or memory: all that is off lies in rows 8 to 15, columns 4 to 7"
    d[8:16, 4:8] = D[8:16, 4:8] - TERMS[8:16, 90:, 4:8].sum(axis=1)
    assert kinds(d) == ["6 terms left out: k = 90 to 95, the last ones of K", text]


def test_nothing_known() -> None:
    assert kinds(D + RNG.standard_normal(D.shape)) == []
