"""What a worker is given: it runs where it is sent, and its record says what it is about."""

from __future__ import annotations

import pickle

import pytest

from tcsmt.support.checkpoint import Record
from tcsmt.support.jobs.work import Failure, Task


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
