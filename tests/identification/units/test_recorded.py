"""Recorded answers that no hypothesis explains: the best that are found, and the rows that they miss."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tcsmt.identification.units.family import Family
from tcsmt.identification.units.questions import Questions
from tcsmt.identification.units.recorded import survivors
from tcsmt.identification.units.vectors import mixed, ordinary
from tcsmt.matrix_units.files.model_files import read_model
from tcsmt.matrix_units.models import Operands
from tcsmt.simulate.measured.datasets import find_datasets
from tcsmt.simulate.measured.row_files import write_rows
from tcsmt.simulate.rows import run_words
from tests.support.command_line import done, refused
from tests.support.probes import VOLTA


def recorded(folder: Path, suffix: str, wrong: Sequence[int]) -> Path:
    """Answers of a unit of one product to 40 ordinary sums and 40 others, the last bit wrong in some rows."""
    model = folder / "one.toml"
    model.write_text(f'base = "{VOLTA}"\nk = 1\nn_fma = 1\n')
    unit, random = read_model(model).model, np.random.default_rng(1)
    family = Family(unit.a_format, unit.b_format, unit.c_format, unit.d_format, unit.k)
    asked = Questions.joined([ordinary(family, random, 40), mixed(family, random, 40, None)])
    inputs = Operands(asked.a.astype(np.uint16), asked.b.astype(np.uint16), asked.c.astype(np.uint32))
    answers = run_words(unit, inputs)
    answers[list(wrong)] ^= np.uint32(1)
    path = folder / f"answers.{suffix}"
    write_rows(path, unit, inputs, answers, name=str(model))
    return path


@pytest.mark.long
@pytest.mark.parametrize("wrong", [pytest.param(3, marks=pytest.mark.long), 41])
def test_one_wrong_row_is_named(wrong: int, tmp_path: Path) -> None:
    """Whether the search starts with that row or not; in a CSV file by its line."""
    path = recorded(tmp_path, "csv", [wrong])
    (data,) = find_datasets([path])
    word = int(data.d[wrong])
    text = done("identify", "--data", path, code=1)
    assert "\n0 of " in text
    assert "each explain 79 of 80 rows\n" in text
    (line,) = text.partition("rows that contradict any of them:\n")[2].splitlines()
    assert line == f"  {path}:{wrong + 2}: recorded {word:#010x}, predicted {word ^ 1:#010x}"


@pytest.mark.long
def test_several_wrong_rows_are_named(tmp_path: Path) -> None:
    wrong = [2, 9, 41, 70]
    path = recorded(tmp_path, "json", wrong)
    data = json.loads(done("identify", "--data", path, "--json", code=1))
    assert (data["remaining"], data["best"]["missed"]) == (0, 4)
    assert [row["row"] for row in data["best"]["rows"]] == wrong
    assert data["best"]["rows"][0]["place"] == f"{path}: row 2"
    for row in data["best"]["rows"]:
        assert row["predicted"] == [f"{int(row['recorded'], 16) ^ 1:#010x}"]
    assert data["best"]["values"]["fraction_bits"] == [23]


@pytest.mark.long
def test_without_wrong_rows_there_is_no_best(tmp_path: Path) -> None:
    (data,) = find_datasets([recorded(tmp_path, "npz", [])])
    found = survivors(data, rows=80)
    assert len(found.table) and found.best is None


def test_two_nan_words_are_named(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    rows = "1,0,0,0,1,0,0,0,0,0x3f800000", "nan,0,0,0,1,0,0,0,0,0x7fffffff", "nan,0,0,0,1,0,0,0,0,0x7fc00000"
    path.write_text("\n".join(["a0,a1,a2,a3,b0,b1,b2,b3,c,d", *rows]))
    assert "it does not say which unit its results are from" in refused("identify", "--data", path)
    path.write_text("\n".join(["a0,a1,a2,a3,b0,b1,b2,b3,c,d,model", *(f"{row},volta" for row in rows)]))
    said = refused("identify", "--data", path)
    assert f"no hypothesis has two: 0x7fffffff ({path}:3), 0x7fc00000 ({path}:4)" in said
