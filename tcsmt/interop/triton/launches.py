"""Launches of Triton kernels, captured as their author makes them, on a machine without a GPU.

Triton compiles for a GPU that is not there: only its driver, which loads and launches, is replaced. Triton is
imported when something is captured, and nowhere else.
"""

from __future__ import annotations

import ctypes
import math
import re
import struct
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from unittest import mock

import numpy as np

from tcsmt.interop.compiled.reading import ElementRead, KernelRun, run_kernel
from tcsmt.interop.hardware.instructions import TARGETS
from tcsmt.matrix_units.catalogue import ARCHITECTURES, architecture_named
from tcsmt.matrix_units.catalogue.naming import contents
from tcsmt.support import extras
from tcsmt.support.errors import TcsmtError, UnknownName

#: The architectures that Triton compiles to PTX for: bytes of shared memory of a block, at most.
_SHARED = {
    name: contents(name)["shared_memory"] for name in ARCHITECTURES if "shared_memory" in contents(name)
}
_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")
_ONE_AT_A_TIME = threading.RLock()

#: The place of a block in its grid.
Block: TypeAlias = tuple[int, int, int]

#: Constants of kernels and options of compilations that are chosen, by name.
Settings: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class LaunchArgument:
    """An argument of a launch. type: Triton's name, as ``*fp16``. value: its bits; of a tensor, its address.
    shape, strides: of a tensor, in elements.
    """

    name: str
    type: str
    value: int
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()

    @property
    def is_pointer(self) -> bool:
        """Return whether it is a tensor."""
        return self.type.startswith("*")

    @property
    def pointer(self) -> str:
        """Return how programs name it."""
        return f"{self.name}_" if self.name in ("A", "B", "K", "c", "d", "t") else self.name

    @property
    def size(self) -> int:
        """Return how many bytes an element of the tensor has."""
        found = re.search(r"fp8|i1$|\d+$", self.type)
        assert found is not None
        return 1 if found[0] in ("fp8", "i1") else int(found[0]) // 8

    @property
    def extent(self) -> int:
        """Return how many bytes there are from the tensor's first element to its last one."""
        if 0 in self.shape:
            return 0
        places = zip(self.shape, self.strides, strict=True)
        return self.size * (1 + sum((count - 1) * stride for count, stride in places))

    def memory(self) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """Return the tensor's bytes, which can be written while it lives."""
        return np.ctypeslib.as_array((ctypes.c_uint8 * self.extent).from_address(self.value))


@dataclass(frozen=True)
class KernelLaunch:
    """A launch of a compiled kernel. constants: of the kernel, with the options of its compilation.

    arguments: of the parameters of its PTX, in order; ``target``: the architecture.
    """

    kernel: str
    target: str
    ptx: str
    constants: Mapping[str, Any]
    grid: tuple[int, int, int]
    arguments: tuple[LaunchArgument, ...]

    def run(self, block: Block) -> KernelRun:
        """Run a block; its elements can then be read. Pointers have the kernel's own names, but ``A_`` for A:
        in programs A is what instructions multiply.
        """
        texts = [one.pointer if one.is_pointer else str(one.value) for one in self.arguments]
        return run_kernel(self.ptx, texts, target=self.target, block=block, grid=self.grid)

    @property
    def blocks(self) -> Iterator[Block]:
        """Return the places of all blocks: the first and the last one before the others."""
        x, y, _ = self.grid
        count = math.prod(self.grid)
        for n in (0, count - 1, *range(1, count - 1)) if count > 1 else range(count):
            yield n % x, n // x % y, n // (x * y)

    def read(self, elements: Sequence[int] = ()) -> list[tuple[ElementRead, Block]]:
        """Return the programs of elements of the result, each with the block that stores it: of the first one
        that the first block stores, where none is given. Raises :class:`.TcsmtError`.
        """
        found: dict[int, tuple[ElementRead, Block]] = {}
        for block in self.blocks:
            run = self.run(block)
            here = run.elements
            wanted = elements or here[:1]
            found |= {n: (run.read(n), block) for n in {*wanted}.intersection(here) - found.keys()}
            if len(found) == len(wanted):
                return [found[n] for n in wanted]
        missing = next((n for n in elements if n not in found), "0: the grid is empty")
        raise TcsmtError(f"{self.kernel}: no block stores element {missing}")

    def __str__(self) -> str:
        said = ", ".join(f"{name}={value}" for name, value in self.constants.items())
        return f"{self.kernel}[{', '.join(map(str, self.grid))}]({said})"


#: What is done with a launch, while the tensors of its arguments live.
Received: TypeAlias = Callable[[KernelLaunch], None]


@dataclass
class _Driver:
    """The driver of a GPU that is not there. received: takes each launch. chosen: which one of a kernel's
    autotuning configurations is launched. settings: constants and options in place of the launch's own.
    """

    target: Any
    architecture: str
    received: Received
    chosen: int
    settings: Settings
    most: int = 1  # configurations of a kernel that was launched
    config: Mapping[str, Any] = field(default_factory=dict)  # the one that was launched last
    used: set[str] = field(default_factory=set)
    known: set[str] = field(default_factory=set)

    def get_current_target(self) -> Any:
        """Return what is compiled for."""
        return self.target

    def get_current_device(self) -> str:
        """Return the name of the device, by which Triton keeps what it has compiled."""
        return f"tcsmt:{self.target.arch}"

    def get_current_stream(self, device: str) -> int:
        """Return the only stream."""
        return 0

    def get_active_torch_device(self) -> Any:
        """Return where tensors are."""
        import torch

        return torch.device("cpu")

    def get_device_properties(self, device: str) -> Mapping[str, int]:
        """Return what kernels ask of a device before they are launched."""
        raise TcsmtError("properties of the device are not known: it is not there")

    def check(self, kernel: Any) -> None:
        """Refuse a kernel that does not fit on the GPU, as Triton's own driver does."""
        from triton.runtime.errors import OutOfResources

        most, needed = _SHARED[self.architecture], kernel.metadata.shared
        if needed > most:
            raise OutOfResources(needed, most, "shared memory")

    def launch(self, kernel: Any, grid: tuple[int, int, int], arguments: Sequence[Any]) -> None:
        """Hand a launch over."""
        function = kernel.src.fn
        names, signature = function.arg_names, kernel.src.signature
        given = dict(zip(names, arguments, strict=True))
        fixed = {names[place[0]] for place in kernel.src.constants if len(place) == 1}
        found, constants = [], {}
        for name, value in given.items():
            if str(signature[name]) == "constexpr" or name in fixed:
                if any(parameter.name == name and parameter.is_constexpr for parameter in function.params):
                    constants[name] = getattr(value, "value", value)
            else:
                found.append(_argument(name, str(signature[name]), value))
        options = {name: getattr(kernel.metadata, name, None) for name in _OPTIONS}
        constants |= {n: v for n, v in options.items() if v is not None and (v != 1 or n != "num_ctas")}
        self.received(
            KernelLaunch(kernel.name, self.architecture, kernel.asm["ptx"], constants, grid, tuple(found))
        )


def _argument(name: str, kind: str, value: Any) -> LaunchArgument:
    if kind.startswith("*"):
        if not (hasattr(value, "data_ptr") and hasattr(value, "stride")):
            raise TcsmtError(f"argument {name}: only tensors are pointed to, not {type(value).__name__}")
        if getattr(getattr(value, "device", None), "type", "cpu") != "cpu":
            raise TcsmtError(f"argument {name}: a tensor of the CPU is expected, not of {value.device}")
        shape, strides = tuple(map(int, value.shape)), tuple(map(int, value.stride()))
        return LaunchArgument(name, kind, value.data_ptr(), shape, strides)
    if kind == "fp32":
        return LaunchArgument(name, kind, int.from_bytes(struct.pack("<f", value), "little"))
    if re.fullmatch(r"[iu]\d+", kind):
        return LaunchArgument(name, kind, int(value))
    raise TcsmtError(f"argument {name}: arguments of the type {kind} are not read (descriptors among them)")


@contextmanager
def launching(
    target: str, received: Received, *, chosen: int = 0, settings: Settings | None = None
) -> Iterator[_Driver]:
    """Within this context ``kernel[grid](…)`` compiles for a GPU, and hands the launch over.

    target: a GPU or architecture of NVIDIA's. chosen, settings: as in :class:`_Driver`.
    """
    with _ONE_AT_A_TIME, ExitStack() as replaced:
        try:
            from triton.backends.compiler import GPUTarget
            from triton.compiler.compiler import CompiledKernel
            from triton.runtime.autotuner import Autotuner
            from triton.runtime.driver import driver
            from triton.runtime.jit import JITFunction
        except ImportError as error:
            raise TcsmtError(f"Triton is needed: {extras.install('triton')} ({error})") from None
        architecture = architecture_named(target)
        if architecture not in _SHARED:
            raise TcsmtError(str(UnknownName("GPU that Triton compiles to PTX for", target, [*_SHARED])))
        number = int("".join(filter(str.isdecimal, TARGETS[architecture])))
        own = _Driver(GPUTarget("cuda", number, 32), architecture, received, chosen, settings or {})
        launch = JITFunction.run

        def init_handles(kernel: Any) -> None:
            own.check(kernel)
            # what is launched later in this process is handed to the driver of that time
            kernel._run = lambda x, y, z, stream, function, packed, metadata, enter, leave, *arguments: (
                driver.active.launch(kernel, (x, y, z), arguments)
            )

        def tuned(tuner: Any, *arguments: Any, **named: Any) -> Any:
            return _tuned(own, tuner, arguments, named)

        def launched(function: Any, *arguments: Any, **named: Any) -> Any:
            own.known |= {p.name for p in function.params if p.is_constexpr} | {*_OPTIONS}
            taken = {name: value for name, value in own.settings.items() if name in own.known}
            own.used |= taken.keys()
            places = [*arguments]
            for place, name in enumerate(function.arg_names[: len(places)]):
                if name in taken:
                    places[place] = taken.pop(name)
            return launch(function, *places, **{**named, **taken})

        for owner, name, new in (
            (driver, "_active", own), (CompiledKernel, "_init_handles", init_handles),
            (Autotuner, "run", tuned), (JITFunction, "run", launched),
        ):  # fmt: skip
            if not hasattr(owner, name):
                raise TcsmtError(f"this version of Triton has no {owner}.{name}; 3.5 and 3.9 have been tried")
            replaced.enter_context(mock.patch.object(owner, name, new))
        replaced.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        yield own


def _tuned(own: _Driver, tuner: Any, arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """Launch the configuration that is chosen, without a benchmark; its hooks are called as Triton does."""
    tuner.nargs = dict(zip(tuner.arg_names, arguments, strict=False))
    configurations = [
        one
        for one in tuner.prune_configs(dict(named))
        if all(one.all_kwargs().get(name, value) == value for name, value in own.settings.items())
    ] or tuner.configs[:1]
    own.most = max(own.most, len(configurations))
    own.known |= {name for one in configurations for name in one.all_kwargs()}
    config = configurations[min(own.chosen, len(configurations) - 1)]
    own.config = config.all_kwargs()
    current = {**named, **own.config}
    everything = {**tuner.nargs, **current}
    if config.pre_hook is not None:
        config.pre_hook(everything)
    tuner.pre_hook(everything, reset_only=True)
    tuner.best_config = config
    try:
        return tuner.fn.run(*arguments, **current)
    finally:
        tuner.nargs = None
