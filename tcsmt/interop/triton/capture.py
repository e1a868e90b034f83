"""The launches of a function that runs Triton kernels, ``FILE.py:FUNCTION``, compiled for a GPU."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from tcsmt.interop.triton.launches import KernelLaunch, Received, Settings, launching
from tcsmt.support.errors import TcsmtError, UnknownName

#: A function without arguments that launches kernels on CPU tensors; or its name, ``FILE.py:FUNCTION``.
KernelFunction: TypeAlias = "Callable[..., Any] | str"


@dataclass(frozen=True)
class Captured:
    """What a function launched. configurations: how many its autotuned kernel has."""

    launches: tuple[KernelLaunch, ...]
    configurations: int

    def launch(self, number: int | None) -> KernelLaunch:
        """Return one of them; the only one without a number, which begins with 0."""
        if not self.launches:
            raise TcsmtError("the function launches no kernel")
        if number is None and len(self.launches) == 1:
            return self.launches[0]
        if number is None or not 0 <= number < len(self.launches):
            several = "; ".join(f"{n}: {launch}" for n, launch in enumerate(self.launches))
            asked = "which of its launches?" if number is None else f"it has no launch {number}."
            raise TcsmtError(f"{asked} {several}")
        return self.launches[number]


class NotLaunched(TcsmtError):
    """An error of the function, or of Triton that compiles its kernel; perhaps of one configuration alone.

    config: that was launched; configurations: how many there are. compiled: the error is not Triton's, which
    would not run this configuration on the GPU either.
    """

    def __init__(self, message: str, config: Mapping[str, Any], configurations: int, compiled: bool) -> None:
        super().__init__(message)
        self.config, self.configurations, self.compiled = config, configurations, compiled


def name_of(function: KernelFunction) -> str:
    """Return what a function is called."""
    return function if isinstance(function, str) else getattr(function, "__qualname__", "the function")


def file_of(function: KernelFunction) -> Path:
    """Return the file in which a function is."""
    if isinstance(function, str):
        return Path(function.rpartition(":")[0])
    return Path(inspect.getsourcefile(inspect.unwrap(function)) or __file__)


def is_function(name: object) -> bool:
    """Return whether a name is that of a function in a file: ``FILE.py:FUNCTION``."""
    file, colon, function = str(name).rpartition(":")
    return bool(colon) and file.endswith(".py") and function.isidentifier()


def capture(
    function: KernelFunction,
    target: str,
    *,
    chosen: int = 0,
    settings: Settings | None = None,
    received: Received | None = None,
) -> Captured:
    """Return what a function launches, compiled for a GPU.

    chosen: which configuration of autotuned kernels. settings: of the function's own parameters, else of the
    kernels' constants and options. received: is given each launch while its tensors live. Raises
    :class:`.TcsmtError` for what the function raises.
    """
    found: list[KernelLaunch] = []

    def take(launch: KernelLaunch) -> None:
        found.append(launch)
        if received is not None:
            received(launch)

    name = name_of(function)
    given = dict(settings or {})
    with launching(target, take, chosen=chosen, settings=given) as driver:
        try:
            called = _named(function) if isinstance(function, str) else function
            own = {key: given.pop(key) for key in inspect.signature(called).parameters if key in given}
            driver.settings = given
            called(**own)
        except TcsmtError:
            raise
        except Exception as error:  # whatever a stranger's code, or Triton, raises
            last = [line for line in str(error).splitlines() if line.strip()][-1:]
            told = f"{name}: {': '.join([type(error).__name__, *last])}"
            compiled = not type(error).__module__.startswith("triton.")
            raise NotLaunched(told, driver.config, driver.most, compiled) from error
    for setting in given.keys() - driver.used:
        raise TcsmtError(f"{name}: {UnknownName('constant of its kernels', setting, sorted(driver.known))}")
    return Captured(tuple(found), driver.most)


def _named(name: str) -> Callable[..., Any]:
    """Return the function FILE.py:FUNCTION. The file's folder can be imported from."""
    file, _, function = name.rpartition(":")
    path = Path(file)
    if not is_function(name) or not path.is_file():
        raise TcsmtError(
            f"{name}: expected FILE.py:FUNCTION{'' if path.is_file() else ', and there is no such file'}"
        )
    module = sys.modules.get(path.stem)
    if module is None or getattr(module, "__file__", None) != str(path.resolve()):
        spec = importlib.util.spec_from_file_location(path.stem, path.resolve())
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        before = sys.modules.get(path.stem)
        sys.modules[path.stem] = module
        sys.path.insert(0, str(path.resolve().parent))
        try:
            spec.loader.exec_module(module)
        finally:
            sys.path.pop(0)
            if before is not None:
                sys.modules[path.stem] = before
    found: Callable[..., Any] | None = getattr(module, function, None)
    if not callable(found):
        names = [key for key, value in vars(module).items() if inspect.isfunction(value)]
        raise TcsmtError(f"{path}: {UnknownName('function', function, names)}")
    return found
