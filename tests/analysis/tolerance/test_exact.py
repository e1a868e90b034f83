"""Which elements are off by more than their bounds, to the last bit."""

from fractions import Fraction
from functools import partial

import numpy as np

from tcsmt.analysis.tolerance.exact import exact_element, outside
from tcsmt.analysis.tolerance.kernels import ElementBounds, MatrixWords
from tcsmt.interface.api.units import side_of
from tcsmt.programs.kernels.epilogue import epilogue_named
from tcsmt.programs.kernels.kernel import Kernel

A = np.array([[1.0, 2.0**60], [3.0, 0.5]])
B = np.array([[1.0, -1.0], [1.0, 2.0]])
WORDS = [x.astype("f4").view("u4") for x in (A, B, np.ones((2, 2)))]
OPERANDS = MatrixWords(WORDS[0], WORDS[1], WORDS[2], np.array([0, 0x40000000], "u4"))
KERNEL = Kernel(side_of("ieee/fma.f32").row, epilogue=epilogue_named("alpha=0.1,beta=2,bias"))


def test_an_element_in_fractions() -> None:
    alpha = Fraction(float(np.float32(0.1)))
    assert exact_element(KERNEL, OPERANDS, 0, 0) == alpha * (1 + 2**60) + 2
    assert exact_element(KERNEL, OPERANDS, 1, 1) == alpha * -2 + 2 + 2


def test_what_binary64_cannot_decide_is_decided_exactly() -> None:
    """The exact results have more bits than binary64: at the bound, a bit of it makes the difference."""
    kernel = Kernel(side_of("ieee/fma.f32").row)
    operands = MatrixWords(OPERANDS.a, OPERANDS.b)
    exact = np.array([[float(exact_element(kernel, operands, i, j)) for j in range(2)] for i in range(2)])
    error = np.full((2, 2), 128.0)
    values = exact.copy()  # off by 1 in the first row, which binary64 does not see
    for atol, wrong in ((1.0, False), (np.nextafter(1.0, 0), True)):
        found = outside(
            partial(exact_element, kernel, operands),
            ElementBounds(np.full((2, 2), atol), exact, error),
            values,
        )
        assert found.tolist() == [[wrong, wrong], [False, False]]


def test_nans_are_outside_and_infinite_bounds_allow_all() -> None:
    kernel = Kernel(side_of("ieee/fma.f32").row)
    operands = MatrixWords(OPERANDS.a, OPERANDS.b)
    bounds = ElementBounds(np.array([[1e30, np.inf], [1e30, np.inf]]), np.zeros((2, 2)), np.zeros((2, 2)))
    values = np.array([[np.nan, np.nan], [np.inf, 0.0]])
    assert outside(partial(exact_element, kernel, operands), bounds, values).tolist() == [
        [True, False],
        [True, False],
    ]
