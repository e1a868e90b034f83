"""``tcsmt atlas``: kept verdicts, resuming, two runs on one file, killed workers, what is written."""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tcsmt.catalogue import row_named, rows
from tcsmt.interpret.exact import evaluate
from tcsmt.prove.solvers.run import Settings
from tcsmt.statements.domain import Domain
from tcsmt.survey import processes
from tcsmt.survey.atlas import Atlas, groups, run
from tcsmt.survey.heat_map import as_page, as_table
from tcsmt.survey.pairs import Pair, Unit, verdict_on
from tcsmt.survey.settle import verdicts_in
from tests.support.command_line import done, refused
from tests.support.paths import ROOT
from tests.support.small_atlas import ALIKE, ASKING, CHOSEN, VOLTA, small


def test_groups_take_and_give_the_same_words() -> None:
    table = groups(rows())
    assert sum(len(unit.rows) for group in table for unit in group.units) == len(rows())
    for group in table:
        formats = {tuple(f.name for f in unit.model.input_formats.values()) for unit in group.units}
        assert len(formats) == 1
        assert {unit.model.k for unit in group.units} == {group.k}
        assert len({unit.model for unit in group.units}) == len(group.units)


def test_keys_go_by_content() -> None:
    row = row_named(VOLTA)
    one, two = Unit(row.model, (row,)), Unit(replace(row.model, carry_bits=3), (row,))  # type: ignore[call-arg]
    other = Unit(replace(row.model, carry_bits=4), (row,))  # type: ignore[call-arg]
    renamed = Unit(row.model, (replace(row, instruction="other"),))
    keys = [Pair(one, two, Domain()).key, Pair(one, other, Domain()).key]
    keys.append(Pair(one, two, Domain(finite=False)).key)
    assert len(set(keys)) == 3
    assert Pair(renamed, two, Domain()).key == keys[0]


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


def unmarked(made: Atlas) -> dict[str, Any]:
    return {
        key: {name: value for name, value in record.items() if name != "earlier"}
        for key, record in made.records.items()
    }


def test_proofs_make_classes(tmp_path: Path) -> None:
    with verdicts_in(tmp_path / "a.json") as store:
        made = run(small(), Domain(), store, ASKING)
    group = made.groups[0]
    assert len(made.classes(group)) == 2
    unknown = {key: {**record, "verdict": "unknown"} for key, record in made.records.items()}
    assert len(Atlas(made.groups, made.domain, unknown).classes(group)) == 3


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


def test_witnesses_are_small() -> None:
    """The pool finds one of eight products here; a solver one of two."""
    pair = [Unit(r.model, (r,)) for r in map(row_named, (f"{a}/mma.m16n8k8.f16.f16.f16.f16" for a in ALIKE))]
    record = verdict_on(Pair(*pair, Domain(finite=False)), Settings(timeout=60), confirm=False)
    used = [name for name, value in record["inputs"].items() if int(value["word"], 16)]
    assert len(used) <= 5
    words = {name: int(value["word"], 16) for name, value in record["inputs"].items()}
    one, two = evaluate([unit.model.trace.output for unit in pair], words)
    assert one != two


# --- the file -------------------------------------------------------------------------------------


def test_two_runs_on_one_file(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    with verdicts_in(file):
        text = refused("atlas", *CHOSEN, "--store", file)
    assert f"is in use by another run (process {os.getpid()})" in text
    with verdicts_in(file):
        pass


def test_files_that_are_no_store(tmp_path: Path) -> None:
    for name, text in (("text", "no store"), ("array", "[]"), ("other", '{"entries": {}}')):
        file = tmp_path / name
        file.write_text(text)
        said = refused("atlas", *CHOSEN, "--store", file)
        assert f"--store {file}: a file is there that is none of this command's" in said
        assert file.read_text() == text
    assert "cannot write" in refused("atlas", *CHOSEN, "--store", tmp_path / "none" / "a.json")


@pytest.mark.parametrize(("kibibytes", "kept"), [(1, False), (6, True)])
def test_a_file_that_cannot_grow(tmp_path: Path, kibibytes: int, kept: bool) -> None:
    """As on a full disk, at once or on the way: one line; the next run goes on from what is there."""
    file = tmp_path / "a.json"
    limit = kibibytes * 1024
    command = [sys.executable, "-m", "tcsmt", "atlas", *CHOSEN, "--store", str(file)]
    ended = subprocess.run(
        command, cwd=ROOT, text=True, capture_output=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )  # fmt: skip
    assert ended.returncode == 2
    last = ended.stderr.splitlines()[-1]
    assert last == f"Error: cannot write {file}: File too large; what was finished before is kept"
    assert "Traceback" not in ended.stderr
    with verdicts_in(file) as store:
        assert bool(store.records) == kept
        store.keep("more", {"verdict": "unknown"})


# --- the command ----------------------------------------------------------------------------------


def test_command(tmp_path: Path) -> None:
    text = done("atlas", *CHOSEN, "--store", tmp_path / "a.json", "--output", tmp_path / "out", "--finite")
    assert "f32.f16.f16.f32, K = 4 (finite)" in text
    assert re.search(r"^  1: volta/mma\S+, volta/mma\S+@zero-126$", text, re.MULTILINE)
    data = json.loads((tmp_path / "out" / "atlas.json").read_text())
    assert set(data) == {"tcsmt", "prover", "domain", "models", "groups"}
    (group,) = data["groups"]
    assert len(group["classes"]) == 4
    assert re.search(r"@zero-126: proved equal, bitwuzla \S+ alone, ", text)
    assert (tmp_path / "out" / "atlas.txt").read_text() == text
    page = (tmp_path / "out" / "atlas.html").read_text()
    details = unpacked(page)
    assert sum("<svg" in text for text in details.values()) >= 9
    assert "http://" not in page and "https://" not in page  # it stands alone
    assert set(re.findall(r'data-pair="([^"]+)"', page)) == details.keys()
    assert "unknown types 'f32.f16'" in refused("atlas", "--types", "f32.f16", "--store", tmp_path / "b")
    assert "unknown architecture" in refused("atlas", "--arch", "voltar", "--store", tmp_path / "b")


def unpacked(page: str) -> dict[str, str]:
    """What the cells of a page show, by their names."""
    packed = re.search(r'id="details">([^<]*)<', page)
    assert packed is not None
    found: dict[str, str] = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    return found


def test_interrupted_by_a_signal(tmp_path: Path) -> None:
    """Ctrl-C: one line, the file is free again, and what was finished is in it."""
    file = tmp_path / "a.json"
    command = [sys.executable, "-m", "tcsmt", "atlas", "--store", str(file), "--claims", "--no-confirm"]
    process = subprocess.Popen(
        command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("3/"):
            break
    os.killpg(process.pid, signal.SIGINT)
    _, text = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "interrupted; what was finished is on disk" in text
    assert "Traceback" not in text
    time.sleep(0.1)
    with verdicts_in(file) as store:
        assert len(store.records) >= 3


def test_pages_of_nothing() -> None:
    nothing = Atlas((), Domain(), {})
    assert as_table(nothing) == "\n"
    assert "<table>" not in as_page(nothing)
