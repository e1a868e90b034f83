"""``tcsmt.validate``: measured rows against units."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import tcsmt


@pytest.mark.slow
def test_validate(measured_data: Path) -> None:
    found = tcsmt.validate(measured_data)
    assert found.mismatches == 0 and found.rows > 70_000
    assert found.summary == str(found).splitlines()[-1] and found.as_json()["rows"] == found.rows


def test_validate_against_another_unit(tmp_path: Path) -> None:
    rows = tmp_path / "rows.json"
    row = {"a": ["0x3c00"] * 4, "b": ["0x3c00"] * 4, "c": "0x00000000", "d": "0x40800001"}
    rows.write_text(json.dumps({"model": "volta", "rows": [row]}))
    found = tcsmt.validate(rows)
    assert (found.rows, found.mismatches) == (1, 1)
    assert found.exit_code == 1 and replace(found, replayed=()).exit_code == 0
    assert "measured 0x40800001" in str(found) and "model 0x40800000" in str(found)
    with pytest.raises(tcsmt.TcsmtError, match="nothing to compare"):
        tcsmt.validate(rows, against="hopper/wgmma.m64nNk32.f32.e4m3.e4m3")


@pytest.mark.slow
def test_a_unit_without_an_instruction_is_the_one_that_data_fit(tmp_path: Path) -> None:
    """For each data set; `check` does the same with a file of recorded rows."""
    import ml_dtypes
    import numpy as np

    from tcsmt.matrix_units.models import Operands
    from tcsmt.simulate.measured.row_files import write_rows

    files = []
    for name in ("hopper/mma.m16n8k16.f32.bf16.bf16.f32", "hopper/wgmma.m64nNk32.f32.e4m3.e4m3"):
        unit = tcsmt.unit(name)
        dtype = {"bf16": ml_dtypes.bfloat16, "e4m3": ml_dtypes.float8_e4m3fn}[unit.a_format]
        a = np.ones((3, unit.k), dtype)
        words = a.view(f"uint{8 * a.itemsize}")
        d = np.asarray(unit(a, a)).view(np.uint32)
        files.append(tmp_path / f"{unit.a_format}.json")
        write_rows(files[-1], unit.model, Operands(words, words, np.zeros(3, np.uint32)), d, name=name)
        assert tcsmt.check("h100", files[-1]).agrees
    found = tcsmt.validate(*files, against="h100")
    assert [one.row.name for one in found.replayed if one.row is not None] == [
        "hopper/mma.m16n8k16.f32.bf16.bf16.f32", "hopper/wgmma.m64nNk32.f32.e4m3.e4m3",
    ]  # fmt: skip
    assert found.mismatches == 0
    with pytest.raises(tcsmt.TcsmtError, match="nothing to compare"):
        tcsmt.validate(*files, against="volta")


def test_each_data_set_is_said_when_it_is_done_and_examples_are_counted_over_all(tmp_path: Path) -> None:
    row = {"a": ["0x3c00"] * 4, "b": ["0x3c00"] * 4, "c": "0x00000000", "d": "0x40800001"}
    for name in ("first", "second"):
        (tmp_path / f"{name}.json").write_text(json.dumps({"model": "volta", "rows": [row, row]}))
    texts: list[str] = []
    found = tcsmt.validate(tmp_path, examples=3, say=texts.append)
    assert [text.split()[0] for text in texts] == ["data", "first", "second"]
    assert "\n".join([*texts, found.conclusion]) == str(found)
    assert str(found).count("measured 0x40800001") == 3 < found.mismatches == 4
    texts.clear()
    with pytest.raises(tcsmt.TcsmtError, match="nothing to compare"):
        tcsmt.validate(tmp_path, against="x86/vpdpbusd", say=texts.append)
    assert "skipped: " in texts[1]
