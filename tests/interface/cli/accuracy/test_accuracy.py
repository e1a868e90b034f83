"""Options that the commands about an algorithm share."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from tcsmt.interface.cli import main


@pytest.mark.parametrize(("command", "seconds"), [("bound", 20.0), ("find", 5.0), ("findings", 2.0)])
def test_each_command_has_its_own_time(command: str, seconds: float) -> None:
    text = " ".join(CliRunner().invoke(main, ["accuracy", command, "--help"]).output.split())
    assert f"--search FLOAT Time for the simulator's search, in seconds. [default: {seconds}]" in text


@pytest.mark.parametrize("command", ["bound single-f16", "find sign markidis"])
def test_refusals_of_calls_are_those_of_commands(command: str) -> None:
    for option, said in (("--k=0", "k = 0: must be from 1 to"), ("--search=0", "search = 0: must be over 0")):
        result = CliRunner().invoke(main, ["accuracy", *command.split(), "--unit", "volta", option])
        assert result.exit_code == 2 and said in result.output
