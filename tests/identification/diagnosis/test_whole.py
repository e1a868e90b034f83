"""Changes of a whole result: what each expects, and the kernel that has it."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.identification.diagnosis.recorded import RecordedResult
from tcsmt.identification.diagnosis.sample import ResultSample
from tcsmt.identification.diagnosis.whole import changed_result
from tcsmt.interface.api.units import side_of
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.programs.kernels.epilogue import epilogue_named
from tcsmt.programs.kernels.kernel import Kernel

RNG = np.random.default_rng(7)
A, B, C = (RNG.standard_normal((9, 9)).astype(np.float32) for _ in range(3))
BIAS = RNG.standard_normal(9).astype(np.float32)
UNIT = side_of("ieee/fma.f32").row
KERNEL = Kernel(UNIT, epilogue=epilogue_named("alpha=0.5,beta=2,bias"))
AB, ROWS = A.astype("f8") @ B.astype("f8"), RNG.standard_normal((9, 1))


def fitting(d: np.ndarray, kernel: Kernel = KERNEL) -> dict[str, object]:
    """What explains a result, with the kernels that have the change."""
    words = {"a": A.view("u4"), "b": B.view("u4")}
    words |= {"c": C.view("u4"), "bias": BIAS.view("u4")} if kernel is KERNEL else {}
    recorded = RecordedResult.of(kernel, words, d.astype("f4").astype("f8"), FORMATS["f32"])
    assert recorded is not None
    sample = ResultSample.of(recorded, [kernel], np.argwhere(np.ones(d.shape, bool)))
    return {
        change.what: [str(other.epilogue) for way in change.ways for other in way.kernels(kernel)]
        for change in changed_result(sample)
        if sample.fits(change.expected, change.count, change.size)
    }


@pytest.mark.parametrize(
    ("d", "text", "epilogue"),
    [
        (0.5 * AB + 2 * C, "the bias left out", "alpha=0.5,beta=2"),
        (0.5 * AB + BIAS, "C left out", "alpha=0.5,beta=2,bias"),
        (0.5 * AB + C + BIAS, "another beta: D has C 1 times", "alpha=0.5,bias"),
        (AB + 2 * C + BIAS, "alpha, or a scale: D has A·B 2 times", "beta=2,bias"),
        (
            -0.75 * (0.5 * AB + 2 * C + BIAS),
            "alpha, or a scale: every element is -0.75 times the exact result",
            None,
        ),
        ((0.5 * AB + 2 * C + BIAS).T, "a transposed result: every element is that of D's transpose", None),
        (0.5 * A.T.astype("f8") @ B + 2 * C + BIAS, "A transposed", None),
        (0.5 * A @ B.T.astype("f8") + 2 * C + BIAS, "B transposed", None),
        (0.5 * B.astype("f8") @ A + 2 * C + BIAS, "A and B in the other order", None),
    ],
)
def test_each_is_found_alone(d: np.ndarray, text: str, epilogue: str | None) -> None:
    found = fitting(d)
    assert text in found
    if epilogue is not None:
        assert epilogue in found[text]  # type: ignore[operator]


def test_a_number_for_each_row_or_column() -> None:
    plain = Kernel(UNIT)
    assert "D - A·B is the same number in each column: a bias for each column" in fitting(AB + BIAS, plain)
    assert "D - A·B is the same number in each row: a bias for each row" in fitting(AB + ROWS, plain)
    assert "a scale for each row: D is A·B times a number of each row" in fitting(AB * ROWS, plain)
    assert not fitting(AB + RNG.standard_normal(AB.shape), plain)
