"""``tcsmt accuracy reduced``: what it prints and keeps, its exit codes and refusals."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tcsmt.analysis.sweeps import reduced as module
from tcsmt.interface.cli import main

SMALL = ["accuracy", "reduced", "--widths", "2", "--unit", "volta", "--inputs", "14"]


def test_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = [
        *SMALL,
        "--output",
        str(tmp_path / "reduced.json"),
        "--question",
        "two-by-one",
        "--question",
        "error-single",
    ]
    first = CliRunner().invoke(main, arguments)
    assert first.exit_code == 1, first.output
    assert "not so: p = 2" in first.stdout
    assert "2 of 8192 inputs" in first.stdout
    assert "p = 2: 1.4656 (exponents 0 to 0)" in first.stdout
    kept = json.loads((tmp_path / "reduced.json").read_text())["entries"]
    assert set(kept) == {"two-by-one, volta, p = 2", "error-single, volta, p = 2"}

    def fails(*_: object, **__: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr(module, "examine", fails)
    again = CliRunner().invoke(main, [*arguments, "--json"])
    assert again.exit_code == 1, again.output
    entries = json.loads(again.stdout)["entries"]
    assert [entry.pop("earlier", False) for entry in entries.values()].count(True) == 1
    assert entries == kept


def test_all_that_holds_is_exit_code_0(tmp_path: Path) -> None:
    found = CliRunner().invoke(
        main, [*SMALL, "--output", str(tmp_path / "reduced.json"), "--question", "one-by-one"]
    )
    assert found.exit_code == 0, found.output
    assert "holds for all inputs: p = 2" in found.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--question", "monoton-1"], "question 'monoton-1'"),
        (["--widths", "1"], "width 1: must be from 2 to 11 significant bits"),
        (["--widths", "many"], "--widths many: must be numbers from 2 to 11"),
        (["--widths", "5:4"], "--widths 5:4: must be numbers from 2 to 11"),
        (["--inputs", "40"], "2^40 inputs: must be from 2^0 to 2^32"),
        (["--seconds", "0"], "0 seconds: must be more than 0"),
        (["--unit", "voltaa"], "voltaa"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], message: str, tmp_path: Path) -> None:
    found = CliRunner().invoke(
        main, ["accuracy", "reduced", *arguments, "--output", str(tmp_path / "reduced.json")]
    )
    assert found.exit_code == 2
    assert message in found.output
    assert "Traceback" not in found.output
    assert not (tmp_path / "reduced.json").exists()


def test_a_file_of_another_command_is_refused(tmp_path: Path) -> None:
    (tmp_path / "reduced.json").write_text("[]")
    found = CliRunner().invoke(main, [*SMALL, "--output", str(tmp_path / "reduced.json")])
    assert found.exit_code == 2
    assert "reduced.json was not written by this command" in found.output
    assert "expected a JSON object with an object of records in 'entries'" in found.output
