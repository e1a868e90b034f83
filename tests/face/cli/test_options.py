"""Options that several commands take: their defaults, and what they refuse."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from tcsmt.face.cli import main, options
from tcsmt.prove.engine.options import CHOICES, SolvingOptions
from tests.support.command_line import tcsmt


def values(option: Any, *arguments: str) -> dict[str, Any]:
    seen: dict[str, Any] = {}

    @click.command()
    @option
    def command(**given: Any) -> None:
        seen.update(given)

    done = CliRunner().invoke(command, arguments)
    if done.exit_code:
        raise ValueError(done.stderr)
    return seen


def test_defaults() -> None:
    assert values(options.solving("timeout", "jobs", "confirm", "reuse", "store", "certificate")) == {
        "solving": SolvingOptions(confirm=False)
    }
    several = options.solving("timeout", "jobs", "confirm", timeout=3.0, jobs=2, confirm=True)
    assert values(several) == {"solving": SolvingOptions(timeout=3.0, jobs=2, confirm=True)}
    assert values(options.solving("reuse"), "--again") == {"solving": SolvingOptions(reuse=False)}
    assert values(options.solving("store"), "--store", "x") == {"solving": SolvingOptions(store=Path("x"))}
    assert values(options.resumed()) == {"output": None}
    assert values(options.folders, "--properties", "x", "--properties", "y") == {
        "folders": (Path("x"), Path("y"))
    }


def test_every_field_has_an_option() -> None:
    fields = [one.name for one in dataclasses.fields(SolvingOptions)]
    made = values_of(options.solving(*fields))
    assert sorted(str(one.name) for one in made) == sorted(fields)
    assert all(one.help for one in made)


@pytest.mark.parametrize(("option", "arguments", "said"), [
    (options.solving("jobs"), ["--jobs", "0"], "0 is not in the range"),
    (options.solving("jobs"), ["--jobs", "257"], "257 is not in the range"),
    (options.solving("timeout"), ["--timeout", "soon"], "'soon' is not a valid float"),
    (options.resumed(required=True), [], "Missing option '--output'"),
])  # fmt: skip
def test_values_out_of_range_are_refused(option: Any, arguments: list[str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        values(option, *arguments)


def leaves(group: click.Group) -> Iterator[click.Command]:
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from leaves(command)
        else:
            yield command


def test_a_name_means_the_same_in_every_command() -> None:
    """An option that is written here has one form, wherever it is taken."""
    forms: dict[str, set[tuple[str, ...]]] = {}
    for command in leaves(main):
        for one in command.params:
            if one.name in ("as_json", "solver", "timeout", "memory", "jobs", "scheduler", "dump_smt"):
                forms.setdefault(one.name, set()).add((*one.opts, str(one.type)))
    assert {name for name, several in forms.items() if len(several) > 1} == set()
    assert len(forms) == 7
    (solver,) = (one for one in values_of(options.solving("solver")) if one.name == "solver")
    assert all(choice in (solver.help or "") for choice in CHOICES)


def test_commands_with_jobs_take_a_scheduler() -> None:
    """But for ``compare``, whose jobs are threads that run inputs."""
    taking = {command.name for command in leaves(main) if "jobs" in {one.name for one in command.params}}
    assert taking >= {"atlas", "audit", "check", "findings", "reduced", "sweep"}
    assert taking - {"compare"} == {
        c.name for c in leaves(main) if "scheduler" in {one.name for one in c.params}
    }


def values_of(option: Any) -> list[click.Option]:
    made = click.command()(option(lambda **given: None))
    return [one for one in made.params if isinstance(one, click.Option)]


@pytest.mark.parametrize("command", list(leaves(main)), ids=lambda command: command.name)
def test_no_command_has_a_path_of_its_own(command: click.Command) -> None:
    """What is written is where its user said; without that, it is shown, and nothing is written."""
    paths = [one for one in command.params if isinstance(one.type, click.Path)]
    assert [one.name for one in paths if isinstance(one.default, (str, Path))] == []


@pytest.mark.slow_cases("atlas --arch")
@pytest.mark.parametrize("arguments", [
    ("reproduce", "fasi"),
    ("atlas", "--arch", "volta", "--types", "f32.f16.f16.f32", "--claims", "--no-confirm"),
    ("accuracy", "reduced", "--widths", 2, "--arch", "volta", "--inputs", 14, "--question", "error-single"),
], ids=lambda arguments: " ".join(map(str, arguments[:2])))  # fmt: skip
def test_nothing_is_written_unasked(
    arguments: tuple[object, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert tcsmt(*arguments).exit_code in (0, 1), arguments
    assert list(tmp_path.iterdir()) == []
