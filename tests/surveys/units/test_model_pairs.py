"""Pairs of models: what is recorded of each, and which records count."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.catalogue import Row, row_named
from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.jobs import processes
from tcsmt.support.jobs.processes import Failure
from tcsmt.surveys.units import model_pairs
from tcsmt.surveys.units.model_pairs import DistinctUnit, Pair, verdict_on, verdicts_in
from tests.support.questions import unit
from tests.support.small_atlas import ALIKE, VOLTA


def test_keys_go_by_content() -> None:
    row = row_named(VOLTA)
    one, two = DistinctUnit(row.model, (row,)), DistinctUnit(row.model.replace(carry_bits=3), (row,))
    other = DistinctUnit(row.model.replace(carry_bits=4), (row,))
    renamed = DistinctUnit(row.model, (replace(row, instruction="other"),))
    keys = [Pair(one, two, Domain()).key, Pair(one, other, Domain()).key]
    keys.append(Pair(one, two, Domain(finite=False)).key)
    assert len(set(keys)) == 3
    assert Pair(renamed, two, Domain()).key == keys[0]


@pytest.mark.long
def test_witnesses_are_small() -> None:
    """The pool finds one of eight products here; a solver one of two."""
    left, right = (
        DistinctUnit(r.model, (r,))
        for r in map(row_named, (f"{a}/mma.m16n8k8.f16.f16.f16.f16" for a in ALIKE))
    )
    record = verdict_on(Pair(left, right, Domain(finite=False)), SolvingOptions())
    used = [name for name, value in record["inputs"].items() if int(value["word"], 16)]
    assert len(used) <= 5
    words = {name: int(value["word"], 16) for name, value in record["inputs"].items()}
    one, two = evaluate([unit.model.trace.output for unit in (left, right)], words)
    assert one != two


ASKING = SolvingOptions(confirm=False)


def pair(domain: Domain = Domain(), **changes: object) -> Pair:  # noqa: B008
    """One product of Volta's sum, and a variant."""
    model = unit().replace(k=1, n_fma=1)
    sides = []
    for name, one in (("one", model), ("two", model.replace(**changes))):
        row = Row(
            architecture="some", instruction=name, model=one, source="made", date=2026, evidence="conjectured"
        )
        sides.append(DistinctUnit(one, (row,)))
    left, right = sides
    return Pair(left, right, domain)


EQUAL, DIFFERENT = pair(zero_exponent=-126), pair(Domain(positive=True), fraction_bits=20)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The keys of the pairs that are asked, in this process."""
    keys: list[str] = []

    def here(jobs: int, tasks: Any) -> Any:
        for task in tasks:
            keys.append(task.key)
            yield task, task.run()

    monkeypatch.setattr(processes, "answers_of", here)
    return keys


def run(path: Path, *pairs: Pair, asking: SolvingOptions = ASKING) -> dict[str, dict[str, Any]]:
    with verdicts_in(path) as store:
        return model_pairs.decide_cached(pairs, store, asking)


#: What the first run stores: every test begins with it.
_STORED: list[bytes] = []


@pytest.fixture
def path(tmp_path: Path, asked: list[str]) -> Path:
    """A store with a proof and a witness."""
    store = tmp_path / "v.json"
    if _STORED:
        store.write_bytes(_STORED[0])
        return store
    found = run(store, EQUAL, DIFFERENT, EQUAL)
    assert [found[one.key]["verdict"] for one in (EQUAL, DIFFERENT)] == ["equivalent", "distinguished"]
    assert sorted(asked) == sorted([EQUAL.key, DIFFERENT.key])  # each once
    assert not any(record.get("earlier") for record in found.values())
    asked.clear()
    _STORED.append(store.read_bytes())
    return store


def edited(path: Path, key: str, **changes: object) -> None:
    data = json.loads(path.read_text())
    data["verdicts"][key].update(changes)
    path.write_text(json.dumps(data))


def test_kept_verdicts_are_not_asked_again(path: Path, asked: list[str]) -> None:
    """A proof is marked as an earlier run's; a witness was replayed, so that it is today's."""
    found = run(path, EQUAL, DIFFERENT)
    assert asked == []
    assert found[EQUAL.key]["earlier"] is True
    assert "earlier" not in found[DIFFERENT.key]


@pytest.mark.parametrize(
    "change",
    [
        {"code": "another"}, {"asked": "another"}, {"verdict": "unknown"}, {"verdict": None}, {"sure": None},
    ],
)  # fmt: skip
def test_a_proof_that_does_not_count(change: dict[str, object], path: Path, asked: list[str]) -> None:
    """By other code, of something else, or no proof at all."""
    edited(path, EQUAL.key, **change)
    found = run(path, EQUAL, DIFFERENT, asking=replace(ASKING, confirm=change == {"sure": None}))
    assert EQUAL.key in asked
    assert found[EQUAL.key]["verdict"] == "equivalent" and "earlier" not in found[EQUAL.key]


@pytest.mark.slow
def test_a_proof_of_one_solver_is_confirmed_where_that_is_asked(path: Path, asked: list[str]) -> None:
    run(path, EQUAL, asking=replace(ASKING, confirm=True, reuse=True))
    assert asked == [EQUAL.key]
    asked.clear()
    run(path, EQUAL, asking=replace(ASKING, confirm=True, reuse=True))
    assert asked == []
    run(path, EQUAL, asking=replace(ASKING, reuse=False))
    assert asked == [EQUAL.key]


@pytest.mark.slow
def test_proofs_without_their_certificate_are_asked_again(
    path: Path, asked: list[str], tmp_path: Path
) -> None:
    pytest.importorskip("pysolvers", reason="the extra `certificates` is not installed")
    asking = replace(ASKING, certificate=tmp_path / "c")
    (record,) = run(path, EQUAL, asking=asking).values()
    assert asked == [EQUAL.key] and record["certificate"]["certified"]
    run(path, EQUAL, asking=asking)
    assert asked == [EQUAL.key]
    next((tmp_path / "c" / "statements").iterdir()).unlink()
    run(path, EQUAL, asking=asking)
    assert asked == [EQUAL.key] * 2


def test_a_witness_counts_only_where_it_replays(path: Path, asked: list[str]) -> None:
    """Also one that older code found: it is explained again by today's."""
    edited(path, DIFFERENT.key, code="another")
    (record,) = run(path, DIFFERENT).values()
    assert asked == [] and record["verdict"] == "distinguished"
    data = json.loads(path.read_text())["verdicts"][DIFFERENT.key]
    damage: tuple[dict[str, Any], ...] = (
        {"inputs": {name: {"word": "0x0"} for name in data["inputs"]}},
        {"results": [{"word": "0x0"}, {"word": "0x1"}]},
        {"inputs": data["inputs"] | {"c": {"word": "0x7f800000"}}},
        {"inputs": None},
        {"results": []},
    )
    for wrong in damage:
        edited(path, DIFFERENT.key, **data | wrong)
        (record,) = run(path, DIFFERENT).values()
        assert asked == [DIFFERENT.key], wrong
        asked.clear()
        assert record["verdict"] == "distinguished"


def test_a_witness_outside_of_the_domain_is_none(path: Path, asked: list[str]) -> None:
    """The negated input tells the units apart as well, and is not positive."""
    data = json.loads(path.read_text())["verdicts"][DIFFERENT.key]

    def negated(word: str, bits: int) -> dict[str, str]:
        return {"word": f"{int(word, 16) ^ 1 << (bits - 1):#x}"}

    inputs = {name: given if name == "b0" else negated(given["word"], 16 if name == "a0" else 32)
              for name, given in data["inputs"].items()}  # fmt: skip
    results = [negated(result["word"], 32) for result in data["results"]]
    edited(path, DIFFERENT.key, inputs=inputs, results=results)
    run(path, DIFFERENT)
    assert asked == [DIFFERENT.key]


def test_pairs_whose_process_died_are_asked_again(
    path: Path, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process that asked it died: that is said, and it is asked again."""
    edited(path, EQUAL.key, verdict="unknown")
    died = Failure("the process died (SIGKILL)")
    with monkeypatch.context() as patched:
        patched.setattr(processes, "answers_of", lambda jobs, tasks: ((task, died) for task in tasks))
        (record,) = run(path, EQUAL).values()
    assert record["verdict"] == "unknown" and "the process died (SIGKILL)" in json.dumps(record)
    run(path, EQUAL)
    assert asked == [EQUAL.key]


def test_units_of_the_tests_are_what_they_seem() -> None:
    assert isinstance(row_named("volta").model, FusedDotAdd)
    assert EQUAL.key != DIFFERENT.key
