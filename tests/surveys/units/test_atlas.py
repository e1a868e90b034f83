"""An atlas: kept verdicts, resuming, killed workers, classes of what is proved equal."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tcsmt.interface.pictures.heat_map import as_page, as_table
from tcsmt.matrix_units.catalogue import rows
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.jobs import processes
from tcsmt.surveys.units.atlas import Atlas, groups, run
from tcsmt.surveys.units.model_pairs import verdicts_in
from tests.support.small_atlas import ASKING, small


def test_groups_take_and_give_the_same_words() -> None:
    table = groups(rows())
    assert sum(len(unit.rows) for group in table for unit in group.units) == len(rows())
    for group in table:
        formats = {tuple(f.name for f in unit.model.input_formats.values()) for unit in group.units}
        assert len(formats) == 1
        assert {unit.model.k for unit in group.units} == {group.k}
        assert len({unit.model for unit in group.units}) == len(group.units)


@pytest.mark.slow
def test_resumes_after_an_interruption(tmp_path: Path) -> None:
    """What was finished is kept; only what is missing is asked."""
    file = tmp_path / "a.json"

    class Enough(Exception):
        pass

    def stop(done: int, count: int, what: str) -> None:
        if done == 1:
            raise Enough

    with verdicts_in(file) as store, pytest.raises(Enough):
        run(small(), Domain(), store, ASKING, stop)
    with verdicts_in(file) as store:
        assert len(store.records) == 1
        seen: list[tuple[int, int]] = []
        made = run(small(), Domain(), store, ASKING, lambda done, count, what: seen.append((done, count)))
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert sorted(r["verdict"] for r in made.records.values()) == [
        "distinguished",
        "distinguished",
        "equivalent",
    ]
    with verdicts_in(file) as store:
        again = run(small(), Domain(), store, ASKING, lambda *what: seen.append(what[:2]))
    assert seen[-1] == (3, 3) and len(seen) == 4
    assert unmarked(again) == unmarked(made)
    assert "kept from an earlier run" in as_table(again)
    assert "kept from an earlier run" not in as_table(made)
    # with a confirmation they are asked again, the proof alone
    confirming = replace(ASKING, confirm=True)
    with verdicts_in(file) as store:
        sure = run(small(), Domain(), store, confirming, lambda *what: seen.append(what[:2]))
    assert seen[-2:] == [(2, 3), (3, 3)]
    assert [r["sure"] for r in sure.records.values() if r["verdict"] == "equivalent"] == [True]


@pytest.mark.slow
def test_a_kept_witness_is_explained_by_todays_code(tmp_path: Path) -> None:
    """The store of an earlier version has other keys, and may name a stage whose values do not differ."""
    file = tmp_path / "a.json"
    with verdicts_in(file) as store:
        made = run(small(), Domain(), store, ASKING)
    kept = json.loads(file.read_text())
    for record in kept["verdicts"].values():
        if record["verdict"] == "distinguished":
            record["code"] = "0" * 32
            record["parts_at"] = record.pop("first_difference")
            del record["cause"]
    file.write_text(json.dumps(kept))
    with verdicts_in(file) as store:
        again = run(small(), Domain(), store, ASKING)
    for key, record in again.records.items():
        if record["verdict"] == "distinguished":
            assert record == made.records[key] | {"code": "0" * 32}
    assert as_page(again) != ""


def unmarked(made: Atlas) -> dict[str, Any]:
    return {
        key: {name: value for name, value in record.items() if name != "earlier"}
        for key, record in made.records.items()
    }


@pytest.mark.slow
def test_proofs_make_classes(tmp_path: Path) -> None:
    with verdicts_in(tmp_path / "a.json") as store:
        made = run(small(), Domain(), store, ASKING)
    group = made.groups[0]
    assert len(made.classes(group)) == 2
    unknown = {key: {**record, "verdict": "unknown"} for key, record in made.records.items()}
    assert len(Atlas(made.groups, made.domain, unknown).classes(group)) == 3


@pytest.mark.slow
def test_a_killed_worker_is_an_unknown_pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_work", die)
    with verdicts_in(tmp_path / "a.json") as store:
        made = run(small(), Domain(), store, ASKING)
        assert {r["verdict"] for r in made.records.values()} == {"unknown"}
        assert "SIGKILL" in next(iter(made.records.values()))["reason"]
        assert not store.records
        monkeypatch.undo()
        again = run(small(), Domain(), store, ASKING)  # they are asked again
    assert "unknown" not in {r["verdict"] for r in again.records.values()}


def die(*arguments: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)
