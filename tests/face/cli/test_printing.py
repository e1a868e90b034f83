"""Every command has ``--json``, and what it prints then is JSON and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator

import click
import pytest

from tcsmt import __version__
from tcsmt.face.cli import main
from tcsmt.face.cli.printing import echo_json, json_text
from tests.support.command_line import done


def commands(group: click.Group, *names: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, *names, name)
        else:
            yield (*names, name), command


def test_every_command_has_it() -> None:
    without = [name for name, command in commands(main) if "as_json" not in {p.name for p in command.params}]
    assert without == []


@pytest.mark.parametrize(
    "command",
    [
        ("models", "--arch", "volta"),
        ("properties",),
        ("describe", "volta"),
        ("compare", "volta", "volta"),
        ("find", "--property", "product-normalization", "--arch", "volta"),
        ("explain", "volta", "--vector", "a0=1"),
        ("accuracy", "algorithms"),
        ("accuracy", "explain", "markidis", "--arch", "volta", "--vector", "a0=1 b0=1"),
    ],
)
def test_every_document_says_its_version(command: tuple[str, ...]) -> None:
    data = json.loads(done(*command, "--json"))
    assert next(iter(data.items())) == ("tcsmt", __version__)


def test_the_version_comes_first_and_letters_stay_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    echo_json({"title": "A·B − π", "rows": [1, {"d": None}]})
    text = capsys.readouterr().out
    assert "A·B − π" in text
    assert list(json.loads(text).items()) == [
        ("tcsmt", __version__), ("title", "A·B − π"), ("rows", [1, {"d": None}]),
    ]  # fmt: skip
    with pytest.raises(TypeError):
        json_text({"a set": {1}})
