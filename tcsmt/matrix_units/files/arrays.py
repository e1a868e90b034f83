"""Arrays in files: of NumPy's format, one array a file, and tensors of the safetensors format.

NumPy has no dtypes for BF16 and the formats of 8, 6 and 4 bits. ``np.save`` of ml_dtypes' arrays writes raw
bytes without a name, and of E5M2 a dtype that NumPy itself cannot load. Here such an array is written as a
structure of one field, the word, whose name is the format's: ``[('e5m2', 'u1')]``. NumPy loads it, and the
format is known.

A file of safetensors has a length, a table in JSON, and the numbers. Its reader is written from the format's
description; the library of that name reads BF16 and FP8 by way of PyTorch alone.
"""

from __future__ import annotations

import ast
import struct
from math import prod
from pathlib import Path
from typing import Any, BinaryIO, Literal

import ml_dtypes
import numpy as np

from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.words import dtype_of, format_of
from tcsmt.support.errors import TcsmtError, choose
from tcsmt.support.files import json_of

# --- NumPy's files -------------------------------------------------------------------------------


Array = np.ndarray[Any, np.dtype[Any]]

#: How a file of NumPy's format begins.
_MAGIC = b"\x93NUMPY"
#: What ``np.save`` calls E5M2: a float of one byte. ml_dtypes' other types are raw bytes there.
_UNLOADABLE = "<f1"


def stored_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype as which a file has arrays of a dtype: NumPy's own, or a word named by its format."""
    if dtype.isbuiltin != 2:  # of NumPy itself
        return dtype
    fmt = format_of(dtype)
    word = np.dtype(f"<u{dtype.itemsize}")
    return word if fmt is None else np.dtype([(fmt.name, word)])


def stored_form(array: Array) -> Array:
    """Return the same elements in :func:`stored_dtype`'s dtype."""
    return np.ascontiguousarray(array).reshape(array.shape).view(stored_dtype(array.dtype))


def restored(array: Array, name: str) -> Array:
    """Return the array whose :func:`stored_form` a file has; raw bytes as words, unsigned integers.

    Raises :class:`.TcsmtError`, which calls the array ``name``, for other structures.
    """
    dtype = array.dtype
    if dtype.names is not None and len(dtype.names) == 1:
        fmt = FORMATS.get(dtype.names[0])
        if fmt is not None and stored_dtype(dtype_of(fmt)) == dtype.newbyteorder("<"):
            word = array[dtype.names[0]]
            return word.astype(word.dtype.newbyteorder("="), copy=False).view(dtype_of(fmt))
    if dtype.kind != "V" or dtype.isbuiltin == 2:  # ml_dtypes' own
        return array
    if dtype.names is not None or dtype.itemsize not in (1, 2, 4, 8):
        raise TcsmtError(f"{name} has dtype {dtype}: its elements must be numbers or words")
    return array.view(f"uint{dtype.itemsize * 8}")


def read_array(path: Path) -> Array:
    """Return the array of an .npy file, of its shape and dtype, mapped into memory; nothing is unpickled.

    Arrays of tcsmt have their format's dtype; of ml_dtypes' arrays that NumPy has written, which lose their
    names, the words, but for E5M2, which alone is written as a float of one byte.
    Raises :class:`.TcsmtError`, which names the file.
    """
    try:
        with path.open("rb") as file:
            start = file.read(len(_MAGIC))
            if start != _MAGIC:
                # NumPy takes such a file for a pickled one, and says how to load it
                raise TcsmtError(f"{path} is not a .npy array: it must hold one array, as np.save writes it")
            header = _header(file)
            place = file.tell()
        if header.get("descr") == _UNLOADABLE:
            order: Literal["C", "F"] = "F" if header["fortran_order"] else "C"
            raw = np.memmap(path, np.uint8, "r", place, tuple(header["shape"]), order)
            return np.asarray(raw).view(dtype_of(FORMATS["e5m2"]))
        return restored(np.load(path, mmap_mode="r", allow_pickle=False), str(path))
    except OSError as error:
        raise TcsmtError(f"cannot read {path}: {error.strerror or error}") from None
    except TcsmtError:
        raise
    except Exception as error:  # whatever NumPy meets in a header, which is Python's text
        raise TcsmtError(f"{path} is not a .npy array ({str(error).partition(chr(10))[0]:.200})") from None


def _header(file: BinaryIO) -> dict[str, Any]:
    """Return what the header after the magic says; nothing where it is none: NumPy says what is wrong."""
    version = file.read(2)
    size = file.read(2 if version[:1] == b"\x01" else 4)
    try:
        (length,) = struct.unpack("<H" if len(size) == 2 else "<I", size)
        said = ast.literal_eval(file.read(min(length, 10_000)).decode("latin-1").strip())
    except (struct.error, SyntaxError, ValueError, MemoryError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


# --- safetensors ---------------------------------------------------------------------------------


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
