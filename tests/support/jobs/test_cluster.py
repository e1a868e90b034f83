"""``tcsmt atlas --scheduler``: a local Dask cluster of two workers, and what can go wrong with one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.statements.domain import Domain
from tcsmt.support import extras
from tcsmt.support.errors import TcsmtError
from tcsmt.support.jobs import cluster
from tcsmt.surveys.units.atlas import run
from tcsmt.surveys.units.model_pairs import verdicts_in
from tests.support.command_line import refused
from tests.support.processes import until
from tests.support.small_atlas import ASKING, CHOSEN, small

#: What ``dask scheduler`` and ``dask worker`` run.
SCHEDULER = (
    "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
    "--scheduler-file",
)  # fmt: skip
WORKER = ("distributed.cli.dask_worker", "--nthreads", "1", "--no-dashboard", "--scheduler-file")
QUIET: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


@pytest.fixture(autouse=True, scope="module")
def dask() -> None:
    """Not imported while tests are collected: that takes a second of every process."""
    pytest.importorskip("distributed", reason="Dask (the extra dask) is not installed")


def started(workers: int) -> Any:
    import distributed

    return distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs=50
    )


@pytest.fixture(scope="module")
def workers() -> Iterator[Any]:
    with started(2) as two:
        yield two


def on(given: Any) -> SolvingOptions:
    return replace(ASKING, jobs=1, scheduler=given.scheduler_address)


def test_clusters_give_the_same_verdicts(workers: Any, tmp_path: Path) -> None:
    with verdicts_in(tmp_path / "here.json") as store:
        here = run(small(), Domain(), store, ASKING)
    with verdicts_in(tmp_path / "there.json") as store:
        there = run(small(), Domain(), store, on(workers))
        assert store.records.keys() == there.records.keys()
    assert {k: r["verdict"] for k, r in here.records.items()} == {
        k: r["verdict"] for k, r in there.records.items()
    }
    # nothing is left to ask: no scheduler is needed
    with verdicts_in(tmp_path / "there.json") as store:
        nobody = replace(ASKING, jobs=1, scheduler="tcp://127.0.0.1:1")
        again = run(small(), Domain(), store, nobody)
    assert again.records.keys() == there.records.keys()
    assert all(again.records[key]["verdict"] == record["verdict"] for key, record in there.records.items())


@pytest.mark.long
def test_a_killed_worker_is_replaced(workers: Any, tmp_path: Path) -> None:
    from distributed import Client

    with Client(workers) as client:
        pid = next(iter(client.run(os.getpid).values()))
    killed = False

    def kill(done: int, count: int, what: str) -> None:
        nonlocal killed
        if not killed:
            os.kill(pid, signal.SIGKILL)
            killed = True

    with verdicts_in(tmp_path / "a.json") as store:
        made = run(small(), Domain(), store, on(workers), kill)
    assert killed
    assert "unknown" not in {r["verdict"] for r in made.records.values()}


@pytest.mark.long
def test_a_pair_that_kills_every_worker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cluster, "run_on_worker", dies)
    with started(1) as one, verdicts_in(tmp_path / "a.json") as store:
        made = run(small()[:1], Domain(), store, on(one))
    assert {r["reason"] for r in made.records.values()} == {"every worker that had it died"}


def dies(*arguments: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.long
def test_the_scheduler_is_killed(tmp_path: Path) -> None:
    """As on a cluster: a scheduler and a worker that nobody here has started from Python."""
    python = [sys.executable, "-m"]
    where = tmp_path / "scheduler.json"
    with (
        subprocess.Popen([*python, *SCHEDULER, where], **QUIET) as scheduler,
        subprocess.Popen([*python, *WORKER, where], **QUIET) as worker,
    ):
        try:
            until(where.exists)
            address = json.loads(where.read_text())["address"]

            def end(done: int, count: int, what: str) -> None:
                if done == 1:
                    scheduler.kill()

            with verdicts_in(tmp_path / "a.json") as store:
                with pytest.raises(TcsmtError, match="went away; what was finished is kept"):
                    run(small(), Domain(), store, replace(ASKING, jobs=1, scheduler=address), end)
                assert len(store.records) == 1
        finally:
            scheduler.kill()
            worker.terminate()


def test_another_version(workers: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cluster, "digest_of_sources", lambda *rooms: "another")
    with (
        verdicts_in(tmp_path / "a.json") as store,
        pytest.raises(TcsmtError, match=r"this is \S+ \(sources another\)"),
    ):
        run(small(), Domain(), store, on(workers))


def test_no_workers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cluster, "_PATIENCE", 1)
    refusing = pytest.raises(TcsmtError, match="has no workers")
    with started(0) as none, verdicts_in(tmp_path / "a.json") as store, refusing:
        run(small(), Domain(), store, on(none))


def test_no_scheduler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cluster, "_PATIENCE", 1)
    for address in ("tcp://127.0.0.1:1", "nonsense://x", "tcp://"):
        text = refused("atlas", *CHOSEN, "--store", tmp_path / "a", "--scheduler", address)
        assert f"--scheduler {address}: no Dask scheduler answered" in text


def test_no_dask(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    text = refused("atlas", *CHOSEN, "--store", tmp_path / "a", "--scheduler", "tcp://127.0.0.1:1")
    assert f"--scheduler needs Dask: {extras.install('dask')}" in text
