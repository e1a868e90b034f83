"""``tcsmt.run``: a unit on the rows of a file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tcsmt

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
#: 1·1.5 + 2·0.125 + 1, and a value that binary16 does not have.
ROWS = "a0,a1,a2,a3,b0,b1,b2,b3,c\n1,2,0,0,1.5,0.125,0,0,1\n0.1,0,0,0,1,0,0,0,0\n"


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text(ROWS)
    return path


def test_results_are_those_of_the_unit_on_arrays(rows: Path) -> None:
    rounded: list[str] = []
    simulated = tcsmt.run("volta", rows, rounded=rounded.append)
    a = np.array([[1, 2, 0, 0], [0.1, 0, 0, 0]], np.float16)
    b = np.array([[1.5, 0.125, 0, 0], [1, 0, 0, 0]], np.float16)
    d = np.asarray(tcsmt.unit("volta")(a, b, np.array([1, 0], np.float32)))
    assert simulated.d.view(np.float32).tolist() == d.tolist() == [2.75, 0.0999755859375]
    assert (len(rounded), simulated.rounded) == (1, tuple(rounded)) and "a0: 0.1" in rounded[0]
    facts = simulated.as_json()
    assert (facts["model"], facts["d"][0]["word"]) == (VOLTA, "0x40300000")
    assert facts["rounded"] == rounded
    assert str(simulated).splitlines()[:2] == [f"# {VOLTA}", "0: 0x40300000  1.375·2^1  2.75"]
    assert "    largest exponent" in simulated.text(stages=True)


def test_operands_are_rounded_by_the_rule(rows: Path) -> None:
    path = rows.with_name("third.csv")
    path.write_text(rows.read_text().replace("0.1,0", "0.3,0"))  # between 0x34cc and 0x34cd
    cut, nearest = (tcsmt.run("volta", path, operands=rule) for rule in ("truncate", "nearest-even"))
    assert [part.inputs.a[1, 0] for part in (cut, nearest)] == [0x34CC, 0x34CD]
    with pytest.raises(tcsmt.TcsmtError, match="truncat"):
        tcsmt.run("volta", rows, operands="truncated")


def test_written_rows_are_a_data_set_of_the_unit(rows: Path, tmp_path: Path) -> None:
    model = tmp_path / "mine.toml"
    model.write_text(f'base = "{VOLTA}"\nfraction_bits = 20\n')
    for unit in ("volta", model, tcsmt.unit("volta")):
        simulated = tcsmt.run(unit, rows)
        simulated.save(tmp_path / "out.json")
        assert tcsmt.validate(tmp_path / "out.json").as_json()["mismatches"] == 0
    assert json.loads((tmp_path / "out.json").read_text())["model"] == VOLTA
    with pytest.raises(tcsmt.TcsmtError, match=r"unknown suffix of an output file '\.txt'"):
        simulated.save(tmp_path / "out.txt")


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(tcsmt.TcsmtError, match=r"none\.csv"):
        tcsmt.run("volta", tmp_path / "none.csv")
