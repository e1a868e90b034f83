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
        "--unit",
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
        "accuracy", "table", "--unit", "volta", "--format", "bf16"
    )
    assert "a format or an algorithm" in refused("accuracy", "table", "--unit", "volta")


@pytest.mark.slow
def test_the_example_of_the_help_is_about_numbers_that_there_are() -> None:
    """FP16's normal numbers, and all of its numbers: the errors are those of the unit alone."""
    shown = json.loads(
        done(
            "accuracy",
            "table",
            "--unit",
            "v100",
            "--unit",
            "h100",
            "--format",
            "f16",
            "--search",
            "0.1",
            "--json",
        )
    )
    assert [round(cell["proved"], 3) for cell in shown["cells"]] == [32.0, 32768.0, 9.5, 8192.0]
    normal = "exponents -14 to 15, a of 11 and b of 11 significand bits"
    every = "exponents -24 to 15, a of 11 and b of 11 significand bits, f16 numbers with subnormals"
    assert [cell["domain"] for cell in shown["cells"]] == [normal, every] * 2
    assert [cell["subnormals"] for cell in shown["cells"]] == [False, True] * 2
