"""Arrays in files: ``.npy``, never unpickled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.support.errors import TcsmtError

__all__ = ["read_array"]

Array = np.ndarray[Any, np.dtype[Any]]


def read_array(path: Path) -> Array:
    """The array of a file, in memory only where it is read; words where NumPy does not know the dtype.

    Raises :class:`.TcsmtError` for whatever is not one array of numbers.
    """
    try:
        array: Array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise TcsmtError(f"{path} is not a .npy array ({reason})") from None
    if not isinstance(array, np.ndarray):
        raise TcsmtError(f"{path}: must hold one array (.npy)")
    # NumPy stores ml_dtypes' arrays without their names
    return array.view(f"uint{array.dtype.itemsize * 8}") if array.dtype.kind == "V" else array
