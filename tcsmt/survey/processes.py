"""Pairs asked on this machine, several at a time."""

from __future__ import annotations

import multiprocessing as mp
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any

from tcsmt.prove.solvers.answer import ended
from tcsmt.prove.solvers.run import Settings
from tcsmt.survey.pairs import Pair, verdict_on, without_verdict

__all__ = ["answers_of"]


def answers_of(
    jobs: int, pairs: Sequence[Pair], settings: Settings, confirm: bool
) -> Iterator[tuple[Pair, dict[str, Any]]]:
    """Each pair in a process of its own, so many at a time; all are ended on the way out."""
    context = mp.get_context("forkserver")
    context.set_forkserver_preload(["tcsmt.survey.processes"])
    resource_tracker.ensure_running()  # it unblocks signals where it starts
    waiting = list(reversed(pairs))
    running: dict[Connection, tuple[Pair, Any]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                pair = waiting.pop()
                with _undisturbed():
                    ours, theirs = context.Pipe(duplex=False)
                    given = theirs, pair, settings, confirm
                    process = context.Process(target=_work, args=given)
                    process.start()
                    theirs.close()
                    running[ours] = pair, process
            for ready in wait(list(running)):
                assert isinstance(ready, Connection)
                pair, process = running[ready]
                try:
                    record = ready.recv()
                except EOFError:
                    process.join()
                    record = without_verdict(pair, f"the process died ({ended(process.exitcode)})")
                process.join()
                ready.close()
                del running[ready]
                yield pair, record
    finally:
        for _, process in running.values():
            process.kill()
            process.join()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Signals wait, so that no process is started and then forgotten. What is started inherits that."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(answer: Connection, pair: Pair, settings: Settings, confirm: bool) -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])  # Ctrl-C is the parent's
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with suppress(BrokenPipeError):  # the parent is gone
        answer.send(verdict_on(pair, settings, confirm))
    answer.close()
