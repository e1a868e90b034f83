"""``tcsmt properties``."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.command_line import done


def test_properties() -> None:
    lines = done("properties").splitlines()
    data = json.loads(done("properties", "--json"))["properties"]
    assert [line.split()[0] for line in lines] == [p["name"] for p in data]
    assert "carry-bits" in {p["name"] for p in data}
    assert all(p["title"] and Path(p["file"]).is_file() for p in data)
