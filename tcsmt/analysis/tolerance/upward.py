"""Arithmetic on arrays of bounds: numbers that are not negative, rounded upward.

An operation of binary64 to nearest gives a neighbour of its exact result, or that result (IEEE 754-2019,
4.3), so that the next larger number is no less: also of a product that is so small that it becomes 0.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
#: Half of the last bit of a number from 1 to 2.
_HALF = Fraction(1, 2**53)


def _above(x: Array, live: Array) -> Array:
    """Return the next larger number where a bound is ``live``, else 0."""
    return np.where(live, np.nextafter(x, np.inf), 0.0)


def added(*terms: Array) -> Array:
    """Their sum or more. A sum of zeros is one."""
    total = terms[0]
    for term in terms[1:]:
        whole = total + term
        total = _above(whole, whole != 0)
    return total


def multiplied(x: Array, y: Array) -> Array:
    """Their product or more; of a zero and infinity, 0."""
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        return _above(x * y, (x != 0) & (y != 0))


def scaled(x: Array, factor: Fraction) -> Array:
    """Return the bound times a rational number or more; of a zero and infinity, 0."""
    if not factor:
        return np.zeros_like(x)
    with np.errstate(over="ignore", under="ignore"):
        return _above(x * number_above(factor), x != 0)


def number_above(x: Fraction) -> float:
    """Return the smallest number of binary64 that is no less."""
    nearest = float(x)
    return nearest if Fraction(nearest) >= x else float(np.nextafter(nearest, np.inf))


def dot_error(length: int) -> Fraction:
    """Return how far a dot product of so many numbers in binary64 is off, relative to the sum of the
    products' sizes.

    In whatever order it is summed up, with or without fused multiply-adds (Higham, *Accuracy and Stability of
    Numerical Algorithms*, section 3.1); no product may lie below binary64's normal numbers.
    """
    return length * _HALF / (1 - length * _HALF)
