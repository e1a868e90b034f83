"""Tensors in files of the safetensors format: a length, a table in JSON, and the numbers.

Written from the format's description; the library of that name reads BF16 and FP8 by way of PyTorch alone.
"""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from tcsmt.support.errors import TcsmtError, choose
from tcsmt.support.reading import json_of

__all__ = ["read_safetensor"]

Array = np.ndarray[Any, np.dtype[Any]]

#: Bytes of the table's length, and the most that a table may have (as the library has it).
_LENGTH, _MOST = 8, 100_000_000
#: The format's names of dtypes. Others, such as F4, share bytes or are no numbers.
_DTYPES: dict[str, Any] = {
    "F64": np.float64,
    "F32": np.float32,
    "F16": np.float16,
    "BF16": ml_dtypes.bfloat16,
    "F8_E4M3": ml_dtypes.float8_e4m3fn,
    "F8_E5M2": ml_dtypes.float8_e5m2,
    "F8_E8M0": ml_dtypes.float8_e8m0fnu,
    "F8_E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "F8_E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    **{f"{kind}{bits}": np.dtype(f"{kind.lower()}{bits // 8}") for kind in "IU" for bits in (8, 16, 32, 64)},
}


def read_safetensor(path: Path, name: str) -> Array:
    """Return the tensor of that name, of its shape and dtype, mapped into memory.

    name: empty where the file has one tensor. Raises :class:`.TcsmtError`, which names the file, and for an
    unknown name the nearest ones.
    """
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(_LENGTH), "little")
            if not 0 < length <= _MOST:
                raise TcsmtError(f"{path} is not a safetensors file: its table would have {length} bytes")
            table = json_of(file.read(length))
        if not isinstance(table, dict):
            raise TcsmtError(f"{path} is not a safetensors file: its table is no object")
        entries = {key: entry for key, entry in table.items() if key != "__metadata__"}
        if not name and len(entries) != 1:
            raise TcsmtError(f"{path} has {len(entries)} tensors: write {path}:NAME, of {_some(entries)}")
        entry = entries[choose(f"tensor of {path}", name, entries) if name else next(iter(entries))]
        dtype = np.dtype(_DTYPES[choose(f"dtype of tensor {name} of {path}", entry["dtype"], _DTYPES)])
        shape, (first, last) = tuple(entry["shape"]), entry["data_offsets"]
        count = prod(shape)
        if last - first != count * dtype.itemsize or first < 0 or any(size < 0 for size in shape):
            raise TcsmtError(f"{path}: tensor {name} of shape {shape} does not fit its {last - first} bytes")
        if not count:
            return np.zeros(shape, dtype)
        stored = np.memmap(path, np.uint8, "r", _LENGTH + length + first, (last - first,))
        result: Array = np.asarray(stored).view(dtype).reshape(shape)
        return result
    except OSError as error:
        raise TcsmtError(f"cannot read {path}: {error.strerror or error}") from None
    except TcsmtError:
        raise
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise TcsmtError(f"{path} is not a safetensors file ({type(error).__name__}: {error})") from None


def _some(names: dict[str, Any]) -> str:
    listed = sorted(names)
    return ", ".join(listed[:5]) + (", ..." if len(listed) > 5 else "")
