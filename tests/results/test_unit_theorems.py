"""The list of theorems: its quick part, going on where it stopped, and all of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import unit_theorems

from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.prove.engine.options import SOLVERS, SolvingOptions
from tcsmt.prove.engine.proof_steps import Lemmas
from tcsmt.prove.engine.solving import Solving
from tcsmt.support.jobs import processes
from tests.support.lying import Liars
from tests.support.sampling import mostly_long

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"


@pytest.fixture(autouse=True)
def nothing_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No lemma of an earlier run."""
    monkeypatch.setenv("TCSMT_CACHE", str(tmp_path / "cache"))


def fused(name: str, **changes: Any) -> FusedDotAdd:
    model = row_named(name).model
    assert isinstance(model, FusedDotAdd)
    return model.replace(**changes)


FAST = ("same units", "mma and wgmma", "order")
#: What takes minutes. (Named here, as making the list takes seconds, and every run collects the tests.)
SLOW = (
    "half of the lanes zero", "truncation and rounding toward zero", "papers", "zero exponents", "neighbours",
    "FP8 on the FP16 unit", "carry bits",
)  # fmt: skip


def check(entry: unit_theorems.Entry, solving: Solving, known: Lemmas) -> None:
    record = unit_theorems.answered(entry, solving, known)
    assert record["verdict"] == record["expected"], record


@pytest.mark.slow
@pytest.mark.parametrize("part", mostly_long(FAST, FAST[-1:]))
def test_fast_part_of_the_list(part: str) -> None:
    solving = Solving()
    known = Lemmas(solving)
    found = [entry for entry in unit_theorems.entries() if entry.part == part]
    assert found
    for entry in found:
        check(entry, solving, known)


def small_list() -> Iterator[unit_theorems.Entry]:
    """Two of the list: proved equal by solvers, and told apart."""
    unit = fused(VOLTA, k=1, n_fma=1)
    other = unit.replace(zero_exponent=-126)
    yield unit_theorems._pair("equal", "one against other", unit, other, True)
    yield unit_theorems._pair("apart", "one against truncated", unit, unit.replace(fraction_bits=22), False)
    yield next(
        e for e in unit_theorems._order() if e.title == "N = 4: the maximum of 9-bit words is associative"
    )


@pytest.mark.long
def test_the_list_goes_on_and_proves_again(
    liars: Liars, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "list.json"
    monkeypatch.setattr(unit_theorems, "entries", small_list)
    monkeypatch.setattr(processes, "answers_of", lambda jobs, tasks: ((task, task.run()) for task in tasks))
    assert unit_theorems.main([str(path)]) == 0
    before = path.read_text()
    assert {r["verdict"] for r in json.loads(before)} == {"equivalent", "distinguished"}
    assert all(r["confirmed"] for r in json.loads(before) if r["verdict"] == "equivalent")
    liars.install(**dict.fromkeys(SOLVERS, "nothing"))
    assert unit_theorems.main(["--kept", str(path)]) == 0
    assert path.read_text() == before
    assert unit_theorems.main([str(path), "apart"]) == 0
    assert unit_theorems.main([str(path)]) == 3
    found = {r["question"]: r["verdict"] for r in json.loads(path.read_text())}
    assert [*found.values()] == ["unknown", "distinguished", "unknown"]
    liars.install(**dict.fromkeys(SOLVERS, "unsat"))
    assert unit_theorems.main(["--kept", str(path)]) == 0  # what stayed unknown is asked again
    monkeypatch.setattr(unit_theorems, "_EXPECTED", {True: "distinguished", False: "equivalent"})
    path.unlink()
    assert unit_theorems.main([str(path)]) == 1


@pytest.mark.slow
def test_missing_asks_what_has_no_verdict(
    liars: Liars, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A verdict of other code stays; one about something else, and an unknown one, are asked again."""
    path = tmp_path / "list.json"
    monkeypatch.setattr(unit_theorems, "entries", small_list)
    asked: list[str] = []

    def answers(jobs: int, tasks: list[Any]) -> Iterator[Any]:
        asked.extend(task.key for task in tasks)
        yield from ((task, task.run()) for task in tasks)

    monkeypatch.setattr(processes, "answers_of", answers)
    assert unit_theorems.main([str(path)]) == 0
    whole = json.loads(path.read_text())
    assert len(asked) == len(whole) == 3
    asked.clear()
    old, other, unknown = ({**record} for record in whole)
    old["code"], other["asked"], unknown["verdict"] = "older", "something else", "unknown"
    path.write_text(json.dumps([old, other, unknown]))
    assert unit_theorems.main(["--missing", str(path)]) == 0
    assert asked == [other["question"], unknown["question"]]
    assert json.loads(path.read_text())[0]["code"] == "older"


@pytest.mark.long
def test_every_part_is_asked() -> None:
    assert {entry.part for entry in unit_theorems.entries()} == {*FAST, *SLOW}


@pytest.mark.long
@pytest.mark.parametrize("part", SLOW)
def test_list(part: str) -> None:
    solving = Solving(SolvingOptions(confirm=True))
    known = Lemmas(solving)
    for entry in unit_theorems.entries():
        if entry.part == part:
            check(entry, solving, known)
