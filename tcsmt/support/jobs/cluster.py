"""Tasks on a cluster: the workers of a Dask scheduler (the extra ``dask``)."""

from __future__ import annotations

import logging
import threading
from collections.abc import Generator, Sequence
from typing import Any

from tcsmt.support import extras
from tcsmt.support.checkpoint import Record
from tcsmt.support.errors import TcsmtError
from tcsmt.support.fingerprints import digest_of_sources
from tcsmt.support.jobs.processes import Failure, Task
from tcsmt.support.version import __version__

#: Seconds for the scheduler to answer, and for a worker to be there.
_PATIENCE = 10
#: Terms are shared by all threads of a process: one task at a time. Give a worker one thread.
_ONE_AT_A_TIME = threading.Lock()


def answers_of(address: str, tasks: Sequence[Task]) -> Generator[tuple[Task, Record | Failure], None, None]:
    """Yield each task with its record, as they come; what is not answered is cancelled on the way out.

    A task whose worker dies is computed on another one, up to three times. Raises :class:`.TcsmtError` where
    there is no scheduler or no worker, where a worker has another version of tcsmt, where the scheduler goes
    away, and what a task raises.
    """
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise TcsmtError(f"--scheduler needs Dask: {extras.install('dask')}") from None
    for name in ("distributed", "distributed.client"):  # its tracebacks say what our errors say
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, ImportError) as error:
        raise TcsmtError(f"--scheduler {address}: no Dask scheduler answered: {error}") from None
    futures: dict[Any, Task] = {}
    try:
        _check(client, address)
        futures = {client.submit(run_on_worker, task, pure=False): task for task in tasks}
        for future in as_completed(futures, loop=client.loop):
            yield futures[future], _answer(future, address)
    finally:
        client.cancel(list(futures), force=True)
        client.close(timeout=_PATIENCE)


def run_on_worker(task: Task) -> Record:
    """Return what a worker does."""
    with _ONE_AT_A_TIME:
        return task.run()


def version_of_worker() -> tuple[str, str]:
    """Return the worker's version of tcsmt, and the digest of the sources with which it computes."""
    return __version__, digest_of_sources(*_SOURCES)


#: Wings with all that a worker's tasks rest on.
_SOURCES = (
    "language", "matrix_units", "simulate", "prove", "programs", "identification", "analysis", "surveys",
)  # fmt: skip


def _check(client: Any, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError:
        raise TcsmtError(
            f"--scheduler {address} has no workers; start some with `dask worker {address}`"
        ) from None
    ours = version_of_worker()
    for worker, version in client.run(version_of_worker, on_error="return").items():
        if isinstance(version, OSError):  # it went away; its tasks go to the others, or to the one after it
            continue
        if isinstance(version, Exception):
            raise TcsmtError(f"--scheduler {address}: worker {worker} cannot use tcsmt: {version}")
        if tuple(version) != ours:
            raise TcsmtError(
                f"--scheduler {address}: worker {worker} has tcsmt {version[0]} (sources {version[1]}), "
                f"this is {ours[0]} (sources {ours[1]})"
            )


def _answer(future: Any, address: str) -> Record | Failure:
    from distributed import KilledWorker

    if future.status == "cancelled":
        raise TcsmtError(f"--scheduler {address} went away; what was finished is kept")
    try:
        record: Record = future.result()
    except KilledWorker:
        return Failure("every worker that had it died")
    return record
