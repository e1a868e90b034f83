"""Arrays of other libraries: what a user holds as NumPy arrays, and a result as what the user holds.

Nothing is imported for it: an array of a library is there only where its library is loaded."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import FORMATS, AnyFormat
from tcsmt.matrix_units.arithmetic.packing import unpack
from tcsmt.matrix_units.arithmetic.words import dtype_of
from tcsmt.matrix_units.files.arrays import read_array as read_npy
from tcsmt.matrix_units.files.arrays import read_safetensor, restored
from tcsmt.support import extras
from tcsmt.support.errors import TcsmtError, choose

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
#: PyTorch's dtype of two FP4 numbers in a byte, the first in the low half.
_PAIRS = "float4_e2m1fn_x2"


def as_numpy(values: Any, name: str, *, pairs: int = -1) -> Any:
    """Return the same values as a NumPy array, where they are an array of another library; else as given.

    pairs: the dimension along which PyTorch's ``float4_e2m1fn_x2`` holds two numbers in a byte: that of K.
    A copy is made only where the values do not lie in this machine's memory, or share bytes.
    Raises :class:`.TcsmtError`, which calls the array ``name``.
    """
    masked = sys.modules.get("numpy.ma")  # slow to load; without it, nobody has such an array
    if masked is not None and isinstance(values, masked.MaskedArray):
        raise TcsmtError(f"{name} is a masked array: a unit has no masked operands; fill it first")
    if isinstance(values, np.ndarray) and values.dtype.names is not None:  # as tcsmt's files have them
        return restored(values, name)
    try:
        if _is_tensor(values):
            return _from_tensor(values, name, pairs)
        if hasattr(values, "__cuda_array_interface__") and hasattr(values, "get"):  # CuPy
            return values.get()
        if hasattr(values, "__dlpack__") and not hasattr(values, "__array__"):
            return np.from_dlpack(values)
        if _namespace(values) is not None:
            return np.asarray(values)
    except TcsmtError:
        raise
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        first = str(error).partition("\n")[0]
        raise TcsmtError(f"{name} cannot be read as an array: {first}") from None
    return values


@dataclass(frozen=True)
class Library:
    """The array library that operands are of, and that a result goes to.

    name: of its module. array: a NumPy array as one of its own, on the device of the operands.
    """

    name: str
    array: Callable[[Array], Any]

    def check(self, fmt: AnyFormat) -> None:
        """Raises :class:`.TcsmtError` where the library has no dtype for the words of a result's format."""
        dtype = dtype_of(fmt)
        if self == _NUMPY:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # JAX warns that it narrows
            try:
                given = as_numpy(self.array(np.zeros(0, dtype)), "the result").dtype
            except (AttributeError, RuntimeError, TypeError, ValueError):
                given = None
        if given != dtype:
            hint = ' (jax.config.update("jax_enable_x64", True))' if self.name == "jax" else ""
            raise TcsmtError(
                f"the result has dtype {dtype}, which {self.name} does not hold here{hint}: give NumPy arrays"
            )


_NUMPY = Library("numpy", lambda result: result)


def library_of(operands: Mapping[str, Any]) -> Library:
    """Return the one library other than NumPy that some operands, by name, are of; NumPy where there is none.

    Raises :class:`.TcsmtError` where there are several.
    """
    libraries = {name: _library(values) for name, values in operands.items()}
    found = {name: library for name, library in libraries.items() if library is not None}
    if len({library.name for library in found.values()}) > 1:
        told = ", ".join(f"{name} of {library.name}" for name, library in found.items())
        raise TcsmtError(f"the operands are arrays of several libraries: {told}; give all as one library's")
    return next(iter(found.values()), _NUMPY)


def _library(values: Any) -> Library | None:
    """Return the library of one operand; None for NumPy's arrays, and for what is of no array library."""
    if _is_tensor(values):
        return Library("torch", lambda result: _as_tensor(result, values.device))
    module = _namespace(values)
    if module is None:
        return None
    name = type(values).__module__.partition(".")[0].removesuffix("lib")  # arrays of JAX are jaxlib's
    device = getattr(values, "device", None)
    if device is None or name == "cupy":  # whose arrays are on the device that is current
        return Library(name, module.asarray)
    return Library(name, lambda result: module.asarray(result, device=device))


def _namespace(values: Any) -> Any:
    """Return the functions of the library of an array, by the array API standard; None for NumPy's, and for
    none.
    """
    if isinstance(values, (np.ndarray, np.generic)):
        return None
    if hasattr(values, "__array_namespace__"):
        return values.__array_namespace__()
    if hasattr(values, "__cuda_array_interface__"):
        return sys.modules.get(type(values).__module__.partition(".")[0])
    return None


def _is_tensor(values: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(values, torch.Tensor)


def _from_tensor(tensor: Any, name: str, pairs: int) -> Array:
    """Values of a tensor; words of its own format where NumPy has no such dtype of its own."""
    import ml_dtypes

    torch = sys.modules["torch"]
    if tensor.requires_grad and torch.is_grad_enabled():
        raise TcsmtError(
            f"{name} requires a gradient, and a simulated unit has none: give x.detach(), or call in "
            "torch.no_grad()"
        )
    here = tensor.detach()
    dtype = str(here.dtype).removeprefix("torch.")
    if dtype == _PAIRS:
        packed = here.view(torch.uint8).cpu().numpy()
        if not packed.ndim:
            raise TcsmtError(f"{name} has shape (): two FP4 numbers share a byte along K")
        words = np.moveaxis(unpack(FORMATS["e2m1"], np.moveaxis(packed, pairs, -1)), -1, pairs)
        return words.view(ml_dtypes.float4_e2m1fn)
    here = here.cpu()
    if dtype not in _ML_DTYPES:
        array: Array = here.numpy()
        return array
    integer = torch.int16 if here.element_size() == 2 else torch.uint8
    stored: Array = here.contiguous().view(integer).numpy()
    return stored.view(np.dtype(getattr(ml_dtypes, _ML_DTYPES[dtype])))


def _as_tensor(result: Array, device: Any) -> Any:
    torch = sys.modules["torch"]
    result = np.ascontiguousarray(result) if result.ndim else result
    tensor_type = {ours: theirs for theirs, ours in _ML_DTYPES.items()}.get(result.dtype.name)
    if tensor_type is None:
        return torch.from_numpy(np.asarray(result)).to(device)
    words = torch.from_numpy(result.view(f"int{8 * result.dtype.itemsize}"))
    return words.view(getattr(torch, tensor_type)).to(device)


#: A file of tensors, and the name of one of them.
_TENSORS = re.compile(r"(?P<file>.+\.(?P<kind>safetensors|pt|pth))(?::(?P<name>.*))?")


def read_array(path: Path) -> Array:
    """Return the array of an .npy file, or a tensor: ``layer.safetensors:NAME``, ``layer.pt:NAME``.

    Without ``:NAME``, the file has one tensor. Files of ``np.save`` lose the names of BF16 and FP8; those of
    tcsmt and the others keep them. A ``.pt`` file needs PyTorch; nothing but tensors is unpickled.
    Raises :class:`tcsmt.TcsmtError`, which names the file, and for an unknown name the nearest ones.
    """
    named = _TENSORS.fullmatch(str(path))
    if named is None:
        return read_npy(path)
    file, name = Path(named["file"]), named["name"] or ""
    return read_safetensor(file, name) if named["kind"] == "safetensors" else _of_pytorch(file, name)


def _of_pytorch(path: Path, name: str) -> Array:
    try:
        import torch
    except ImportError:
        raise TcsmtError(f"{path}: .pt files need PyTorch: {extras.install('torch')}") from None
    try:
        stored = torch.load(path, map_location="cpu", weights_only=True)
    except OSError as error:
        raise TcsmtError(f"cannot read {path}: {error.strerror or error}") from None
    except Exception as error:  # whatever unpickling meets
        first = str(error).partition("\n")[0]
        raise TcsmtError(f"{path} is not a file of tensors as torch.save writes it ({first})") from None
    if isinstance(stored, torch.Tensor) and not name:
        array: Array = as_numpy(stored.detach(), str(path))
        return array
    tensors = _named(stored)
    if not name and len(tensors) != 1:
        listed = ", ".join([*tensors][:5])
        raise TcsmtError(f"{path} has {len(tensors)} tensors: write {path}:NAME, of {listed}")
    key = choose(f"tensor of {path}", name, tensors) if name else next(iter(tensors))
    result: Array = as_numpy(tensors[key].detach(), f"{path}:{key}")
    return result


def _named(stored: Any, before: str = "") -> dict[str, Any]:
    """Return the tensors of nested dictionaries, their keys joined by dots."""
    import torch

    if isinstance(stored, torch.Tensor):
        return {before: stored}
    if not isinstance(stored, dict):
        return {}
    entries = ((f"{before}.{key}" if before else str(key), value) for key, value in stored.items())
    return {name: tensor for key, value in entries for name, tensor in _named(value, key).items()}
