"""Arrays in files of NumPy's format, one array a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.support.errors import TcsmtError

__all__ = ["read_array"]

#: How a file of NumPy's format begins.
_MAGIC = b"\x93NUMPY"


def read_array(path: Path) -> np.ndarray[Any, np.dtype[Any]]:
    """The array of an .npy file, of its shape and dtype, mapped into memory; nothing is ever unpickled.

    NumPy stores ml_dtypes' arrays without their names: these are read as words, unsigned integers.
    Raises :class:`.TcsmtError`, which names the file.
    """
    try:
        with path.open("rb") as file:
            start = file.read(len(_MAGIC))
        if start != _MAGIC:
            # NumPy takes such a file for a pickled one, and says how to load it
            raise TcsmtError(f"{path} is not a .npy array: it must hold one array, as np.save writes it")
        array: np.ndarray[Any, np.dtype[Any]] = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise TcsmtError(f"cannot read {path}: {error.strerror or error}") from None
    except TcsmtError:
        raise
    except Exception as error:  # whatever NumPy meets in a header, which is Python's text
        raise TcsmtError(f"{path} is not a .npy array ({str(error).partition(chr(10))[0]:.200})") from None
    if array.dtype.kind != "V":
        return array
    if array.dtype.fields is not None or array.dtype.itemsize not in (1, 2, 4, 8):
        raise TcsmtError(f"{path} has dtype {array.dtype}: its elements must be numbers or words")
    return array.view(f"uint{array.dtype.itemsize * 8}")
