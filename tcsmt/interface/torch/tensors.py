"""Tensors as arrays and back, and what must be said of them before."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tcsmt.interface.api.arrays import as_numpy, library_of
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.support.errors import TcsmtError

Array = np.ndarray[Any, np.dtype[Any]]

#: The formats of results, by PyTorch's dtypes.
FORMAT_OF: dict[Any, Format] = {
    torch.float32: FORMATS["f32"],
    torch.bfloat16: FORMATS["bf16"],
    torch.float16: FORMATS["f16"],
    torch.float8_e4m3fn: FORMATS["e4m3"],
    torch.float8_e5m2: FORMATS["e5m2"],
    torch.float8_e4m3fnuz: FORMATS["e4m3fnuz"],
    torch.float8_e5m2fnuz: FORMATS["e5m2fnuz"],
}


def array_of(tensor: Any, name: str, *, pairs: int = -1) -> Array:
    """Return the values of a tensor on the CPU, of its shape and dtype. Raises :class:`.TcsmtError` for
    others.
    """
    if tensor.device.type != "cpu":
        raise TcsmtError(
            f"{name} is on {tensor.device}: products are emulated on the CPU; move the model and its inputs "
            "there, model.cpu(), or leave the emulation"
        )
    array: Array = as_numpy(tensor.detach(), name, pairs=pairs)
    return array


def tensor_of(array: Array) -> Any:
    """An array as a tensor of its dtype."""
    return library_of({"tensor": torch.empty(0)}).array(array)
