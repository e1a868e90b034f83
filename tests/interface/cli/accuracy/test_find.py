"""``tcsmt accuracy find``: what it prints, and how it ends."""

import json

import pytest
from click.testing import CliRunner

from tcsmt.interface.cli import main

BAD_FLAWS = [
    (["sing", "markidis", "--unit", "volta"], "did you mean sign"),
    (["sign", "markids", "--unit", "volta"], "did you mean markidis"),
    (["sign", "markidis", "--unit", "volta", "--k", "65"], "must be from 1 to 64"),
    (["monotone", "ootomo-tf32tf32", "--unit", "volta"], "it needs a unit from tf32 to f32"),
    (["monotone", "markidis", "--unit", "volta", "--exponents", "5:3"], "no number has such an exponent"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD_FLAWS)
def test_bad_flaws_are_one_line(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(main, ["accuracy", "find", *arguments])
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


def test_find_on_the_command_line() -> None:
    arguments = ["accuracy", "find", "sign", "markidis", "--unit", "hopper", "--k", "2", "--search", "0.1"]
    shown = CliRunner().invoke(main, arguments)
    assert shown.exit_code == 1
    assert "WRONG SIGN" in shown.output
    data = json.loads(CliRunner().invoke(main, [*arguments, "--json"]).output)
    assert (data["verdict"], data["answer"]) == ("distinguished", "wrong sign")
    assert data["worst"]["size"] >= data["short"]["size"] >= 1
