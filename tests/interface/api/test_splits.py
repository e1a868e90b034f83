"""``tcsmt.accuracy.split``: the same figures as the command's, and what they say of all inputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tcsmt import TcsmtError, accuracy
from tcsmt.interface.cli import main
from tcsmt.prove.engine.options import SolvingOptions


def test_python_gives_the_figures_of_the_command() -> None:
    found = accuracy.split("bf16")
    result = CliRunner().invoke(main, ["accuracy", "split", "--format", "bf16", "--json"])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["splits"] == [one.as_json() for one in found]
    text = CliRunner().invoke(main, ["accuracy", "split", "--format", "bf16"]).stdout
    assert text == "".join(f"{one}\n" for one in found)
    assert [one.name for one in accuracy.split(["bf16"])] == [one.name for one in found]
    assert {one.holds for one in found} == {None}


PROVED, UNKNOWN, WRONG = ({"verdict": verdict} for verdict in ("equivalent", "unknown", "distinguished"))


@pytest.mark.parametrize(
    ("record", "holds"),
    [
        ({}, None),
        ({"proof": [PROVED, PROVED]}, True),
        ({"proof": [PROVED, UNKNOWN]}, None),
        ({"proof": [UNKNOWN, WRONG]}, False),
        ({"all_inputs": {"differ": []}}, True),
        ({"all_inputs": {"differ": [3]}}, False),
        ({"all_inputs": {"differ": [3]}, "proof": [PROVED]}, False),
        ({"all_inputs": {"differ": []}, "proof": [UNKNOWN]}, None),
    ],
)
def test_splits_hold_if_everything_is_proved_or_tried(record: dict[str, Any], holds: bool | None) -> None:
    assert accuracy.SplitAnalysis(record).holds is holds


def test_bad_input(tmp_path: Path) -> None:
    with pytest.raises(TcsmtError, match="unknown split format 'fp17'"):
        accuracy.split("fp17")
    with pytest.raises(TcsmtError, match="needs prove=True"):
        accuracy.split("bf16", options=SolvingOptions(certificate=tmp_path / "proofs"))
    assert not (tmp_path / "proofs").exists()
