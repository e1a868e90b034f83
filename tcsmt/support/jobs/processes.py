"""Tasks, and the processes of this machine that compute several at a time."""

from __future__ import annotations

import multiprocessing as mp
import signal
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from tcsmt.support.checkpoint import Record
from tcsmt.support.conversation import ended
from tcsmt.support.errors import TcsmtError
from tcsmt.support.floats import ieee_floats
from tcsmt.support.invariants import checked_cast


@dataclass(frozen=True)
class Task:
    """A task to compute: ``function(*arguments)`` gives its record, in whatever process.

    key: what the record is kept under. asked: a digest of what is asked; a record of something else does not
    count. function: one of a module, which a worker imports; arguments: plain data. code: a digest of the
    sources that the answer rests on. models: the digest of each model that the record is about, by its name
    there. title: for progress, where it is not the key.
    """

    key: str
    asked: str
    function: Callable[..., Record]
    arguments: tuple[Any, ...] = ()
    code: str = ""
    models: Mapping[str, str] = field(default_factory=dict)
    title: str = ""

    @ieee_floats
    def run(self) -> Record:
        """Return its record, whatever state the worker's floating-point unit is in."""
        return self.function(*self.arguments)

    def stamped(self, record: Record) -> Record:
        """Return the record, with what it is about and what it rests on."""
        about = {"models": dict(self.models)} if self.models else {}
        return {**record, **about, "asked": self.asked, "code": self.code}

    def said(self, record: Record) -> str:
        """Return what is said of it when it is done."""
        return str(record.get("answer", record.get("verdict", "done")))


@dataclass(frozen=True)
class Failure:
    """A failure: no record, and why; the process that computed it died."""

    reason: str


@dataclass(frozen=True)
class _Worker:
    """A process that computes one task after the other, and the pipe to it."""

    process: Any
    pipe: Connection


def answers_of(jobs: int, tasks: Sequence[Task]) -> Generator[tuple[Task, Record | Failure], None, None]:
    """Yield each task with its record, as they come, from so many processes; all are ended on the way out.

    A process goes on to the next task, so that what one has learnt helps the next. Where a process dies, its
    task has failed, and another process goes on. Raises what a task raises that is a :class:`.TcsmtError`.
    """
    context = mp.get_context("forkserver")
    context.set_forkserver_preload([__name__, *{task.function.__module__ for task in tasks}])
    resource_tracker.ensure_running()  # it unblocks signals where it starts
    waiting = list(reversed(tasks))
    idle: list[_Worker] = []
    busy: dict[Connection, tuple[_Worker, Task]] = {}
    try:
        while waiting or busy:
            while waiting and len(busy) < jobs:
                task = waiting.pop()
                worker = _given(task, idle, context)
                busy[worker.pipe] = worker, task
            for ready in wait(list(busy)):
                ready = checked_cast(ready, Connection)
                worker, task = busy[ready]
                try:
                    answer = ready.recv()
                except (EOFError, OSError):
                    worker.process.join()
                    answer = Failure(f"the process died ({ended(worker.process.exitcode)}){_cause(worker)}")
                    ready.close()
                else:
                    idle.append(worker)
                del busy[ready]
                if isinstance(answer, TcsmtError):
                    raise answer
                yield task, answer
    finally:
        for worker in [*idle, *(child for child, _ in busy.values())]:
            worker.process.kill()
            worker.process.join()
            worker.pipe.close()


def _cause(worker: _Worker) -> str:
    """Return why a process may have died before it computed anything, and what helps.

    A new process imports the script that started it. A script that starts processes while it is imported
    makes Python refuse, and the process ends with 1; nothing that a task does ends a process with 1.
    """
    script = getattr(sys.modules["__main__"], "__file__", None)
    if worker.process.exitcode != 1 or script is None:
        return ""
    return (
        f': {Path(script).name} may lack `if __name__ == "__main__":`; put the calls that start processes '
        "under it, because every process imports the script"
    )


def _given(task: Task, idle: list[_Worker], context: Any) -> _Worker:
    """Return a worker that has been given the task: one that is idle and lives, or a new one."""
    while idle:
        worker = idle.pop()
        try:
            worker.pipe.send(task)
        except OSError:  # it died while it waited
            worker.process.join()
            worker.pipe.close()
        else:
            return worker
    with _undisturbed():
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(theirs, task), daemon=True)
        process.start()
        theirs.close()
        return _Worker(process, ours)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Make signals wait, so that no process is started and then forgotten. What is started inherits that."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(pipe: Connection, task: Task) -> None:
    """Compute tasks, until the parent is gone."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])  # Ctrl-C is the parent's
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with suppress(EOFError, OSError):
        while True:
            try:
                answer: Record | TcsmtError = task.run()
            except TcsmtError as error:
                answer = error
            pipe.send(answer)
            task = pipe.recv()
