"""Arrays of other libraries: what a user holds as NumPy arrays, and a result as what the user holds.

Nothing is imported for it: an array of a library is there only where its library is loaded.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from tcsmt.support.errors import TcsmtError

__all__ = ["as_numpy", "like_given"]

Array = np.ndarray[Any, np.dtype[Any]]

#: PyTorch's dtypes that NumPy has not, by ml_dtypes' names.
_ML_DTYPES = {
    "bfloat16": "bfloat16",
    "float8_e4m3fn": "float8_e4m3fn",
    "float8_e5m2": "float8_e5m2",
    "float8_e4m3fnuz": "float8_e4m3fnuz",
    "float8_e5m2fnuz": "float8_e5m2fnuz",
    "float8_e8m0fnu": "float8_e8m0fnu",
}


def as_numpy(values: Any, name: str) -> Any:
    """The same values as a NumPy array, where they are a PyTorch tensor or an array on a GPU; else as given.

    A copy is made only where the values do not lie in this machine's memory.
    Raises :class:`.TcsmtError`, which calls the array ``name``.
    """
    try:
        if _is_tensor(values):
            return _from_tensor(values)
        if hasattr(values, "__cuda_array_interface__") and hasattr(values, "get"):  # CuPy
            return values.get()
        if hasattr(values, "__dlpack__") and not hasattr(values, "__array__"):
            return np.from_dlpack(values)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise TcsmtError(f"{name} cannot be read as an array: {error}") from None
    return values


def like_given(result: Array, *given: Any) -> Any:
    """The result as a PyTorch tensor on the device of the first tensor among ``given``, if there is one.

    A NumPy array otherwise, and where PyTorch has no such dtype.
    """
    tensor = next((values for values in given if _is_tensor(values)), None)
    if tensor is None:
        return result
    torch = sys.modules["torch"]
    own = {ours: theirs for theirs, ours in _ML_DTYPES.items()}.get(result.dtype.name)
    if own is None:
        if not hasattr(torch, result.dtype.name):
            return result
        return torch.from_numpy(np.ascontiguousarray(result)).to(tensor.device)
    words = np.ascontiguousarray(result).view(f"int{8 * result.dtype.itemsize}")
    return torch.from_numpy(words).view(getattr(torch, own)).to(tensor.device)


def _is_tensor(values: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(values, torch.Tensor)


def _from_tensor(tensor: Any) -> Array:
    """Values of a tensor; words of its own format where NumPy has no such dtype of its own."""
    import ml_dtypes

    torch = sys.modules["torch"]
    here = tensor.detach().cpu()
    name = str(here.dtype).removeprefix("torch.")
    if name not in _ML_DTYPES:
        found: Array = here.numpy()
        return found
    size = here.element_size()
    words: Array = here.contiguous().view(torch.int16 if size == 2 else torch.uint8).numpy()
    return words.view(np.dtype(getattr(ml_dtypes, _ML_DTYPES[name])))
