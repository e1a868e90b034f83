"""Arrays in files of NumPy's format, one array a file.

NumPy has no dtypes for BF16 and the formats of 8, 6 and 4 bits. ``np.save`` of ml_dtypes' arrays writes raw
bytes without a name, and of E5M2 a dtype that NumPy itself cannot load. Here such an array is written as a
structure of one field, the word, whose name is the format's: ``[('e5m2', 'u1')]``. NumPy loads it, and the
format is known.
"""

from __future__ import annotations

import ast
import struct
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.words import dtype_of, format_of
from tcsmt.support.errors import TcsmtError

__all__ = ["read_array", "restored", "stored_dtype", "stored_form"]

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
