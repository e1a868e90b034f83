"""Findings about algorithms: recorded, kept, and asked for again."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tcsmt.algorithms.findings import TYPE1, flawed, table_five, write
from tcsmt.prove.solving import Solving
from tcsmt.statements.trust import Trust
from tcsmt.survey import processes
from tcsmt.survey.tasks import Workers
from tcsmt.survey.work import Task


@pytest.mark.long
def test_table_five_holds_with_one_exponent_corrected() -> None:
    rows = {(r["inputs"], r["unit"]): r for r in table_five()["rows"]}
    volta = "volta/mma.m8n8k4.f32.f16.f16.f32@valpey"
    for unit in (volta, "volta"):
        assert rows["as printed", unit]["ootomo_is_worse"] is False
        for label in ("b1·2^7", "a1·2^6"):
            assert rows[label, unit]["ootomo_is_worse"] is True
            assert rows[label, unit]["ootomo-halfhalf"] == "1"
            assert rows[label, unit]["markidis"] == "1.00000011920928955078125"


CALLS: list[str] = []


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What tasks have written into ``CALLS``, as they run here."""
    monkeypatch.setattr(processes, "answers_of", lambda jobs, tasks: ((task, task.run()) for task in tasks))
    CALLS.clear()
    return CALLS


def worse(name: str) -> dict[str, Any]:
    CALLS.append(name)
    return {"verdict": "worse"}


def never_worse(name: str) -> dict[str, Any]:
    """Confirmed by another solver from the second time on."""
    CALLS.append(name)
    return {**PROOF, "confirmed": "z3" * (len(CALLS) > 1)}


PROOF = {
    "verdict": "equivalent", "answer": "never worse", "solver": "bitwuzla", "version": "9", "scripts": ["00"]
}  # fmt: skip


def test_findings_go_on_where_they_stopped(tmp_path: Path, in_this_process: list[str]) -> None:
    path = tmp_path / "found.json"
    tasks = [Task("one", "graphs", worse, ("one",), "code")]
    for confirm in (False, False, True):
        write(path, tasks, Workers(), Trust(confirm))
    assert in_this_process == ["one"]
    assert json.loads(path.read_text()) == {"one": {"verdict": "worse", "asked": "graphs", "code": "code"}}
    # what was found is about graphs, whatever its key; other sources find the same witness
    write(path, [replace(tasks[0], code="other")], Workers(), Trust())
    assert in_this_process == ["one"]
    write(path, [replace(tasks[0], asked="other graphs")], Workers(), Trust())
    assert in_this_process == ["one", "one"]
    # and what is no longer on the list goes
    write(path, [replace(tasks[0], key="two", arguments=("two",))], Workers(), Trust())
    assert json.loads(path.read_text()).keys() == {"two"}


def test_proofs_of_an_earlier_run_are_asked_for_again(tmp_path: Path, in_this_process: list[str]) -> None:
    path, calls = tmp_path / "found.json", in_this_process
    tasks = [Task("one", "graphs", never_worse, ("one",), "code")]
    for confirm, kept, expected in (
        (False, None, 1), (False, None, 1), (True, True, 2), (True, True, 2), (True, None, 3),
        (True, False, 4), (False, None, 4), (False, False, 5),
    ):  # fmt: skip
        before = len(calls)
        found, _ = write(path, tasks, Workers(), Trust(confirm, kept))
        assert len(calls) == expected
        assert ("earlier" in found["one"]) == (len(calls) == before)
    proof = {**PROOF, "confirmed": "z3", "asked": "graphs", "code": "code"}
    assert json.loads(path.read_text()) == {"one": proof}
    # another engine's proof counts for nothing, whatever the user says of kept ones
    write(path, [replace(tasks[0], code="other")], Workers(), Trust(True, True))
    assert len(calls) == 6


@pytest.mark.long
def test_flaws_are_recorded() -> None:
    entry = flawed("monotone", "markidis", "hopper", 1, TYPE1, Solving(), 0.5)
    assert entry["answer"] == "not monotone"
    assert entry["short"]["moved"] in entry["short"]["inputs"]
