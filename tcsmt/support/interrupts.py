"""Ctrl-C as what ends a search and not the command."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["interrupted_once"]


@contextmanager
def interrupted_once() -> Iterator[None]:
    """The first Ctrl-C inside raises KeyboardInterrupt; the next one does what it did before.

    In another thread than the main one, and where Ctrl-C is ignored, nothing is changed.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN or threading.current_thread() is not threading.main_thread():
        yield
        return

    def first(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
