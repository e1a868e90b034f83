"""``tcsmt accuracy slices``: the table, and how it goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command_line import done

INTEGERS = "turing/mma.m8n8k16.s32.s8.s8.s32"


@pytest.mark.long
def test_the_table_goes_on(tmp_path: Path) -> None:
    command = ["accuracy", "slices", "--only", INTEGERS, "--results", tmp_path]
    first = done(*command)
    assert "| s8 | s32 |" in first
    assert "7: **131071**" in first
    written = (tmp_path / "exact.json").read_text()
    assert done(*command) == first
    assert (tmp_path / "exact.json").read_text() == written
    (one,) = json.loads(written)["families"]
    assert one["slices"][0]["beyond"]["exact"] == 2**31
