"""What planted bugs look like: named with the kernel that gives D's bits, or to within rounding errors."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tcsmt.identification.diagnosis.diagnose import Diagnosis, diagnose
from tcsmt.identification.diagnosis.recorded import RecordedResult
from tcsmt.interface.api.units import side_of
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.words import format_of
from tcsmt.programs.kernels.epilogue import epilogue_named
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.kernels.reduction import reduction_named

pytestmark = pytest.mark.slow

UNIT = side_of("ieee/fma.f32.f16").row
RNG = np.random.default_rng(6)
A, B = (RNG.standard_normal(shape).astype(np.float16) for shape in ((24, 96), (96, 24)))
C, BIAS = RNG.standard_normal((24, 24)).astype("f4"), RNG.standard_normal(24).astype("f4")
TERMS = A.astype("f4")[:, :, None] * B.astype("f4")[None]


def kernel(text: str) -> Kernel:
    reduction, _, epilogue = text.partition("+")
    return Kernel(UNIT, reduction_named(reduction), epilogue_named(epilogue))


KERNEL = kernel("split-k:2+bias")


def result(text: str = "split-k:2+bias") -> Any:
    return kernel(text).multiply(A, B, C, bias=BIAS if "bias" in text else None)


def diagnosed(d: Any, a: Any = A, b: Any = B, expected: Kernel = KERNEL) -> Diagnosis | None:
    words = {"a": a.view(f"u{a.itemsize}"), "b": b.view(f"u{b.itemsize}")}
    if expected is KERNEL:
        words |= {"c": C.view("u4"), "bias": BIAS.view("u4")}
    fmt = format_of(d.dtype)
    assert fmt is not None
    recorded = RecordedResult.of(expected, words, d.astype(np.float64), fmt)
    assert recorded is not None
    return diagnose(recorded, [expected])


def kinds(d: Any) -> list[str]:
    found = diagnosed(d)
    assert found is not None
    return [one.text for one in found.explanations]


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
        (D + 2 * C, "another beta: D has C 3 times"),
        (result("split-k:2"), "the bias left out"),
        (D + BIAS, "the bias added twice"),
        (np.zeros_like(D), "elements that were never computed: they are zero"),
        (D * np.float32(0.5), "alpha, or a scale: every element is 0.5 times the exact result"),
        (D * np.float32(1.7), "alpha, or a scale: every element is 1.7 times the exact result"),
        (D.T, "a transposed result: every element is that of D's transpose"),
        (D.astype(np.float16), "results in f16: +bias,out=f16"),
        (D.astype(ml_dtypes.bfloat16), "results in bf16: +bias,out=bf16"),
        (result("split-k:2,parts=bf16+bias"), "partial sums in bf16: split-k:2,parts=bf16"),
        (result("split-k:2,total=f16+bias"), "a running total in f16: split-k:2,total=f16"),
        (result("promote:1,total=f16+bias"), "accumulation in f16: promote:1,total=f16"),
        (result("promote:16,total=f16+bias"), "accumulation in f16: promote:16,total=f16"),
        (halves(), "accumulation in f16: promote:1,parts=f16,total=f16"),
        (
            np.full_like(D, np.nan),
            "memory that was never written, or Inf - Inf: 576 of 576 elements are NaNs",
        ),
        (np.full_like(D, np.inf), "an overflow, as of FP16 partial sums: 576 of 576 elements are infinite"),
    ],
)
def test_planted_bugs(d: Any, text: str) -> None:
    assert kinds(d)[:1] == [text]


def test_what_gives_the_bits_says_so() -> None:
    found = diagnosed(result("split-k:2,parts=bf16+bias"))
    assert found is not None
    first = found.explanations[0]
    assert first.kernel == kernel("split-k:2,parts=bf16+bias")
    assert first.evidence == f"{kernel('split-k:2,parts=bf16+bias').name} gives all 576 elements, bit for bit"
    assert first.as_json()["kernel"] == kernel("split-k:2,parts=bf16+bias").name
    near = diagnosed(D - TERMS[:, 41])  # the other terms' roundings are others
    assert near is not None and near.explanations[0].kernel is None
    assert "none of the 512 elements" in near.explanations[0].evidence
    assert next(iter(near.lines())).endswith("a term left out: k = 41")


def test_a_kernels_own_result_has_no_diagnosis() -> None:
    assert diagnosed(result()) is None


def test_ones_that_stick_at_256_are_a_narrow_accumulator() -> None:
    """Not so many terms left out, which explains D as well and is told after it."""
    a, b = np.ones((8, 1018), ml_dtypes.bfloat16), np.ones((1018, 8), ml_dtypes.bfloat16)
    found = diagnosed(np.full((8, 8), 256, np.float32), a, b, Kernel(side_of("ieee/fma.f32.bf16").row))
    assert found is not None
    texts = [one.text for one in found.explanations]
    assert texts[0] == "accumulation in bf16: promote:1,total=bf16"
    assert any("762 terms left out" in text for text in texts[1:])


def test_few_numbers_that_are_exact() -> None:
    """B is 1 on the diagonal: nothing is rounded but the operands, or the result, which is the same."""
    a, b = np.array([[0.1, 0.3], [0.7, 0.9]], np.float32), np.eye(2, dtype=np.float32)
    d = a.astype(ml_dtypes.bfloat16).astype(np.float32)
    found = diagnosed(d, a, b, Kernel(side_of("ieee/fma.f32").row))
    assert found is not None
    assert found.explanations[0].text == "operands rounded to bf16 (nearest-even)"


def test_a_part_of_d() -> None:
    d = D.copy()
    d[8:16, 4:8] = np.arange(32).reshape(8, 4) * 0.3 + 0.25
    (text,) = kinds(d)
    assert text == "a tile, or memory: all that is off lies in rows 8 to 15, columns 4 to 7"
    d[8:16, 4:8] = D[8:16, 4:8] - TERMS[8:16, 90:, 4:8].sum(axis=1)
    assert kinds(d) == ["6 terms left out: k = 90 to 95, the last ones of K", text]


def test_nothing_known() -> None:
    found = diagnosed((D + RNG.standard_normal(D.shape)).astype(np.float32))
    assert found is not None and not found.explanations
    (line,) = found.lines()
    assert line.startswith("not explained")


def test_a_result_beyond_the_format_is_no_overflow_of_partial_sums() -> None:
    """Where the exact results are too large for D's format, infinities say nothing of sums before."""
    d = np.full((2, 2), np.inf, np.float16)
    wide, long = np.full((2, 32), 300.0, np.float16), np.full((32, 2), 300.0, np.float16)
    found = diagnosed(d, wide, long, kernel("chained+out=f16"))
    assert found is None
    found = diagnosed(d, wide, long, kernel("chained"))
    assert found is None or "partial sums" not in " ".join(one.text for one in found.explanations)
    long[::2] *= -1
    found = diagnosed(d, wide, long, kernel("chained"))
    assert found is not None
    assert "an overflow" in " ".join(one.text for one in found.explanations)


def test_one_element_says_too_little() -> None:
    """Of one number that is a few last places off nothing is named: chance gives as much."""
    d = result("promote:2+bias")[:1, :1]
    one = RecordedResult.of(
        kernel("chained"), {"a": A[:1].view("u2"), "b": B[:, :1].view("u2")}, d.astype("f8"), FORMATS["f32"]
    )
    assert one is not None
    found = diagnose(one, [kernel("chained")])
    assert found is not None
    assert not [each for each in found.explanations if each.kernel is not None]
