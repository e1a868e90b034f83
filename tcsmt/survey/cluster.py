"""Pairs asked on a cluster: the workers of a Dask scheduler (the extra ``dask``)."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from tcsmt import __version__
from tcsmt.prove.engine import ENGINE
from tcsmt.prove.solvers.run import Settings
from tcsmt.support.errors import TcsmtError
from tcsmt.survey.pairs import Pair, verdict_on, without_verdict

__all__ = ["answers_of"]

#: Seconds for the scheduler to answer, and for a worker to be there.
_PATIENCE = 10
#: Terms are shared by all threads of a process: one pair at a time. Give a worker one thread.
_ONE_AT_A_TIME = threading.Lock()


def answers_of(
    address: str, pairs: Sequence[Pair], settings: Settings, confirm: bool
) -> Iterator[tuple[Pair, dict[str, Any]]]:
    """Each pair with its record, as they come; what is not answered is cancelled on the way out.

    A pair whose worker dies is asked on another one, up to three times. Raises
    :class:`.TcsmtError` where there is no scheduler or no worker, where a worker has
    another version of tcsmt, and where the scheduler goes away.
    """
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise TcsmtError("--scheduler needs Dask: pip install 'tcsmt[dask]'") from None
    for name in ("distributed", "distributed.client"):  # its tracebacks say what our errors say
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, ImportError) as error:
        raise TcsmtError(f"--scheduler {address}: no Dask scheduler answers: {error}") from None
    futures: dict[Any, Pair] = {}
    try:
        _check(client, address)
        futures = {client.submit(verdict_on_worker, p, settings, confirm, pure=False): p for p in pairs}
        for future in as_completed(futures, loop=client.loop):
            yield futures[future], _record(future, futures[future], address)
    finally:
        client.cancel(list(futures), force=True)
        client.close(timeout=_PATIENCE)


def verdict_on_worker(pair: Pair, settings: Settings, confirm: bool) -> dict[str, Any]:
    """What a worker does."""
    with _ONE_AT_A_TIME:
        return verdict_on(pair, settings, confirm)


def version_of_worker() -> tuple[str, int]:
    """The worker's versions of tcsmt and of its engine."""
    return __version__, ENGINE


def _check(client: Any, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError:
        raise TcsmtError(f"--scheduler {address}: it has no workers") from None
    for worker, found in client.run(version_of_worker, on_error="return").items():
        if isinstance(found, OSError):  # it went away; its pairs go to the others, or to the one after it
            continue
        if isinstance(found, Exception):
            raise TcsmtError(f"--scheduler {address}: worker {worker} cannot use tcsmt: {found}")
        if tuple(found) != (__version__, ENGINE):
            raise TcsmtError(
                f"--scheduler {address}: worker {worker} has tcsmt {found[0]} (engine {found[1]}), "
                f"this is {__version__} (engine {ENGINE})"
            )


def _record(future: Any, pair: Pair, address: str) -> dict[str, Any]:
    from distributed import KilledWorker

    if future.status == "cancelled":
        raise TcsmtError(f"--scheduler {address} went away; what was finished is kept")
    try:
        record: dict[str, Any] = future.result()
    except KilledWorker:
        return without_verdict(pair, "every worker that had it died")
    return record
