"""Triton kernels as their author launches them: ``tcsmt.triton.capture`` and ``tcsmt.triton.emulate``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tcsmt.interface.api.kernel_read import CompiledKernel
from tcsmt.interop.triton import capture as captures
from tcsmt.interop.triton.capture import KernelFunction, name_of
from tcsmt.interop.triton.emulation import emulate_launch
from tcsmt.interop.triton.launches import KernelLaunch, launching
from tcsmt.support.floats import ieee_floats
from tcsmt.support.results import Result


@dataclass(frozen=True, repr=False)
class CapturedLaunch(Result):
    """A launch of a Triton kernel, compiled for a GPU: print it, or read elements of its result.

    launch: the kernel with its PTX (``launch.ptx``), constants, grid and arguments.
    """

    function: str
    launch: KernelLaunch

    @ieee_floats
    def read(self, element: int | None = None) -> CompiledKernel:
        """Return the program of an element of the result; of the first block's first one without a number."""
        ((read, _),) = self.launch.read([] if element is None else [element])
        return CompiledKernel(self.function, read)

    @property
    def _title(self) -> str:
        return str(self.launch)

    def _lines(self) -> Iterator[str]:
        yield f"{self.launch}, compiled for {self.launch.target}"
        for one in self.launch.arguments:
            shaped = f"{list(one.shape)}, strides {list(one.strides)}"
            yield (
                f"  {one.name}: {one.type[1:]} {shaped}" if one.is_pointer else f"  {one.name} = {one.value}"
            )

    def _facts(self) -> dict[str, Any]:
        launch = self.launch
        arguments = [
            {"name": one.name, "type": one.type}
            | ({"shape": one.shape, "strides": one.strides} if one.is_pointer else {"value": one.value})
            for one in launch.arguments
        ]
        return {
            "kernel": launch.kernel, "target": launch.target, "constants": dict(launch.constants),
            "grid": launch.grid, "arguments": arguments,
        }  # fmt: skip


@ieee_floats
def capture(
    function: KernelFunction, target: str, settings: Mapping[str, Any] | None = None
) -> tuple[CapturedLaunch, ...]:
    """Return the launches of a function that runs Triton kernels on CPU tensors, compiled for a GPU.

    No GPU is needed, and nothing is computed. Of an autotuned kernel the first configuration is launched, or
    the first one that agrees with the settings.

    Args:
        function: A function without arguments, or FILE.py:FUNCTION.
        target: The GPU or architecture of NVIDIA's to compile for.
        settings: A constant of the kernels, num_warps or num_stages, or a parameter of the function, by name.

    Raises :class:`tcsmt.TcsmtError` for what the function raises.
    """
    captured = captures.capture(function, target, settings=settings)
    return tuple(CapturedLaunch(name_of(function), launch) for launch in captured.launches)


@contextmanager
def emulate(target: str, settings: Mapping[str, Any] | None = None) -> Iterator[None]:
    """Within this context ``kernel[grid](…)`` on CPU tensors writes the bits that a GPU would.

    Each launch of a Triton kernel is compiled for the GPU, and every block of its grid is computed from the
    compiled text. Of an autotuned kernel one configuration is launched, as by :func:`capture`. Raises
    :class:`tcsmt.TcsmtError` for what cannot be computed bit for bit, and where the order of blocks matters.
    """
    with launching(target, ieee_floats(emulate_launch), settings=settings):
        yield
