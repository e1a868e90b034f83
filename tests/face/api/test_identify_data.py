"""``tcsmt.identify_data``: what explains recorded answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tcsmt

TINY = """base = "volta/mma.m8n8k4.f32.f16.f16.f32"
k = 1
n_fma = 1
a_format = "e2m1"
b_format = "e2m1"
c_format = "f16"
d_format = "f16"
fraction_bits = 6
"""


def recorded(folder: Path, flip: int = 0) -> Path:
    """Answers of a small unit to random rows; one with other bits."""
    (folder / "tiny.toml").write_text(TINY)
    tcsmt.vectors(str(folder / "tiny.toml"), "random", rows=60).save(folder / "rows.json")
    data = json.loads((folder / "rows.json").read_text())
    data["rows"][7]["d"] = f"{int(data['rows'][7]['d'], 16) ^ flip:#06x}"
    (folder / "rows.json").write_text(json.dumps(data))
    return folder / "rows.json"


@pytest.mark.slow
def test_explanations_of_all_rows_have_the_units_parameters(tmp_path: Path) -> None:
    explained = tcsmt.identify_data(recorded(tmp_path), rows=50)
    assert explained.remaining >= 1 and 6 in explained.values["fraction_bits"]
    assert explained.exit_code == (0 if explained.remaining == 1 else 3)
    facts = explained.as_json()
    assert (facts["rows"], facts["remaining"], facts["best"]) == (50, explained.remaining, None)
    assert len(facts["next"]) <= 3
    lines = str(explained).splitlines()
    assert lines[0].startswith("rows: 50 rows, ")
    assert lines[1] == f"{explained.remaining} of {facts['hypotheses']} hypotheses explain them all"


@pytest.mark.long
def test_a_row_recorded_wrong_is_named(tmp_path: Path) -> None:
    explained = tcsmt.identify_data(recorded(tmp_path, flip=0x100))
    assert (explained.remaining, explained.exit_code, explained.values) == (0, 1, {})
    assert explained.as_json()["best"]["missed"] == 1
    assert "rows that contradict" in str(explained)


def test_integers_are_refused(tmp_path: Path) -> None:
    tcsmt.vectors("x86/vpdpbusd", "edge", rows=5).save(tmp_path / "rows.json")
    with pytest.raises(tcsmt.TcsmtError, match="u8 is not a floating-point format"):
        tcsmt.identify_data(tmp_path / "rows.json")
