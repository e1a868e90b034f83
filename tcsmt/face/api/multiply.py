"""Matrices multiplied by an algorithm on a unit: ``tcsmt.accuracy.multiply``."""

from __future__ import annotations

from typing import Any

from tcsmt.compose.recipes import arrays
from tcsmt.compose.recipes.emulation import arrays as of_integers
from tcsmt.compose.recipes.emulation.named import emulation_named, is_emulation
from tcsmt.compose.recipes.named import algorithm_named
from tcsmt.face.api.arrays import as_numpy, library_of
from tcsmt.face.api.units import UnitLike, side_of
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.support.floats import ieee_floats

__all__ = ["multiply"]


@ieee_floats
def multiply(a: Any, b: Any, c: Any = None, *, algorithm: str, unit: UnitLike) -> Any:
    """A·B + C by an algorithm on a unit, bit for bit: an array (M, N), float32, or float64 of an emulation.

    It is an array of the operands' library, as for :class:`tcsmt.Unit`.

    >>> import numpy, tcsmt
    >>> a = numpy.array([[1.0, 2.0**-52]])
    >>> tcsmt.accuracy.multiply(a, a.T, algorithm="ozaki1-int8", unit="ampere")
    array([[1.]])

    Of an algorithm on binary32, arrays are float32, values that binary32 has, or uint32 words; of an
    emulation of binary64: float64, float32 or uint64 words.

    Args:
        a: A, (M, K).
        b: B, (K, N).
        c: C, (M, N). [default: zeros]
        algorithm: A name of :func:`recipes`, or a file.
        unit: Architecture, GPU, ARCH/INSTRUCTION or a model file.

    Raises :class:`tcsmt.TcsmtError` for unknown names, and for shapes and values that do not fit.
    """
    library = library_of({"a": a, "b": b, "c": c})
    a, b, c = (as_numpy(values, name) for name, values in (("a", a), ("b", b), ("c", c)))
    instruction = unit if isinstance(unit, str) else side_of(unit).row
    if is_emulation(algorithm):
        library.check(FORMATS["f64"])
        return library.array(of_integers.multiply(emulation_named(algorithm, instruction)[0], a, b, c))
    return library.array(arrays.multiply(algorithm_named(algorithm, instruction)[0], a, b, c))
