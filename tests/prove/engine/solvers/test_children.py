"""Children of solvers: forked from a process that stays, started anew where they must be, none mixed up."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solvers import children
from tcsmt.prove.engine.solvers.run import solve


def x_is(word: int) -> str:
    return f"(set-logic QF_BV)\n(declare-const x (_ BitVec 8))\n(assert (= x #x{word:02x}))\n(check-sat)\n"


def solved(word: int) -> bool:
    return solve(x_is(word), SolvingOptions()).values == {"x": word}


def warm() -> list[int]:
    """The numbers of the processes that this one keeps, to fork solvers off."""
    return [each.process.pid for (process, _), each in children._WARM.items() if process == os.getpid()]


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setattr(children, "_WARM", {})
    yield
    children._end()


def test_one_process_stays() -> None:
    assert solved(1) and len(warm()) == 1
    process = warm()
    assert solved(2) and warm() == process


def test_processor_time_of_forks_counts() -> None:
    assert solved(1)  # the library is loaded
    before, own = children.spent(), sum(os.times()[:4])
    assert solved(2)
    assert children.spent() - before > sum(os.times()[:4]) - own


def test_one_that_was_killed_is_started_again() -> None:
    assert solved(1)
    (before,) = warm()
    os.kill(before, signal.SIGKILL)
    assert solved(2) and warm() != [before]


def test_nothing_is_forked_where_another_library_may_be_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    assert solved(3) and not warm()


def test_threads_do_not_mix_up_their_answers() -> None:
    right: list[bool] = []
    threads = [threading.Thread(target=lambda n=n: right.append(solved(n))) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * 6


def test_a_reply_that_nobody_waited_for_is_not_another_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    assert solved(4)
    (before,) = warm()
    send = socket.send_fds

    def interrupted(*arguments: object) -> int:
        send(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(socket, "send_fds", interrupted)
        with pytest.raises(KeyboardInterrupt):
            solved(5)
    assert solved(6) and warm() != [before]


def test_a_process_that_was_forked_off_has_its_own() -> None:
    assert solved(7)
    process = warm()
    fork = os.fork()
    if not fork:
        alone = not warm() and solved(8) and warm() != process
        os._exit(0 if alone else 1)
    assert os.waitpid(fork, 0)[1] == 0
    assert solved(9) and warm() == process


def test_no_process_is_left_behind() -> None:
    program = (
        "from tcsmt.prove.engine.options import SolvingOptions\n"
        "from tcsmt.prove.engine.solvers import children\n"
        f"from tcsmt.prove.engine.solvers.run import solve\nsolve({x_is(1)!r}, SolvingOptions())\n"
        "print(*(each.process.pid for each in children._WARM.values()))"
    )
    process = int(subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout)
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
