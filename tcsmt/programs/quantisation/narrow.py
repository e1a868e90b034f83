"""Numbers of eight bits at most, from binary32 and to binary64: by tables, as dtypes convert slowly."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import Format, Specials
from tcsmt.matrix_units.arithmetic.words import dtype_of, unsigned

Array = np.ndarray[Any, np.dtype[Any]]

#: Bits of binary32 that no narrow format's rounding tells apart: it looks at four bits of a fraction, and at
#: whether anything is below them.
_BELOW = 19
_REST = np.uint32((1 << _BELOW) - 1)


def narrowed(values: Array, fmt: Format) -> Array:
    """Numbers to nearest even; those beyond the format's end, and infinities, become its largest number.

    values: binary32, of any shape, which is that of the result, of the format's dtype. fmt: of eight bits
    at most, with three of a fraction at most.
    """
    words = values.view(np.uint32)
    place = words >> np.uint32(_BELOW - 1)
    place &= ~np.uint32(1)
    place |= (words & _REST) != 0
    result: Array = _rounded(fmt)[place].view(dtype_of(fmt))
    return result


@cache
def _rounded(fmt: Format) -> Array:
    """Words, by the front of a binary32 word, and a bit that says whether anything is below it.

    A NaN of a format without one has the word that torchao's arithmetic on its bits gives: 1.5, mostly.
    """
    if fmt.fraction_bits > 3:
        raise ValueError(f"{fmt.name}: a table tells apart what has three fraction bits at most")
    place = np.arange(1 << (33 - _BELOW), dtype=np.uint32)
    values = (place >> np.uint32(1) << np.uint32(_BELOW) | place & np.uint32(1)).view(np.float32)
    most = np.float32(fmt.largest_finite)
    with np.errstate(all="ignore"):
        rounded = np.clip(values, -most, most).astype(dtype_of(fmt)).view(unsigned(fmt))
    if fmt.specials is not Specials.NONE:
        return rounded
    below, words = 23 - fmt.fraction_bits, values.view(np.uint32)
    size = words & np.uint32(0x7FFF_FFFF)
    size += (size >> np.uint32(below) & np.uint32(1)) + np.uint32((1 << (below - 1)) - 1)
    size -= np.uint32((127 - fmt.bias) << 23)
    code = (size >> np.uint32(below) & np.uint32((1 << fmt.sign_bit) - 1)).astype(rounded.dtype)
    sign = (words >> np.uint32(31)).astype(rounded.dtype) << rounded.dtype.type(fmt.sign_bit)
    return np.where(np.isnan(values), code | sign, rounded)


def wide(values: Array) -> Array:
    """Numbers of any floating-point dtype in binary64, of the same shape."""
    if values.dtype.itemsize > 1:
        with np.errstate(invalid="ignore"):  # a signalling NaN
            return values.astype(np.float64)
    return _numbers(values.dtype)[values.view(np.uint8)]


@cache
def _numbers(dtype: np.dtype[Any]) -> Array:
    """Return what each word stands for."""
    return np.arange(256, dtype=np.uint8).view(dtype).astype(np.float64)
