"""The first Ctrl-C ends a search; outside, and the second time, it does what it did before."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from tcsmt.support.interrupts import interrupted_once


def test_the_first_is_an_exception_and_the_second_is_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        with interrupted_once():
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        assert seen == [signal.SIGINT] * 2
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with interrupted_once():
            os.kill(os.getpid(), signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_change_nothing() -> None:
    handlers: list[object] = []

    def run() -> None:
        with interrupted_once():
            handlers.append(signal.getsignal(signal.SIGINT))

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert handlers == [before]
