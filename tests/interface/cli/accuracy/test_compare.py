"""``tcsmt accuracy compare``: what it prints, and how it ends."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tcsmt.interface.cli import main

BAD = [
    (["ootomo-tf32tf32", "markidis", "--unit", "volta"], "it needs a unit from tf32 to f32"),
    (["ootomo-hh", "markidis", "--unit", "volta"], "did you mean ootomo-halfhalf"),
    (["markidis,spit=RTZ", "markidis", "--unit", "volta"], "did you mean split"),
    (["markidis", "markidis", "--unit", "volt"], "did you mean volta"),
    (["markidis", "markidis", "--unit", "volta", "--k", "0"], "must be from 1 to 64"),
    (["markidis", "markidis", "--unit", "volta", "--exponents", "5:3"], "no number has such an exponent"),
    (["markidis", "markidis", "--unit", "volta", "--exponents", "100:200"], "must lie in -126 to 127"),
    (["markidis", "markidis", "--unit", "volta", "--exponents", "typ1"], "did you mean type1"),
    (["markidis", "markidis", "--unit", "volta", "--bits", "0", "3"], "bits 0 3: must be at least 1"),
    (["markidis", "markidis", "--unit", "volta", "--search", "0"], "over 0 and up to"),
    (["markidis", "markidis", "--unit", "volta", "--output", "x.png"], "unknown suffix of a picture '.png'"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_bad_input_is_one_line(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(main, ["accuracy", "compare", *arguments])
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


@pytest.mark.slow
def test_compare_on_the_command_line(tmp_path: Path) -> None:
    run = CliRunner().invoke
    arguments = ["accuracy", "compare", "ootomo-halfhalf", "markidis", "--unit", "volta", "--k", "1"]
    arguments += ["--search", "0.5"]
    shown = run(main, [*arguments, "--explain"])
    assert shown.exit_code == 1
    assert "WORSE" in shown.output
    assert "they first differ here" in shown.output
    picture = tmp_path / "witness.svg"
    assert run(main, [*arguments, "--output", str(picture)]).exit_code == 1
    assert "they first differ at 'A1·B1, lanes 0 to 0'" in picture.read_text()
    data = json.loads(run(main, [*arguments, "--json"]).output)
    assert (data["verdict"], data["answer"]) == ("distinguished", "worse")
    assert [r["algorithm"] for r in data["results"]] == ["ootomo-halfhalf", "markidis"]
    same = run(
        main,
        [
            "accuracy", "compare", "markidis", "markidis", "--unit", "volta", "--k", "1", "--search", "0.2",
            "--output", str(tmp_path / "none.svg"),
        ],
    )  # fmt: skip
    assert same.exit_code == 0, same.output
    assert "NEVER WORSE" in same.output
    assert "no witness" in same.output
