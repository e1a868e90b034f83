"""A model on arrays: the same terms, compiled to machine code or interpreted with NumPy."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from tcsmt import jit
from tcsmt.errors import TcsmtError
from tcsmt.interpret.arrays import Program
from tcsmt.kernels import compiled, kernel
from tcsmt.models import Model, input_names
from tcsmt.words import from_words, to_words, unsigned

__all__ = ["run_words", "simulate"]

Array = np.ndarray[Any, np.dtype[Any]]


#: Fewer rows are not worth the wait for a compiler (measured: 0.1 s to 1 s, against 1 to 3 million
#: rows a second with NumPy); a kernel that is there already takes any number.
WORTH_COMPILING = 16384


@lru_cache(maxsize=64)
def _program(model: Model) -> Program:
    return Program([model.trace.output])


def run_words(model: Model, a: Array, b: Array, c: Array) -> Array:
    """Words in, words out: a and b of shape (rows, k), c of shape (rows,).

    Compiled with the extra ``fast``, unless the batch is small; the same bits either way.
    """
    if jit.available() and (len(c) >= WORTH_COMPILING or compiled(model)):
        return kernel(model).rows([a, b, c])
    columns = [*np.moveaxis(a, -1, 0), *np.moveaxis(b, -1, 0), c]
    names = input_names(model.k)
    words = _program(model).run(dict(zip(names, columns, strict=True)))[0]
    return words.astype(unsigned(model.d_format), copy=False)


def simulate(model: Model, a: Any, b: Any, c: Any = 0.0) -> Array:
    """The unit's result for every row: an array of the output format's dtype.

    a, b: shape (..., k); c: shape (...); leading dimensions broadcast. Each is an array of its
    format's dtype (float16, float32, float64, ml_dtypes), of unsigned words, or of float32/float64
    values that the format holds exactly. Exact for every bit pattern.
    Raises :class:`tcsmt.errors.TcsmtError` for shapes and values that do not fit.
    """
    words = [
        to_words(fmt, values, name)
        for fmt, values, name in (
            (model.a_format, a, "a"),
            (model.b_format, b, "b"),
            (model.c_format, c, "c"),
        )
    ]
    for array, name in zip(words[:2], "ab", strict=True):
        if array.ndim == 0 or array.shape[-1] != model.k:
            raise TcsmtError(f"{name} has shape {array.shape}: the last dimension must be k = {model.k}")
    try:
        shape = np.broadcast_shapes(words[0].shape[:-1], words[1].shape[:-1], words[2].shape)
    except ValueError:
        shapes = ", ".join(str(w.shape) for w in words)
        raise TcsmtError(f"shapes of a, b, c do not broadcast: {shapes}") from None
    rows = int(np.prod(shape))
    left, right = (np.broadcast_to(w, (*shape, model.k)).reshape(rows, model.k) for w in words[:2])
    added = np.broadcast_to(words[2], shape).reshape(rows)
    return from_words(model.d_format, run_words(model, left, right, added)).reshape(shape)
