"""Ctrl-C and signals: Ctrl-C ends a search and not the command, signals wait until a file is whole."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupted_once() -> Iterator[None]:
    """Let the first Ctrl-C inside raise KeyboardInterrupt; the next one does what it did before.

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


@contextmanager
def stops_waiting() -> Iterator[None]:
    """Let SIGINT and SIGTERM wait until the block ends, for steps of which none may be without the next.

    A file that is written and the note of what it holds are such steps: between them, a stopped command would
    say less than the file has. Nothing that may take long belongs inside. Only signals with a handler of
    Python's wait, and only those of the main thread, where handlers run.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    handlers = {number: handler for number, handler in handlers.items() if callable(handler)}
    try:
        for number in handlers:
            signal.signal(number, lambda number, frame: came.append(number))
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


@contextmanager
def on_stop(say: Callable[[], object]) -> Iterator[None]:
    """Call ``say`` where the block is stopped, by Ctrl-C or another signal; the stop then goes on.

    An error is not a stop, nor is the end of the program.

    >>> with on_stop(lambda: print("two of three")):
    ...     print("one, two")
    one, two
    """
    try:
        yield
    except (Exception, SystemExit, GeneratorExit):
        raise
    except BaseException:
        say()
        raise
