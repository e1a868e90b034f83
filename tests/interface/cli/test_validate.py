"""``tcsmt validate``: measured rows against the models."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.support.command_line import done

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"


def test_validate(measured_data: Path) -> None:
    text = done("validate", measured_data)
    count, rows, wrong = map(int, re.findall(r"\d+", text.splitlines()[-1]))
    assert count >= 30
    assert rows > 70_000
    assert wrong == 0


def test_validate_against_a_refuted_model(measured_data: Path) -> None:
    path = measured_data / "v100_f16_f32.npz"
    common = ("validate", path, "--against", f"{VOLTA}@valpey")
    text = done(*common, "--examples", 1, code=1)
    assert "1 data set, 2500 rows, 409 mismatches" in text
    assert text.count(": measured 0x") == 1
    data = json.loads(done(*common, "--json", code=1))
    assert (data["rows"], data["mismatches"]) == (2500, 409)
    assert set(data["datasets"][0]) == {
        "dataset", "gpu", "model", "rows", "mismatches", "provenance",
    }  # fmt: skip
