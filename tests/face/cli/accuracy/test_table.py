"""``tcsmt accuracy table``: cells that are found, proved and certified, and kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command_line import done, refused


@pytest.mark.long
def test_a_second_run_goes_on_and_certificates_are_checked(tmp_path: Path) -> None:
    proofs = tmp_path / "proofs"
    command = [
        "accuracy",
        "table",
        "--arch",
        "volta",
        "--format",
        "f16",
        "--exponents",
        "0:0",
        "--search",
        "0.2",
    ]
    kept = ["--output", tmp_path / "t.json", "--certificate", proofs]
    first = json.loads(done(*command, *kept, "--k", "4", "--json"))
    (cell,) = first["cells"]
    assert cell["found"] <= cell["proved"] < 8.001
    assert [path.stem.rpartition("-")[2] for path in (proofs / "statements").iterdir()] == [
        cell["certificate"]
    ]
    both = json.loads(done(*command, *kept, "--k", "4", "--k", "8", "--as", "json"))
    assert both["cells"][0] == cell and [c["k"] for c in both["cells"]] == [4, 8]
    assert "all proved: 2 statements" in done("certificate", "check", proofs)


def test_unknown_names_are_refused() -> None:
    assert "no unit of volta takes bf16" in refused(
        "accuracy", "table", "--arch", "volta", "--format", "bf16"
    )
    assert "a format or an algorithm" in refused("accuracy", "table", "--arch", "volta")
