"""``tcsmt vectors``, and the commands that read what it writes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.support.command_line import done, refused, tcsmt

UNIT = "x86/vpdpbusd"


@pytest.mark.parametrize("suffix", ["json", "csv", "hex", "mem", "npz"])
def test_every_format_is_read_again(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows.{suffix}"
    data = json.loads(done("vectors", UNIT, "--rows", 50, "--output", path, "--json"))
    assert data["vectors"] == 50 and 0 < data["excluded"] <= data["hypotheses"]
    assert json.loads(done("validate", path, "--json"))["rows"] == 50
    checked = json.loads(done("check", UNIT, "--data", path, "--json"))
    assert (checked["rows"], checked["mismatches"]) == (50, 0)
    # the rows decide as much as the summary says
    assert checked["hypotheses"] - sum(map(len, checked["not_excluded"].values())) >= data["excluded"]


def test_wrongly_recorded_results_are_found(tmp_path: Path) -> None:
    path = tmp_path / "rows.npz"
    done("vectors", UNIT, "--kind", "random", "--rows", 200, "--output", path)
    arrays = dict(np.load(path))
    arrays["d"][17] ^= 1
    np.savez(path, **arrays)
    data = json.loads(done("check", UNIT, "--data", path, "--json", code=1))
    assert (data["rows"], data["mismatches"]) == (200, 1)
    assert int(data["first"]["unit"]["word"], 16) ^ int(data["first"]["implementation"]["word"], 16) == 1
    assert f"rows.npz is not {UNIT}: 1 of 200 rows differ" in done("check", UNIT, "--data", path, code=1)


def test_audit_writes_its_smallest_subset(tmp_path: Path) -> None:
    whole, few = tmp_path / "all.hex", tmp_path / "few.mem"
    done("vectors", UNIT, "--kind", "edge", "--rows", 200, "--output", whole)
    one = json.loads(tcsmt("audit", whole, "--no-solve", "--subset", few, "--json").stdout)
    two = json.loads(tcsmt("audit", few, "--no-solve", "--json").stdout)
    assert len(two["vectors"]) == len(one["enough"]["vectors"]) < 200
    untold = [[pair["pair"] for pair in data["pairs"] if not pair["vectors"]] for data in (one, two)]
    assert untold[0] == untold[1]
    assert json.loads(done("validate", few, "--json"))["mismatches"] == 0


def test_standard_output() -> None:
    text = done("vectors", UNIT, "--kind", "random", "--rows", 3, "--format", "hex")
    assert text.startswith(f"# rows of {UNIT}\n") and len(text.splitlines()) == 5
    assert len(json.loads(done("vectors", UNIT, "--kind", "edge", "--rows", 3))["rows"]) == 3


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--output", "rows.txt"], "suffix of a file of vectors"),
        (["--output", "rows.csv", "--format", "hex"], "the suffix of --format hex is .hex"),
        (["--format", "npz"], "--format npz needs --output"),
        (["--kind", "edges"], "'edges' is not one of"),
        (["--rows", 0], "0 is not in the range"),
        (["--format", "csv", "--json"], "--json needs --output"),
    ],
)
def test_bad_input(given: list[object], said: str) -> None:
    assert said in refused("vectors", UNIT, *given)


def test_objects_are_not_unpickled(tmp_path: Path) -> None:
    path = tmp_path / "rows.npz"
    np.savez(path, a=np.array([[print]], object), b=np.zeros((1, 1)), d=np.zeros(1), model=np.array(UNIT))
    assert "is not an .npz file of numeric arrays" in refused("check", UNIT, "--data", path)
