"""States of the floating-point unit, of NumPy's errors and of warnings in which a caller may be."""

from __future__ import annotations

import ctypes
import platform
import struct
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import numpy as np
import pytest

#: Where each processor's control word lies in glibc's ``fenv_t``, and its bits: of the modes that are not
#: nearest, and of what flushes subnormal operands and results.
_WORDS = {
    "x86_64": (28, {"down": 0x2000, "up": 0x4000, "toward zero": 0x6000}, 0x8040),
    "aarch64": (0, {"up": 0x400000, "down": 0x800000, "toward zero": 0xC00000}, 0x1000000),
}

needs_a_known_unit = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in _WORDS,
    reason="the floating-point control word of this platform is not known here",
)


def control_word() -> int:
    """This thread's rounding mode and what it flushes, as bits."""
    offset, modes, flushing = _WORDS[platform.machine()]
    state = ctypes.create_string_buffer(64)
    assert ctypes.CDLL(None).fegetenv(state) == 0
    (word,) = struct.unpack_from("<I", state, offset)
    return int(word) & (modes["toward zero"] | flushing)


def set_control_word(word: int) -> None:
    """Set these bits of this thread's control word, and clear the others of their kind."""
    offset, modes, flushing = _WORDS[platform.machine()]
    state = ctypes.create_string_buffer(64)
    library = ctypes.CDLL(None)
    assert library.fegetenv(state) == 0
    (before,) = struct.unpack_from("<I", state, offset)
    struct.pack_into("<I", state, offset, (before & ~(modes["toward zero"] | flushing)) | word)
    assert library.fesetenv(state) == 0
    assert control_word() == word


@contextmanager
def unit_state(mode: str = "", *, flushing: bool = False) -> Iterator[None]:
    """A floating-point unit that rounds otherwise, or flushes subnormals, and is still so at the end."""
    modes, bits = _WORDS[platform.machine()][1:]
    wanted, before = modes.get(mode, 0) | (bits if flushing else 0), control_word()
    set_control_word(wanted)
    try:
        yield
        assert control_word() == wanted, "the caller's floating-point state is not restored"
    finally:
        set_control_word(before)


@contextmanager
def numpy_errors(how: str) -> Iterator[None]:
    """NumPy raises, warns or calls at every event; a warning is an error."""

    def called(kind: str, flag: int) -> None:
        raise FloatingPointError(kind)

    with np.errstate(all=how, call=called), warnings.catch_warnings():  # type: ignore[arg-type]
        warnings.simplefilter("error", RuntimeWarning)
        before = np.geterr()
        yield
        assert np.geterr() == before, "the caller's NumPy errors are not restored"


@contextmanager
def warnings_as_errors() -> Iterator[None]:
    """Every warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@contextmanager
def all_at_once(mode: str, how: str) -> Iterator[None]:
    """A unit that flushes and rounds otherwise, NumPy's errors, and warnings as errors."""
    with unit_state(mode, flushing=True), numpy_errors(how), warnings_as_errors():
        yield


State = Callable[[], AbstractContextManager[None]]
#: Every one by its name; ``default`` is what the others are compared with.
STATES: dict[str, State] = {
    "default": nullcontext,
    "flushing": lambda: unit_state(flushing=True),
    "up": lambda: unit_state("up"),
    "down": lambda: unit_state("down"),
    "toward zero, flushing": lambda: unit_state("toward zero", flushing=True),
    "numpy raises": lambda: numpy_errors("raise"),
    "numpy warns": lambda: numpy_errors("warn"),
    "numpy calls": lambda: numpy_errors("call"),
    "warnings are errors": warnings_as_errors,
    "all at once, down": lambda: all_at_once("down", "raise"),
    "all at once, up": lambda: all_at_once("up", "call"),
}
