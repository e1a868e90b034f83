"""Launches of kernels whose PTX is in ``tests/data/ptx``, as Triton's launches are captured."""

from __future__ import annotations

from typing import Any

import numpy as np

from tcsmt.interop.triton.launches import KernelLaunch, LaunchArgument
from tests.support.compiled import TEXTS

#: Where the products of 64 x 64 matrices that Triton compiled run: a block has 16 or 64 rows.
SIZE = 64


def tensor(name: str, kind: str, values: np.ndarray[Any, Any]) -> LaunchArgument:
    strides = tuple(step // values.itemsize for step in values.strides)
    return LaunchArgument(name, f"*{kind}", values.ctypes.data, values.shape, strides)


def product_launch(
    text: str,
    a: LaunchArgument,
    b: LaunchArgument,
    d: LaunchArgument,
    *,
    target: str,
    rows: int,
    columns: int,
) -> KernelLaunch:
    """Return a launch of D = A B, all 64 x 64. rows, columns: of a block."""
    numbers = [LaunchArgument(name, "i32", SIZE) for name in ("M", "N", "K", "sam", "sbk", "scm")]
    grid = SIZE // rows, SIZE // columns, 1
    ptx = (TEXTS / f"{text}.ptx").read_text()
    return KernelLaunch("matmul", target, ptx, {"BLOCK_M": rows}, grid, (a, b, d, *numbers))
