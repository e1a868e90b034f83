"""Matrices multiplied by an algorithm on a unit: ``tcsmt.accuracy.multiply``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tcsmt.api.units import UnitLike, row_of
from tcsmt.recipes import arrays
from tcsmt.recipes.emulation import arrays as of_integers
from tcsmt.recipes.emulation.named import emulation_named, is_emulation
from tcsmt.recipes.named import algorithm_named

__all__ = ["multiply"]


def multiply(a: Any, b: Any, c: Any = None, *, algorithm: str, unit: UnitLike) -> np.ndarray[Any, Any]:
    """A·B + C by an algorithm on a unit, bit for bit: an array (M, N), float32, or float64 of an emulation.

    >>> import numpy, tcsmt
    >>> a = numpy.array([[1.0, 2.0**-52]])
    >>> tcsmt.accuracy.multiply(a, a.T, algorithm="ozaki1-int8", unit="ampere")
    array([[1.]])

    a: (M, K), b: (K, N), c: (M, N) or None for zeros. Of an algorithm on binary32: float32, values that
    binary32 has, or uint32 words; of an emulation of binary64: float64, float32 or uint64 words. algorithm: a
    name of :func:`recipes`, or a file. unit: as for :func:`tcsmt.accuracy.compare`.

    Raises :class:`tcsmt.TcsmtError` for unknown names, and for shapes and values that do not fit.
    """
    given = unit if isinstance(unit, str) else row_of(unit)
    if is_emulation(algorithm):
        return of_integers.multiply(emulation_named(algorithm, given)[0], a, b, c)
    return arrays.multiply(algorithm_named(algorithm, given)[0], a, b, c)
