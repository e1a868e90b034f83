"""Tasks in several processes: each answer with its task, and what is said when a process dies."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
from multiprocessing import active_children
from types import SimpleNamespace

import pytest

from tcsmt.support.checkpoint import Record
from tcsmt.support.errors import Contradiction, TcsmtError
from tcsmt.support.jobs import processes
from tcsmt.support.jobs.processes import Failure, Task, answers_of


def added(x: int, y: int) -> Record:
    return {"sum": x + y}


TASK = Task("key", "graph", added, (2, 3), "sources", {"unit": "digest"})


def test_it_runs_where_it_is_sent() -> None:
    other = pickle.loads(pickle.dumps(TASK))
    assert other.run() == {"sum": 5} and other == TASK


def test_a_record_says_what_it_is_about() -> None:
    """What a function says of itself does not count."""
    assert TASK.stamped({"sum": 5}) == {
        "sum": 5, "models": {"unit": "digest"}, "asked": "graph", "code": "sources",
    }  # fmt: skip
    lies = TASK.stamped({"asked": "another graph", "code": "another code", "models": {}})
    assert lies == {"asked": "graph", "code": "sources", "models": {"unit": "digest"}}
    assert Task("k", "asked", added).stamped({}) == {"asked": "asked", "code": ""}


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"answer": 3, "verdict": "equal"}, "3"),
        ({"verdict": "equal"}, "equal"),
        ({"sum": 1}, "done"),
        ({}, "done"),
    ],
)
def test_finished_tasks_report_answer_verdict_or_done(record: Record, said: str) -> None:
    assert TASK.said(record) == said


def test_a_failure_is_no_record() -> None:
    assert Failure("died") == Failure("died") != Failure("")
    assert not isinstance(Failure("died"), dict)


def square(number: int) -> Record:
    return {"square": number * number, "process": os.getpid()}


def ended(code: int) -> Record:
    os._exit(code)


def killed() -> Record:
    os.kill(os.getpid(), signal.SIGKILL)
    return {}


def contradicts() -> Record:
    raise Contradiction("at most 1", "2")


def sleeps() -> Record:
    time.sleep(600)
    return {}


def squares(count: int) -> list[Task]:
    return [Task(str(n), "", square, (n,)) for n in range(count)]


def test_each_answer_comes_with_its_task() -> None:
    """From as many processes as were asked for, which go on to the next task."""
    found = list(answers_of(2, squares(9)))
    assert sorted(task.key for task, _ in found) == [str(n) for n in range(9)]
    answers = [(task, answer) for task, answer in found if not isinstance(answer, Failure)]
    assert [answer["square"] for _, answer in answers] == [int(task.key) ** 2 for task, _ in answers]
    assert 1 <= len({answer["process"] for _, answer in answers}) <= 2
    assert os.getpid() not in {answer["process"] for _, answer in answers}
    assert not active_children()


def test_a_process_that_dies_fails_one_task() -> None:
    tasks = [*squares(2), Task("killed", "", killed), Task("ended", "", ended, (7,)), *squares(4)[2:]]
    found = {task.key: answer for task, answer in answers_of(1, tasks)}
    assert len(found) == 6
    failed = {key: answer.reason for key, answer in found.items() if isinstance(answer, Failure)}
    assert failed == {"killed": "the process died (SIGKILL)", "ended": "the process died (exit code 7)"}


def test_an_error_of_a_task_ends_all() -> None:
    """With the others' processes: nothing goes on in the background."""
    with pytest.raises(TcsmtError, match="at most 1"):
        list(answers_of(2, [Task("sleeps", "", sleeps), Task("contradicts", "", contradicts), *squares(3)]))
    assert not active_children()


def test_who_takes_no_more_answers_ends_the_processes() -> None:
    answers = answers_of(2, [*squares(1), Task("sleeps", "", sleeps)])
    task, _ = next(answers)
    assert task.key == "0" and active_children()
    answers.close()
    assert not active_children()


@pytest.mark.parametrize(
    ("code", "file", "said"),
    [
        (1, "/x/mine.py", 'mine.py may lack `if __name__ == "__main__":`'),
        (1, None, ""),
        (2, "/x/mine.py", ""),
    ],
)
def test_a_missing_main_guard_is_named_as_the_likely_cause(
    code: int, file: str | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script without a guard ends its processes with 1, and nothing else does."""
    monkeypatch.setitem(sys.modules, "__main__", SimpleNamespace(**({"__file__": file} if file else {})))
    worker = SimpleNamespace(process=SimpleNamespace(exitcode=code))
    found = processes._cause(worker)  # type: ignore[arg-type]
    assert said in found and bool(found) == bool(said)
