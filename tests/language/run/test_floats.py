"""A thread whose floating-point unit is not as IEEE 754 has it is refused."""

from __future__ import annotations

import ctypes
import ctypes.util
import platform
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from tcsmt.language.run.arrays import Program
from tcsmt.language.run.floats import check_floats
from tcsmt.language.terms import var
from tcsmt.support.errors import TcsmtError

#: Numbers of C's rounding modes for ``fesetround`` on x86.
UP, DOWN, ZERO = 0x800, 0x400, 0xC00


@contextmanager
def rounding(mode: int) -> Iterator[None]:
    """A thread of this process that rounds otherwise."""
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    before = library.fegetround()
    assert library.fesetround(mode) == 0
    try:
        yield
    finally:
        assert library.fesetround(before) == 0


def test_the_usual_state_is_accepted() -> None:
    check_floats()


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="numbers of modes are x86's")
@pytest.mark.parametrize("mode", [UP, DOWN, ZERO])
def test_another_rounding_is_refused(mode: int) -> None:
    """Also by what computes with the unit; in a thread of its own, so that no other test sees it."""
    said: list[str] = []

    def run() -> None:
        with rounding(mode):
            for used in (check_floats, lambda: program.run({n: np.zeros(1, np.uint32) for n in "xyz"})):
                try:
                    used()
                except TcsmtError as error:
                    said.append(str(error))

    program = Program([var("x", 32)])
    program.floats = True
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    # what rounds up or down is seen by the sum of 1 and a tiny number; so is what rounds toward zero
    assert len(said) == 2 and all("does not round to nearest" in one for one in said)
    check_floats()


def test_flushed_subnormals_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Products that come out as zero: no other library's help is needed to make them so."""

    class Flushed(np.ndarray):
        def __mul__(self, other: object) -> np.ndarray:
            return np.zeros(2, np.float32)

    made = np.array
    monkeypatch.setattr(np, "array", lambda *a, **k: made(*a, **k).view(Flushed))
    with pytest.raises(TcsmtError, match="flushes subnormals or does not round to nearest"):
        check_floats()
