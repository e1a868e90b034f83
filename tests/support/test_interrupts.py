"""The first Ctrl-C ends a search; outside, and the second time, it does what it did before."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import nullcontext

import pytest

from tcsmt.support.interrupts import interrupted_once, on_stop, stops_waiting


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


def test_a_stop_waits_for_the_end_of_a_step() -> None:
    """Also where the step raises; a signal that is ignored stays so."""
    seen: list[str] = []
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda number, frame: seen.append("stopped")) for number in numbers]
    try:
        for number in numbers:
            with pytest.raises(ValueError), stops_waiting():  # noqa: PT011, PT012
                os.kill(os.getpid(), number)
                seen.append("step")
                raise ValueError
        assert seen == ["step", "stopped"] * 2
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with stops_waiting():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
            os.kill(os.getpid(), signal.SIGINT)
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


class Stopped(BaseException):
    pass


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (KeyboardInterrupt(), True), (Stopped(), True), (SystemExit(3), False), (ValueError(), False),
        (GeneratorExit(), False), (None, False),
    ],
)  # fmt: skip
def test_only_a_stop_is_one(error: BaseException | None, says: bool) -> None:
    said: list[str] = []
    with nullcontext() if error is None else pytest.raises(type(error)):  # noqa: SIM117
        with on_stop(lambda: said.append("two of three")):
            if error is not None:
                raise error
    assert said == ["two of three"] * says
