"""Quantisers on tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import torch

from tcsmt.interface.api.quantise import quantise as on_arrays
from tcsmt.interface.torch.tensors import array_of, tensor_of
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.packing import pack
from tcsmt.programs.quantisation.recipe import OperandRecipe, Role
from tcsmt.support.errors import TcsmtError
from tcsmt.support.floats import ieee_floats


@dataclass(frozen=True)
class QuantisedTensor:
    """A tensor in narrow numbers: each is its value, times its block's scale, times the whole factor.

    values: of PyTorch's dtype for the format, (..., rows, K); of FP4, ``float4_e2m1fn_x2``, (..., K / 2).
    scales: (..., blocks of rows, blocks along K), or (): float32, ``float8_e8m0fnu`` or ``float8_e4m3fn``;
    None: there are none. whole: a float32 factor, (); None: none. saturated, flushed: how many numbers were
    beyond the format's end, and how many became zero.
    """

    values: Any
    scales: Any
    whole: Any
    saturated: int
    flushed: int


@ieee_floats
def quantise(
    tensor: Any,
    recipe: OperandRecipe | str,
    role: Role = "activation",
    *,
    format: str | None = None,  # noqa: A002
) -> QuantisedTensor:
    """A tensor by a recipe's rules; blocks lie along the last dimension, as K does in A, and in B transposed.

    tensor: (..., rows, K), or (K,), on the CPU, of float32, bfloat16 or float16. recipe: one of
    :data:`tcsmt.torch.RECIPES`, or its name. role: ``activation``, ``weight`` (of fp8-block: 128 x 128) or
    ``gradient`` (of fp8-tensor: E5M2). format: another one of the recipe's (``e4m3fnuz``).
    Raises :class:`tcsmt.TcsmtError` for what does not fit.

    >>> import torch, tcsmt.torch
    >>> quantised = tcsmt.torch.quantise(torch.arange(64.0).reshape(2, 32), "mxfp8")
    >>> quantised.values.dtype, quantised.scales.float().tolist()
    (torch.float8_e4m3fn, [[0.0625], [0.125]])
    """
    result = on_arrays(array_of(tensor, "the tensor"), recipe, role, format=format)
    return QuantisedTensor(
        _values(result.values),
        None if result.scales is None else tensor_of(result.scales),
        None if result.whole is None else torch.tensor(float(result.whole)),
        result.saturated,
        result.flushed,
    )


def _values(values: Any) -> Any:
    if values.dtype != np.dtype(ml_dtypes.float4_e2m1fn):
        return tensor_of(values)
    if values.shape[-1] % 2:
        raise TcsmtError(f"K = {values.shape[-1]}: two FP4 numbers share a byte, so that K must be even")
    packed = pack(FORMATS["e2m1"], np.ascontiguousarray(values).view(np.uint8))
    return torch.from_numpy(packed).view(torch.float4_e2m1fn_x2)
