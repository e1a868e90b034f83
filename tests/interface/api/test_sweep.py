"""``tcsmt.accuracy.sweep``: records, and how a file goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import tcsmt
from tcsmt.interface.cli import main


def test_sweep_goes_on_from_its_file(tmp_path: Path) -> None:
    """What the call returns is what the command prints; a second call computes only what is missing."""
    file = tmp_path / "sweep.json"
    asked = {"distributions": "positive", "seeds": 1, "output": file}
    one = tcsmt.accuracy.sweep("markidis", "volta", k=16, **asked)
    assert len(one.new) == len(one.records) == 1 and one.error("markidis", "volta", 16, "positive")
    both = tcsmt.accuracy.sweep("markidis", "volta", k=[16, 32], **asked)
    assert [record["k"] for record in both.new] == [32] and len(both.records) == 2
    arguments = ["--algorithm", "markidis", "--unit", "volta", "--distribution", "positive"]
    arguments += ["--k", "16", "--seeds", "1"]
    printed = CliRunner().invoke(main, ["accuracy", "sweep", *arguments]).stdout
    assert printed == f"{one}\n"
    assert json.loads(json.dumps(one.as_json()))["records"][0]["k"] == 16
    assert "markidis" in one._repr_html_() and "1 record on volta" in repr(one)
    with pytest.raises(tcsmt.TcsmtError, match="no record of markidis at K = 99"):
        one.error("markidis", "volta", 99)
    with pytest.raises(tcsmt.TcsmtError, match="was made with seeds = 1, now it is 2"):
        tcsmt.accuracy.sweep("markidis", "volta", distributions="positive", k=16, output=file)
    with pytest.raises(tcsmt.TcsmtError, match="K = 0: must be 1 or more"):
        tcsmt.accuracy.sweep("markidis", "volta", k=0)
