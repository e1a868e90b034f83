"""Findings about algorithms: recorded, kept, and asked for again."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tcsmt.analysis.certified import THEOREMS
from tcsmt.analysis.sweeps.findings import TYPE1, asked, bounded, flawed, table_five, write
from tcsmt.prove.certificates.checker import check_certificate
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.refutations import available
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.jobs import processes
from tcsmt.support.jobs.processes import Task


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
        write(path, tasks, SolvingOptions(jobs=0, confirm=confirm))
    assert in_this_process == ["one"]
    assert json.loads(path.read_text()) == {"one": {"verdict": "worse", "asked": "graphs", "code": "code"}}
    # what was found is about graphs, whatever its key; other sources find the same witness
    write(path, [replace(tasks[0], code="other")], SolvingOptions(jobs=0))
    assert in_this_process == ["one"]
    write(path, [replace(tasks[0], asked="other graphs")], SolvingOptions(jobs=0))
    assert in_this_process == ["one", "one"]
    # and what is no longer on the list goes
    write(path, [replace(tasks[0], key="two", arguments=("two",))], SolvingOptions(jobs=0))
    assert json.loads(path.read_text()).keys() == {"two"}


def test_proofs_of_an_earlier_run_are_asked_for_again(tmp_path: Path, in_this_process: list[str]) -> None:
    path, calls = tmp_path / "found.json", in_this_process
    tasks = [Task("one", "graphs", never_worse, ("one",), "code")]
    for confirm, kept, expected in (
        (False, None, 1), (False, None, 1), (True, True, 2), (True, True, 2), (True, None, 3),
        (True, False, 4), (False, None, 4), (False, False, 5),
    ):  # fmt: skip
        before = len(calls)
        found, _ = write(path, tasks, SolvingOptions(jobs=0, confirm=confirm, reuse=kept))
        assert len(calls) == expected
        assert ("earlier" in found["one"]) == (len(calls) == before)
    proof = {**PROOF, "confirmed": "z3", "asked": "graphs", "code": "code"}
    assert json.loads(path.read_text()) == {"one": proof}
    # another engine's proof counts for nothing, whatever the user says of kept ones
    write(path, [replace(tasks[0], code="other")], SolvingOptions(jobs=0, confirm=True, reuse=True))
    assert len(calls) == 6


def test_only_some_entries_are_looked_at(tmp_path: Path, in_this_process: list[str]) -> None:
    path = tmp_path / "found.json"
    tasks = [Task(name, "graphs", worse, (name,), "code") for name in ("one", "two", "three")]
    write(path, [tasks[0], tasks[2]], SolvingOptions(jobs=0))
    changed = [replace(task, asked="other graphs") for task in tasks]
    found, _ = write(path, changed, SolvingOptions(jobs=0), only="tw")
    assert [*found] == ["two"] and in_this_process == ["one", "three", "two"]
    kept = json.loads(path.read_text())
    assert [*kept] == ["one", "two", "three"]
    assert [record["asked"] for record in kept.values()] == ["graphs", "other graphs", "graphs"]


@pytest.mark.long
def test_flaws_are_recorded() -> None:
    entry = flawed("monotone", "markidis", "hopper", 1, TYPE1, Solving(), 0.5)
    assert entry["answer"] == "not monotone"
    assert entry["short"]["moved"] in entry["short"]["inputs"]


#: Where everything is proved in no time.
SMALL = Domain(exponents=(0, 0), bits=(2, 2), c_zero=True, positive=True)


def all_three(solving: Solving) -> list[dict[str, Any]]:
    """A bound, a comparison and a flaw, each of them proved."""
    return [
        bounded("fp32-fma", "hopper", 2, SMALL, solving, 0.05),
        asked("single-bf16", "single-bf16", "hopper", 1, SMALL, solving, 0.1),
        flawed("sign", "single-bf16", "hopper", 1, SMALL, solving, 0.1),
    ]


@pytest.mark.slow
@pytest.mark.skipif(not available(), reason="python-sat is not installed")
def test_proofs_leave_certificates(tmp_path: Path) -> None:
    records = all_three(Solving(SolvingOptions(certificate=tmp_path)))
    files = [Path(record["certificate"]["file"]) for record in records]
    assert all(record["verdict"] == "equivalent" for record in records)
    checked = {one.path: one.flaw for one in check_certificate(tmp_path, THEOREMS)}
    assert checked == dict.fromkeys(files, "")
    assert len(checked) == 3


@pytest.mark.slow
def test_none_is_asked_for(tmp_path: Path) -> None:
    assert all("certificate" not in record for record in all_three(Solving()))


def certified(folder: Path, certified: bool) -> dict[str, Any]:
    """A proof, and what became of its certificate."""
    CALLS.append("asked")
    file = folder / "statements" / "one.json"
    file.parent.mkdir(exist_ok=True)
    file.touch()
    about = {"certified": True, "file": str(file)} if certified else {"certified": False, "reason": "no time"}
    return {**PROOF, "confirmed": "z3", "certificate": about}


@pytest.mark.parametrize("has_one", [True, False])
def test_a_proof_without_its_certificate_is_asked_for_again(
    has_one: bool, tmp_path: Path, in_this_process: list[str]
) -> None:
    tasks = [Task("one", "graphs", certified, (tmp_path, has_one), "code")]

    def run(folder: Path | None) -> int:
        write(tmp_path / "found.json", tasks, SolvingOptions(jobs=0, certificate=folder))
        return len(in_this_process)

    assert run(tmp_path) == 1
    assert run(None) == 1
    assert run(tmp_path) == (1 if has_one else 2)
    (tmp_path / "statements" / "one.json").unlink()
    assert run(None) == (1 if has_one else 2)
    assert run(tmp_path) == (2 if has_one else 3)
