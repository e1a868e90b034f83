"""Launches emulated: every block of a grid is computed, and its bits are written into the tensors."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from tcsmt.interop.triton.execution import Array, BlockNumbers
from tcsmt.interop.triton.launches import KernelLaunch, LaunchArgument
from tcsmt.support.errors import TcsmtError


def emulate_launch(launch: KernelLaunch) -> None:
    """Write what a launch stores into its tensors.

    Raises :class:`.TcsmtError` for what cannot be computed bit for bit, and where the result depends on the
    order of the blocks; then nothing is written.
    """
    tensors = {n: one for n, one in enumerate(launch.arguments) if one.is_pointer}
    held = {n: one.memory() for n, one in tensors.items()}
    written: dict[int, Array] = {}  # -1: not written
    loaded: set[int] = set()
    for block in launch.blocks:
        try:
            run = launch.run(block)
            stored = BlockNumbers(run, held).stored()
        except TcsmtError as error:
            raise TcsmtError(f"{launch.kernel}, block {block}: {error}") from None
        loaded |= run.machine.loaded
        for buffer, (offsets, values) in stored.items():
            name, size = launch.arguments[buffer].name, len(held[buffer])
            if offsets.min() < 0 or offsets.max() >= size:
                raise TcsmtError(f"{launch.kernel}, block {block}: it stores outside of the tensor {name}")
            whole = written.setdefault(buffer, np.full(size, -1, np.int16))
            before = whole[offsets]
            if ((before >= 0) & (before != values)).any():
                raise TcsmtError(
                    f"{launch.kernel}: two blocks store different values to the same place of {name}"
                )
            whole[offsets] = values
    _check_apart(launch.kernel, tensors, written.keys() & loaded, written)
    for buffer, whole in written.items():
        np.copyto(held[buffer], whole.astype(np.uint8), where=whole >= 0)


def _check_apart(
    kernel: str, tensors: dict[int, LaunchArgument], both: set[int], written: dict[int, Array]
) -> None:
    """Refuse tensors that some blocks read and others write, and written ones that overlap with others."""
    if both:
        name = tensors[min(both)].name
        raise TcsmtError(f"{kernel}: some blocks read the tensor {name}, and others write to it")
    for (n, x), (m, y) in combinations(tensors.items(), 2):
        overlap = x.value < y.value + y.extent and y.value < x.value + x.extent
        if overlap and {n, m} & written.keys():
            raise TcsmtError(f"{kernel}: the tensors {x.name} and {y.name} overlap, and one is written to")
