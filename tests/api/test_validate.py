"""``tcsmt.validate``: measured rows against units."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tcsmt


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
    assert "measured 0x40800001" in str(found) and "model 0x40800000" in str(found)
    with pytest.raises(tcsmt.TcsmtError, match="nothing to compare"):
        tcsmt.validate(rows, against="hopper/wgmma.m64nNk32.f32.e4m3.e4m3")
