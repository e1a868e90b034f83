"""Words of FP4 and FP6 operands as kernels hold them in memory.

Element 0 is in the lowest bits, so that an FP4 pair shares a byte (low nibble first) and four FP6 elements
share three bytes: OCP MX formats, CUDA's ``__nv_fp4x2_storage_t``, PTX ``kind::mxf4``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.support.errors import TcsmtError

Bytes = np.ndarray[Any, np.dtype[np.uint8]]


def pack(fmt: Format, words: Bytes) -> Bytes:
    """Return words of shape (..., n) as dense bytes of shape (..., n * width / 8)."""
    _check(fmt, words, "words")
    if words.shape[-1] * fmt.width % 8:
        raise TcsmtError(f"{words.shape[-1]} words of {fmt.name} do not fill whole bytes")
    bits = np.unpackbits(words[..., None], axis=-1, count=fmt.width, bitorder="little")
    return np.packbits(bits.reshape(*words.shape[:-1], -1), axis=-1, bitorder="little")


def unpack(fmt: Format, packed: Bytes) -> Bytes:
    """Return dense bytes of shape (..., m) as words of shape (..., m * 8 / width)."""
    _check(fmt, packed, "bytes")
    if packed.shape[-1] * 8 % fmt.width:
        raise TcsmtError(f"{packed.shape[-1]} bytes do not hold a whole number of {fmt.name} words")
    bits = np.unpackbits(packed, axis=-1, bitorder="little")
    each = bits.reshape(*packed.shape[:-1], -1, fmt.width)
    return np.packbits(each, axis=-1, bitorder="little")[..., 0]


def _check(fmt: Format, array: Bytes, what: str) -> None:
    if fmt.width not in (4, 6, 8):
        raise TcsmtError(
            f"{fmt.name} has words of {fmt.width} bits: only words of 4, 6 and 8 bits can be packed"
        )
    if array.dtype != np.uint8 or array.ndim == 0:
        raise TcsmtError(f"{what} of {array.dtype} and shape {array.shape}: must be uint8 of shape (..., n)")
