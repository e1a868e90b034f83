"""Which elements of a result are off by more than their bounds: decided exactly where binary64 cannot."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from tcsmt.analysis.tolerance.kernels import ElementBounds, MatrixWords
from tcsmt.matrix_units.arithmetic.conversion import floats
from tcsmt.matrix_units.arithmetic.formats import float_format
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.kernels.schedule import Schedule

Array = np.ndarray[Any, np.dtype[Any]]
#: What a few operations of binary64 lose at most, relative to their results.
_LOST = 2.0**-50


def outside(exact: Callable[[int, int], Fraction | None], bounds: ElementBounds, values: Array) -> Array:
    """Where values (M, N), in binary64, are further from the exact result than the bounds allow, or NaNs.

    exact: the exact result of an element, for those that binary64 does not decide; None: not known, and so
    not outside. Infinity is allowed where there is no bound.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(values - bounds.exact)
        doubt = bounds.error + _LOST * (apart + np.abs(bounds.exact) + np.abs(values))
        wrong = ~(apart - doubt <= bounds.atol)
        wrong &= np.isfinite(bounds.atol)
        unclear = ~wrong & (apart + doubt > bounds.atol) & np.isfinite(bounds.atol)
    for row, column in np.argwhere(unclear):
        right = exact(int(row), int(column))
        if right is not None:
            error = abs(Fraction(float(values[row, column])) - right)
            wrong[row, column] = error > Fraction(float(bounds.atol[row, column]))
    result: Array = wrong
    return result


def exact_element(kernel: Kernel, operands: MatrixWords, row: int, column: int) -> Fraction:
    """alpha·Σ a·b + beta·c + bias of one element, in fractions; alpha and beta as the kernel has them."""
    schedule, epilogue = kernel.schedule, kernel.epilogue
    unit = schedule.unit
    a, b = (
        [Fraction(x) for x in floats(float_format(fmt), words).tolist()]
        for fmt, words in ((unit.a_format, operands.a[row]), (unit.b_format, operands.b[:, column]))
    )
    total = sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0)) * in_kernel(schedule, epilogue.alpha)
    if operands.c is not None and epilogue.beta != 0:
        c = floats(float_format(unit.c_format), operands.c[row, column])
        total += in_kernel(schedule, epilogue.beta) * Fraction(float(c))
    if operands.bias is not None:
        total += Fraction(float(floats(schedule.working_format, operands.bias[column])))
    return total


def in_kernel(schedule: Schedule, number: float) -> Fraction:
    """alpha or beta, which the epilogue has as a number of its format."""
    if number in (0, 1):
        return Fraction(number)
    return Fraction(
        float(np.float64(number) if schedule.working_format.name == "f64" else np.float32(number))
    )
