"""Arrays in files of NumPy's format, one array a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.support.errors import TcsmtError

__all__ = ["read_array"]


def read_array(path: Path) -> np.ndarray[Any, np.dtype[Any]]:
    """The array of an .npy file, mapped into memory; nothing is ever unpickled.

    NumPy stores ml_dtypes' arrays without their names: these are read as words, unsigned integers.
    Raises :class:`.TcsmtError`, which names the file.
    """
    try:
        array: np.ndarray[Any, np.dtype[Any]] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise TcsmtError(f"{path} is not a .npy array ({reason})") from None
    if not isinstance(array, np.ndarray):
        raise TcsmtError(f"{path}: must hold one array (.npy)")
    return array.view(f"uint{array.dtype.itemsize * 8}") if array.dtype.kind == "V" else array
