"""``tcsmt run``: rows in every format of files, and rows that are refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from tcsmt.catalogue import row_named
from tests.support.command_line import done, refused

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
ROWS = [
    {"a": ["0x3c00", "2.0", "0", "0"], "b": ["1.5", "0x1p-3", 0, 0], "c": "0x3f800000"},
    {"a": ["inf", "0", "0", "0"], "b": ["0", "0", "0", "0"], "c": "0"},
]
EXPECTED = ["0x40300000", "0x7fffffff"]  # 1.5 + 0.25 + 1, and a NaN


def test_run_json(tmp_path: Path) -> None:
    path, out = tmp_path / "rows.json", tmp_path / "out.json"
    path.write_text(json.dumps(ROWS))
    data = json.loads(done("run", VOLTA, "--input", path, "--output", out, "--json"))
    assert data["model"] == VOLTA
    assert [d["word"] for d in data["d"]] == EXPECTED
    assert data["d"][0] == {"word": "0x40300000", "value": "1.375·2^1", "decimal": "2.75", "format": "f32"}
    text = done("run", "volta", "--input", path, "--explain")
    assert "0: 0x40300000  1.375·2^1  2.75\n" in text
    assert re.search(r"^ +largest exponent +2\^0$", text, re.MULTILINE)
    # what was written is read again, and is a data set
    assert json.loads(done("run", VOLTA, "--input", out, "--json")) == data
    assert "1 data sets, 2 rows, 0 mismatches" in done("validate", out)


@pytest.mark.parametrize("suffix", ["json", "csv", "npz"])
def test_run_formats(suffix: str, tmp_path: Path) -> None:
    first, second = tmp_path / "rows.csv", tmp_path / f"out.{suffix}"
    names = row_named(VOLTA).model.input_names
    rows = [[*row["a"], *row["b"], row["c"]] for row in ROWS]
    first.write_text("\n".join(",".join(map(str, r)) for r in [names, *rows]))
    done("run", VOLTA, "--input", first, "--output", second)
    again = json.loads(done("run", VOLTA, "--input", second, "--json"))
    assert [d["word"] for d in again["d"]] == EXPECTED
    if suffix == "npz":
        arrays = np.load(second)
        assert arrays["a"].shape == (2, 4)
        assert [f"{word:#x}" for word in arrays["d"].view(np.uint32)] == EXPECTED


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "rows.json"),
        ("{", "rows.json"),
        ("[]", "no rows"),
        ('[{"a": [1, 2, 3], "b": [1, 2, 3, 4], "c": 0}]', "rows[0].a"),
        ('[{"a": [1, 2, 3, "x"], "b": [1, 2, 3, 4], "c": 0}]', "rows[0].a[3]"),
        ('[{"a": [1, 2, 3, 0.1], "b": [1, 2, 3, 4], "c": 0}]', "not representable in f16"),
        ('[{"a": [1, 2, 3, 4], "c": 0}]', "b"),
    ],
)
def test_bad_rows(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(text)
    assert message in refused("run", VOLTA, "--input", path)
