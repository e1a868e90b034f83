"""The state of the floating-point unit and of NumPy's errors: whatever the caller's is, ours is IEEE 754's.

Another library may flush subnormals (``torch.set_flush_denormal``) or leave another rounding mode behind, and
a caller may want NumPy to raise where an array overflows. Public calls run in :class:`IeeeFloats`, in the
default state, and the caller's is restored after them. A caller's function runs in the caller's state.
"""

from __future__ import annotations

import ctypes
import struct
import sys
import threading
from collections.abc import Callable
from contextvars import copy_context
from functools import cached_property, wraps
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

from tcsmt.support.errors import TcsmtError

P = ParamSpec("P")
T = TypeVar("T")

#: Bytes that hold any platform's ``fenv_t``; 32 on x86-64 with glibc is the largest known.
_SIZE = 64
#: By name, as Python adds literals up when it compiles; the least subnormal by its bits, as ``float.fromhex``
#: computes it. A module is compiled and imported in whatever state its importer is in.
_ONE, _TINY = 1.0, float.fromhex("0x1p-60")
(_LEAST,) = struct.unpack("<d", bytes([1, 0, 0, 0, 0, 0, 0, 0]))


def usual_floats() -> bool:
    """Return whether this thread's floating-point unit is in IEEE 754's default state."""
    # each of the three other rounding modes changes one of the sums
    nearest = _ONE + _TINY == _ONE and _ONE - _TINY == _ONE and -_ONE - _TINY == -_ONE
    return nearest and _LEAST * _ONE != 0 and _LEAST + _LEAST != 0


def check_floats() -> None:
    """Refuse a thread whose floating-point unit is not in IEEE 754's default state."""
    if not usual_floats():
        raise TcsmtError(
            "this thread's floating-point unit flushes subnormals or does not round to nearest "
            "(set by another library): results would not be IEEE 754's"
        )


class _Unit:
    """C's ``fegetenv`` and ``fesetenv``. Where the process has none, the state can only be checked."""

    def __init__(self) -> None:
        self._default: Any = None
        for name in (None, "libm.so.6"):
            try:
                library = ctypes.PyDLL(name)
                self._get, self._set = library.fegetenv, library.fesetenv
                self._default = _default_state(library)
            except (OSError, TypeError, AttributeError, ValueError):
                continue
            break

    def save(self, state: Any) -> None:
        """Copy this thread's state into a buffer."""
        if self._default is not None:
            self._get(state)

    def restore(self, state: Any) -> None:
        """Give this thread the state in a buffer."""
        if self._default is not None:
            self._set(state)

    def reset(self) -> None:
        """Give this thread the default state. Raises :class:`.TcsmtError` where that cannot be had."""
        if self._default is not None:
            self._set(self._default)
        check_floats()


def _default_state(library: ctypes.CDLL) -> Any:
    """Return C's ``FE_DFL_ENV``; None where it is not known how the platform defines it.

    It is the address of a variable, or, on Linux where glibc and musl have none, the pointer -1.
    """
    name = {"darwin": "_FE_DFL_ENV", "linux": "__fe_dfl_env"}.get(sys.platform)
    if name is not None and hasattr(library, name):
        return ctypes.byref(ctypes.c_byte.in_dll(library, name))
    return ctypes.c_void_p(-1) if sys.platform == "linux" else None


_UNIT = _Unit()


class _Caller:
    """The state of a thread when it called: of its floating-point unit, and its context with NumPy's."""

    def __init__(self) -> None:
        self.state = ctypes.create_string_buffer(_SIZE)
        _UNIT.save(self.state)
        self.context = copy_context()


class _Thread(threading.local):
    """The caller whose call a thread is in."""

    caller: _Caller | None = None


_THREAD = _Thread()


class IeeeFloats:
    """A block in the default state: subnormals are kept, rounding is to nearest, NumPy's errors are ignored.

    Inside another one, it does nothing. Raises :class:`.TcsmtError` where the state cannot be set.
    """

    def __enter__(self) -> None:
        self._caller: _Caller | None = None
        # an interrupt may have left the thread marked: the mark alone is not believed
        if _THREAD.caller is not None and usual_floats():
            return
        import numpy as np  # slow to load

        self._caller, self._errors = _Caller(), np.errstate(all="ignore")
        try:
            _UNIT.reset()
        except TcsmtError:
            _UNIT.restore(self._caller.state)
            raise
        self._errors.__enter__()
        _THREAD.caller = self._caller

    def __exit__(self, *raised: object) -> None:
        if self._caller is not None:
            _THREAD.caller = None
            self._errors.__exit__(None, None, None)
            _UNIT.restore(self._caller.state)


def ieee_floats(function: Callable[P, T]) -> Callable[P, T]:
    """Return the function, which runs in :class:`IeeeFloats`: every public call is one."""

    @wraps(function)
    def guarded(*arguments: P.args, **options: P.kwargs) -> T:
        __tracebackhide__ = True  # pytest shows the caller's own line
        with IeeeFloats():
            return function(*arguments, **options)

    return guarded


def guard_members(kind: type[T]) -> type[T]:
    """Make the methods and properties that a class defines run in :class:`IeeeFloats`; return the class."""
    for name, member in list(vars(kind).items()):
        if name.startswith("_") and not name.startswith("__"):
            continue
        if isinstance(member, property) and member.fget is not None:
            setattr(kind, name, property(ieee_floats(member.fget), doc=member.__doc__))
        elif isinstance(member, cached_property):
            member.func = ieee_floats(member.func)
        elif isinstance(member, FunctionType):
            setattr(kind, name, ieee_floats(member))
    return kind


def callers_floats(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function of the caller's, which runs in the caller's state, inside of a public call."""

    def called(*arguments: P.args, **options: P.kwargs) -> T:
        caller = _THREAD.caller
        if caller is None:
            return function(*arguments, **options)
        _THREAD.caller = None
        _UNIT.restore(caller.state)
        try:
            return caller.context.run(function, *arguments, **options)
        finally:
            _UNIT.save(caller.state)  # it may have changed it
            _THREAD.caller = caller
            _UNIT.reset()

    return called
