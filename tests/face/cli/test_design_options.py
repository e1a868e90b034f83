"""The options of a hardware design: what a command gets of them, and pairs that are none."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from tcsmt.face.cli.design_options import of_design
from tcsmt.outside.implementations.designs import DesignFiles

SEEN: list[DesignFiles] = []


@click.command()
@of_design
def command(design: DesignFiles) -> None:
    SEEN.append(design)


def run(*arguments: str) -> Result:
    SEEN.clear()
    return CliRunner().invoke(command, arguments)


def test_all_of_them() -> None:
    words = "--top mac --port a=x[7:0] --port b=y --const rnd=0 --cycles 2 --hold --format a=f16 --param W=8"
    words += " --source pkg.sv --include inc --define FAST --define N=3"
    assert run(*words.split()).exit_code == 0
    assert [DesignFiles(
        files=(Path("pkg.sv"),), top="mac", ports=("a=x[7:0]", "b=y"), constants=("rnd=0",), cycles=2,
        hold=True, formats={"a": "f16"}, parameters={"W": "8"}, include=(Path("inc"),),
        define=("FAST", "N=3"),
    )] == SEEN  # fmt: skip


def test_a_value_may_have_an_equals_sign() -> None:
    assert run("--param", "INIT=a=b").exit_code == 0
    assert SEEN[0].parameters == {"INIT": "a=b"}


@pytest.mark.parametrize(("arguments", "said"), [
    (["--format", "f16"], "--format f16: expected NAME=VALUE"),
    (["--param", "=8"], "--param =8: expected NAME=VALUE"), (["--param", "W="], "--param W=: expected"),
    (["--format", "a=f16", "--format", "a=f32"], "--format a=f32: a is given twice"),
])  # fmt: skip
def test_pairs_that_are_none(arguments: list[str], said: str) -> None:
    assert said in str(run(*arguments).exception)
    assert SEEN == []
