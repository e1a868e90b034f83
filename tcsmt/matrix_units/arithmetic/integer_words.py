"""Integer and fixed-point formats on arrays: between numbers and words."""

from __future__ import annotations

from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.integer_format import IntegerFormat
from tcsmt.support.errors import TcsmtError

__all__ = ["first_element", "integer_dtype", "integer_words", "integers_of_words"]

Array = np.ndarray[Any, np.dtype[Any]]


def integer_dtype(fmt: IntegerFormat) -> np.dtype[Any]:
    """Return the smallest integer dtype that holds the format's numbers; of fixed-point formats: its
    words.
    """
    size = next(size for size in (8, 16, 32, 64) if fmt.width <= size)
    return np.dtype(f"{'int' if fmt.signed and not fmt.fraction_bits else 'uint'}{size}")


def integer_words(fmt: IntegerFormat, array: Array, name: str) -> Array:
    """Return the words (uint64) of an array of numbers: integers or floats, which the format must hold
    exactly.

    array: of any shape, which is that of the result. Raises :class:`.TcsmtError`, which calls it ``name``.
    """
    if array.dtype.kind == "f":
        wide = array.astype(np.float64)
        scaled = np.ldexp(wide, fmt.fraction_bits)
        # the limits are compared as powers of two, which binary64 has, where the format's ends may round
        inside = (scaled >= float(fmt.low)) & (scaled < float(fmt.high + 1))
        fits = inside & (np.floor(scaled) == scaled)
        counts = np.where(fits, scaled, 0)
        counts = counts.astype(np.int64 if fmt.signed else np.uint64)
    else:
        if fmt.fraction_bits:
            numbers = [int(number) << fmt.fraction_bits for number in array.flat]
            counts = np.array(numbers, dtype=object).reshape(array.shape)
        else:
            counts = array
        fits = np.asarray((counts >= fmt.low) & (counts <= fmt.high), dtype=bool)
        counts = np.where(fits, counts, 0).astype(np.int64 if fmt.signed else np.uint64)
    if not fits.all():
        element, value = first_element(name, array, ~fits)
        raise TcsmtError(f"{element} = {value!r} is not a valid {fmt.name} value: those are {fmt.limits}")
    words: Array = counts.view(np.uint64) & np.uint64((1 << fmt.width) - 1)
    return words


def integers_of_words(fmt: IntegerFormat, words: Array) -> Array:
    """Return the numbers of words, an array of the same shape and of :func:`integer_dtype`."""
    dtype = integer_dtype(fmt)
    if dtype.kind == "u":
        return words.astype(dtype)
    unused = dtype.itemsize * 8 - fmt.width
    shifted: Array = words.astype(f"uint{dtype.itemsize * 8}") << unused
    return shifted.view(dtype) >> unused


def first_element(name: str, array: Array, wrong: Array) -> tuple[str, Any]:
    """Return what errors call the first wrong element, such as ``a[0, 3]``, and its value.

    wrong: booleans of the array's shape, one of which is true.
    """
    where = tuple(np.argwhere(wrong)[0].tolist())
    element = array[where]
    return f"{name}{list(where) or ''}", element.item() if hasattr(element, "item") else element
