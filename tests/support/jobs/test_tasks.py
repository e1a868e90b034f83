"""Long runs: what an earlier one kept, workers that die, Ctrl-C, a full disk; the same for every command."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tcsmt.analysis.sweeps import findings
from tcsmt.interface.api import bound_table as api_findings
from tcsmt.interface.cli import main
from tcsmt.support.checkpoint import Checkpoint, Layout, Record
from tcsmt.support.errors import Contradiction, TcsmtError
from tcsmt.support.jobs import processes
from tcsmt.support.jobs.processes import Task
from tcsmt.support.jobs.tasks import Computed, Workers, computed
from tests.support.paths import ROOT
from tests.support.sampling import one_in


def square(number: int) -> Record:
    return {"verdict": str(number * number), "process": os.getpid()}


def killed(number: int) -> Record:
    os.kill(os.getpid(), signal.SIGKILL)
    return {}


def contradicts(number: int) -> Record:
    raise Contradiction("at most 1", "2")


def sleeps(number: int) -> Record:
    time.sleep(600)
    return {}


def tasks(count: int, function: Callable[[int], Record] = square) -> list[Task]:
    return [Task(f"{n}", f"graph {n}", function, (n,), "code", {"unit": f"{n}"}) for n in range(count)]


def run(path: Path, given: list[Task], jobs: int = 2, **options: Any) -> Computed:
    with Checkpoint(path, Layout()) as kept:
        return computed(given, kept, Workers(jobs), lambda task, record: True, **options)


def test_records_say_what_they_are_about(tmp_path: Path) -> None:
    found = run(tmp_path / "a.json", tasks(5))
    assert [*found.records] == [f"{n}" for n in range(5)]
    assert [record["verdict"] for record in found.records.values()] == ["0", "1", "4", "9", "16"]
    for n, record in enumerate(found.records.values()):
        assert (record["asked"], record["code"], record["models"]) == (f"graph {n}", "code", {"unit": f"{n}"})
    # two processes, each with several of them, and none of them this one
    ids = {record["process"] for record in found.records.values()}
    assert os.getpid() not in ids and len(ids) <= 2
    assert not active_children()
    assert json.loads((tmp_path / "a.json").read_text()).keys() == found.records.keys()


def test_no_jobs_means_this_process(tmp_path: Path) -> None:
    found = run(tmp_path / "a.json", tasks(3), jobs=0)
    assert {record["process"] for record in found.records.values()} == {os.getpid()}


@pytest.mark.long
def test_a_script_that_lacks_its_guard_is_told_so(tmp_path: Path) -> None:
    """Every process imports the script, which starts processes again: Python refuses, and it ends."""
    call = "sweep('markidis', 'volta', distributions='positive', k=16, seeds=1, jobs=1).failed"
    script = tmp_path / "mine.py"
    script.write_text(f"from tcsmt.interface.api.sweep import sweep\nprint({call})\n")
    ended = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=600, check=False, cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert "mine.py may lack `if __name__ ==" in ended.stdout
    script.write_text(
        f"from tcsmt.interface.api.sweep import sweep\nif __name__ == '__main__':\n    print({call})\n"
    )
    ended = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=600, check=True, cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert ended.stdout == "{}\n"


def test_only_what_is_missing_is_computed(tmp_path: Path) -> None:
    path, seen = tmp_path / "a.json", list[tuple[int, int, str]]()
    first = run(path, tasks(3))
    given = [*tasks(4)[1:], Task("0", "another graph", square, (7,), "code")]
    again = run(path, given, progress=lambda *what: seen.append(what))
    assert again.earlier == {"1", "2"}
    assert again.records["1"] == first.records["1"]
    assert again.records["0"]["verdict"] == "49"
    assert [what[:2] for what in seen] == [(2, 4), (3, 4), (4, 4)]
    assert seen[0][2] == "kept from before" and {text for *_, text in seen[1:]} == {"3: 9", "0: 49"}


def test_a_killed_worker_fails_its_task_alone(tmp_path: Path) -> None:
    path, good = tmp_path / "a.json", tasks(4)
    given = [*good[:2], replace(good[2], function=killed), good[3]]
    for jobs in (1, 2):
        found = run(path, given, jobs)
        assert found.failed == {"2": "the process died (SIGKILL)"}
        assert [*found.records] == ["0", "1", "3"]
    assert run(path, good).records["2"]["verdict"] == "4"


def test_errors_of_a_task_arrive(tmp_path: Path) -> None:
    given = [*tasks(1), *tasks(2, contradicts)[1:]]
    with pytest.raises(Contradiction, match="proved: at most 1; found: 2"):
        run(tmp_path / "a.json", given, jobs=1)
    assert json.loads((tmp_path / "a.json").read_text()).keys() == {"0"}
    assert not active_children()


def test_an_interruption_leaves_nobody_working(tmp_path: Path) -> None:
    path = tmp_path / "a.json"

    def stop(done: int, count: int, what: str) -> None:
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(path, [*tasks(1), *tasks(3, sleeps)[1:]], progress=stop)
    assert not active_children()
    assert json.loads(path.read_text()).keys() == {"0"}


def test_a_full_disk_leaves_nobody_working(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    run(path, tasks(1))
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", full)
        with pytest.raises(TcsmtError, match="No space left on device; what was finished before is kept"):
            run(path, [*tasks(2), *tasks(4, sleeps)[2:]])
    assert not active_children()
    assert run(path, tasks(2)).earlier == {"0"}


def full(*arguments: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


# --- every command that goes on where it stopped ---------------------------------------------------


def two_findings(effort: findings.Effort) -> Iterator[Task]:
    yield from tasks(3)


#: A small run of each command, and the file that it goes on from.
COMMANDS = {
    "atlas": (
        "atlas", "--arch", "volta", "--types", "f32.f16.f16.f32", "--claims", "--no-confirm",
        "--store", "FOLDER/atlas.json",
    ),
    "findings": ("accuracy", "findings", "--output", "FOLDER/findings.json"),
    "reduced": (
        "accuracy", "reduced", "--widths", "2,3", "--unit", "volta", "--inputs", "14",
        "--question", "error-single", "--output", "FOLDER/reduced.json",
    ),
    "sweep": (
        "accuracy", "sweep", "--unit", "volta", "--algorithm", "markidis", "--distribution", "uniform",
        "--k", "16", "--k", "33", "--size", "2", "--seeds", "1", "--output", "FOLDER/sweep.json",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", one_in(2, COMMANDS))
@pytest.mark.slow_cases("atlas")
def test_commands_on_a_full_disk(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 2 and one line; the file is what it was, and the next run goes on from it."""
    monkeypatch.setattr(api_findings, "entries", two_findings)
    monkeypatch.setattr(processes, "answers_of", lambda jobs, given: ((one, one.run()) for one in given))
    arguments = [word.replace("FOLDER", str(tmp_path)) for word in COMMANDS[name]]
    path, real, writes = tmp_path / f"{name}.json", os.replace, list[Path]()

    def once(source: Any, target: Any) -> None:
        """The cache, where kernels and lemmas are kept between runs, is on another disk."""
        if Path(target) == path:
            writes.append(path)
            if len(writes) > 1:
                full()
        real(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", once)
        stopped = CliRunner().invoke(main, arguments)
    assert stopped.exit_code == 2, stopped.output
    said = f"Error: cannot write {path}: No space left on device; what was finished before is kept"
    assert stopped.stderr.splitlines()[-1] == said
    kept = path.read_text()
    ended = CliRunner().invoke(main, arguments)
    assert ended.exit_code in (0, 3), ended.output
    assert "1/" in ended.stderr.splitlines()[0] and "kept from before" in ended.stderr
    assert len(path.read_text()) > len(kept)
