"""A model on arrays: the same terms, compiled to machine code or interpreted with NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from tcsmt.arithmetic.words import from_words, to_words, unsigned
from tcsmt.interpret import jit
from tcsmt.interpret.arrays import Program
from tcsmt.models import Model
from tcsmt.simulator.compiled import compiled, kernel
from tcsmt.support.errors import TcsmtError

__all__ = ["check_scales", "run_words", "simulate"]

Array = np.ndarray[Any, np.dtype[Any]]


#: Fewer rows are not worth the wait for a compiler (measured: 0.1 s to 1 s, against 1 to 3 million
#: rows a second with NumPy); a kernel that is there already takes any number.
WORTH_COMPILING = 16384


@lru_cache(maxsize=64)
def _program(model: Model) -> Program:
    return Program([model.trace.output])


def run_words(
    model: Model, a: Array, b: Array, c: Array, scale_a: Array | None = None, scale_b: Array | None = None
) -> Array:
    """Words in, words out.

    a and b: shape (rows, k); c: shape (rows,); scale_a and scale_b, for units with block scales:
    shape (rows, model.scales). Compiled with the extra ``fast``, unless the batch is small; the same
    bits either way. Raises :class:`.TcsmtError` for scales that do not fit.
    """
    check_scales(model, {"scale_a": scale_a, "scale_b": scale_b})
    scales = [scale for scale in (scale_a, scale_b) if scale is not None]
    if jit.available() and (len(c) >= WORTH_COMPILING or compiled(model)):
        return kernel(model).rows([a, b, c, *scales])
    columns = [*np.moveaxis(a, -1, 0), *np.moveaxis(b, -1, 0), c]
    for scale in scales:
        columns += list(np.moveaxis(scale, -1, 0))
    words = _program(model).run(dict(zip(model.input_names, columns, strict=True)))[0]
    return words.astype(unsigned(model.d_format), copy=False)


def check_scales(model: Model, given: Mapping[str, Array | None], where: str = "") -> None:
    """Refuse scales that are missing, given where the unit has none, or of the wrong count."""
    for name, scale in given.items():
        if model.scale_format is None:
            if scale is not None:
                raise TcsmtError(f"{where}{name} is given: the unit has no block scales")
            continue
        wanted = f"{model.scales} {model.scale_format.name} scales in each row"
        if scale is None:
            raise TcsmtError(f"{where}{name} is missing: the unit takes {wanted}")
        if scale.ndim == 0 or scale.shape[-1] != model.scales:
            raise TcsmtError(f"{where}{name} has shape {scale.shape}: the unit takes {wanted}")


def simulate(model: Model, a: Any, b: Any, c: Any = 0.0, scale_a: Any = None, scale_b: Any = None) -> Array:
    """The unit's result for every row: an array of the output format's dtype.

    a, b: shape (..., k); c: shape (...); scale_a, scale_b, for units with block scales: shape
    (..., model.scales); leading dimensions broadcast. Each is an array of its format's dtype
    (float16, float32, float64, ml_dtypes), of unsigned words, or of float32/float64 values that
    the format holds exactly. Exact for every bit pattern.
    Raises :class:`.TcsmtError` for shapes and values that do not fit.
    """
    given = {"a": (model.a_format, a), "b": (model.b_format, b), "c": (model.c_format, c)}
    words = {name: to_words(fmt, values, name) for name, (fmt, values) in given.items()}
    for name in "ab":
        if words[name].ndim == 0 or words[name].shape[-1] != model.k:
            raise TcsmtError(
                f"{name} has shape {words[name].shape}: the last dimension must be k = {model.k}"
            )
    scales = {
        name: values if values is None or model.scale_format is None
        else to_words(model.scale_format, values, name)
        for name, values in (("scale_a", scale_a), ("scale_b", scale_b))
    }  # fmt: skip
    check_scales(model, scales)
    words |= {name: scale for name, scale in scales.items() if scale is not None}
    leading = {name: w.shape if name == "c" else w.shape[:-1] for name, w in words.items()}
    try:
        shape = np.broadcast_shapes(*leading.values())
    except ValueError:
        shapes = ", ".join(str(w.shape) for w in words.values())
        raise TcsmtError(f"shapes of {', '.join(words)} do not broadcast: {shapes}") from None
    rows = int(np.prod(shape))
    flat = {
        name: np.broadcast_to(w, (*shape, *w.shape[len(leading[name]) :])).reshape(
            rows, *w.shape[len(leading[name]) :]
        )
        for name, w in words.items()
    }
    return from_words(model.d_format, run_words(model, **flat)).reshape(shape)
