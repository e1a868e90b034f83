"""Rows in binary, as programs take and give them: packed words, the lowest byte first.

A batch is a number of rows (four bytes), then the rows; a row is k words of a, k of b, one of c, and the
block scales of a and b of a unit that has them. The answer is a word of D for each row. A word takes the
smallest of 1, 2, 4 and 8 bytes that holds its format.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.models import Model
from tcsmt.matrix_units.models.base import Operands

__all__ = ["batch", "result_type", "row_type", "word_bytes"]

Array = np.ndarray[Any, np.dtype[Any]]


def word_bytes(model: Model) -> dict[str, int]:
    """Bytes of a word of a, b, c and d."""
    formats = {"a": model.a_format, "b": model.b_format, "c": model.c_format, "d": model.d_format}
    return {side: unsigned(fmt).itemsize for side, fmt in formats.items()}


def row_type(model: Model) -> np.dtype[Any]:
    """A packed row: fields ``a``, ``b`` (k words each), ``c``, and the scales where there are any."""
    lengths = {
        "a": (model.k,),
        "b": (model.k,),
        "c": (),
        "scale_a": (model.scales,),
        "scale_b": (model.scales,),
    }
    return np.dtype(
        [
            (name, unsigned(fmt).newbyteorder("<"), lengths.get(name, (model.scales,)))
            for name, fmt in model.operand_formats.named.items()
        ]
    )


def result_type(model: Model) -> np.dtype[Any]:
    """A packed word of D."""
    return unsigned(model.d_format).newbyteorder("<")


def batch(model: Model, operands: Operands[Array, Array]) -> bytes:
    """A batch of rows; a, b: shape (rows, k), c: shape (rows,), words."""
    rows = np.empty(len(operands.c), row_type(model))
    for name, words in operands.named.items():
        rows[name] = words
    return len(rows).to_bytes(4, "little") + rows.tobytes()
