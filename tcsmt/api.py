"""The public calls that take a unit's name, a path of a model file, or a model alike."""

from __future__ import annotations

from functools import wraps
from typing import Any

from tcsmt.data.model_files import row_given
from tcsmt.models import Model
from tcsmt.simulator import matmul
from tcsmt.simulator.matmul import Array

__all__ = ["gemm"]


@wraps(matmul.gemm, assigned=(), updated=())
def gemm(a: Any, b: Any, c: Any = None, *, model: Model | str, **options: Any) -> Array:
    """``alpha·A·B + beta·C`` on the unit: see :func:`tcsmt.simulator.matmul.gemm` for every option.

    model: a model, a model file, or a catalogue name such as ``h200`` or
    ``ada/mma.m16n8k32.f32.e4m3.e4m3.f32``.
    """
    unit = row_given(model).model if isinstance(model, str) else model
    return matmul.gemm(a, b, c, model=unit, **options)
