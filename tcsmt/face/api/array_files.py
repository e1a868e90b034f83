"""Arrays in files: NumPy's, and tensors by name in ``.safetensors`` and PyTorch's ``.pt``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.face.api.arrays import as_numpy
from tcsmt.matrix_units.files.arrays import read_array as read_npy
from tcsmt.matrix_units.files.arrays import read_safetensor
from tcsmt.support import extras
from tcsmt.support.errors import TcsmtError, choose

__all__ = ["read_array"]

Array = np.ndarray[Any, np.dtype[Any]]

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
