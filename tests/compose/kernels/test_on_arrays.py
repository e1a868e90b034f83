"""Steps on arrays: what has fewer dimensions is added to every row."""

from __future__ import annotations

import numpy as np

from tcsmt.compose.kernels.on_arrays import ArraySteps
from tcsmt.compose.kernels.schedule import Indices
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.nan_words import QUIET
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS

F16, F32 = FORMATS["f16"], FORMATS["f32"]


def chain(indices: Indices, c: np.ndarray | None) -> np.ndarray:
    return np.full((2, 3), len(indices) + (0 if c is None else 100), np.uint32)


def test_steps() -> None:
    steps = ArraySteps((2, 3), chain, QUIET)
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    x = values.view(np.uint32)
    assert (steps.chain(np.arange(4), None) == 4).all() and (steps.chain(np.arange(4), x) == 104).all()
    assert (steps.constant(F16, 5) == 5).all() and steps.constant(F16, 5).dtype == np.uint16
    bias = np.array([1, 2, 3], np.float32)
    assert (steps.add(F32, x, bias.view(np.uint32)).view(np.float32) == values + bias).all()
    found = steps.multiply_add(F32, x, x, x).view(np.float32)
    assert (found == values * values + values).all()
    half = steps.convert(x, F32, F16, ROUNDINGS["RNE"], saturate=False)
    assert (half.view(np.float16) == values).all()
    random = np.zeros((2, 3), np.uint32)
    assert (steps.convert_randomly(x, F32, F16, random, 4, saturate=False) == half).all()
