"""Functions of one's own, by name: what ``--python`` takes."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

from tcsmt.face.api.terminal import TcsmtError, UnknownName

__all__ = ["function_named"]


def function_named(name: str) -> Callable[..., Any]:
    """Return the function MODULE:FUNCTION, found from the current folder too. Raises :class:`.TcsmtError`."""
    module, colon, function = name.partition(":")
    if not (module and colon and function):
        raise TcsmtError(f"--python {name}: expected MODULE:FUNCTION, e.g. my_emulator:dot")
    if module.endswith(".py"):
        dotted = module.removesuffix(".py").replace("/", ".").strip(".")
        raise TcsmtError(f"--python {name}: a module has no suffix; write {dotted}:{function}")
    sys.path.insert(0, "")
    try:
        imported = importlib.import_module(module)
        if not hasattr(imported, function):
            names = [key for key in dir(imported) if callable(getattr(imported, key)) and key[0] != "_"]
            unknown = UnknownName(f"function of module {module}", function, names)
            raise TcsmtError(f"--python {name}: {unknown}")
        target = getattr(imported, function)
    except ImportError as error:
        raise TcsmtError(f"--python {name}: {error}") from None
    finally:
        sys.path.remove("")
    if not callable(target):
        raise TcsmtError(f"--python {name}: not a function")

    def called(*arrays: Any, **named: Any) -> Any:
        try:
            return target(*arrays, **named)
        except Exception as error:  # whatever a stranger's code raises
            raise TcsmtError(f"--python {name}: {type(error).__name__}: {error}") from error

    called.__name__ = name
    return called
