"""Commands are made from calls: what one has, the other has, with the same default."""

from __future__ import annotations

import ast
import inspect
import json
import re
import shlex
import textwrap
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner

from tcsmt.interface.cli import main
from tcsmt.interface.cli.declared import Declared
from tcsmt.interop.implementations.designs import DesignFiles
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.statements.domain import Domain
from tests.support.command_line import done, refused, tcsmt
from tests.support.paths import ROOT


def leaves(group: click.Group, *path: str) -> Iterator[tuple[str, Declared]]:
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        if isinstance(command, click.Group):
            yield from leaves(command, *path, name)
        else:
            assert isinstance(command, Declared)
            yield " ".join((*path, name)), command


ALL = dict(leaves(main))
#: Where the terminal's default is another one, and why.
OTHER_DEFAULTS = {
    ("accuracy sweep", "jobs"): "a script must guard what starts processes; a command need not",
}
#: Options that are not called as their parameter: Python's words and files, and a few that are older.
OTHER_NAMES = {
    "settings": {"--set"},
    "architectures": {"--arch"},
    "language": {"--as"},
    "path": {"--input", "--data"},
}


def supplied(command: Declared) -> set[str]:
    """The parameters that a command's body hands over, and not an option alone."""
    body = ast.parse(textwrap.dedent(inspect.getsource(command.body)))
    calls = [node for node in ast.walk(body) if isinstance(node, ast.Call)]
    made = [node for node in calls if ast.unparse(node.func).startswith("call")]
    return {str(keyword.arg) for node in made for keyword in node.keywords}


def parameters(command: Declared) -> dict[str, inspect.Parameter]:
    found: dict[str, inspect.Parameter] = {}
    for call in command.calls:
        for name, parameter in inspect.signature(call).parameters.items():
            found.setdefault(name, parameter)
    return found


def test_all_commands_are_made_so() -> None:
    assert len(ALL) > 40
    assert {"compare", "gemm", "check", "accuracy sweep", "kernel diff", "certificate check"} <= ALL.keys()


@pytest.mark.parametrize("name", ALL)
def test_a_parameter_of_the_call_is_reached_from_the_command(name: str) -> None:
    """By an option, or by what the body hands over; callbacks may be left at what says nothing."""
    command = ALL[name]
    found = parameters(command)
    quiet = {key for key, one in found.items() if callable(one.default) and one.default is not one.empty}
    assert found.keys() - quiet <= command.made.keys() | supplied(command)
    assert command.made.keys() <= found.keys()


@pytest.mark.parametrize("name", ALL)
def test_an_option_of_the_command_is_of_the_call_or_the_terminal_s(name: str) -> None:
    """One that no call has is taken by the body, which says what the terminal does with it."""
    command = ALL[name]
    made = [str(one.name) for many, _ in command.made.values() for one in many]
    names = [str(one.name) for one in command.params]
    own = set(names) - set(made)
    assert len(names) == len(set(names))
    assert {"call", *own} == set(inspect.signature(command.body).parameters)


#: Parameters without a default that a command needs in one of its forms alone.
OPTIONAL = {
    ("check", "kit"),
    ("check", "unit"),
    ("export", "unit"),
    ("export", "language"),
    ("identify", "path"),
}


def unasked(many: Sequence[click.Parameter], fold: Callable[..., Any]) -> Any:
    """What the call gets of some options where none is given."""
    seen: list[Any] = []
    options = [copy(one) for one in many]
    for one in options:
        one.required = False
    command = click.Command("c", params=options, callback=lambda **given: seen.append(fold(**given)))
    assert CliRunner().invoke(command).exit_code == 0
    return seen[0]


@pytest.mark.parametrize("name", ALL)
def test_defaults_are_the_same(name: str) -> None:
    command, found = ALL[name], parameters(ALL[name])
    for key, (many, fold) in command.made.items():
        value, default = unasked(many, fold), found[key].default
        if default is inspect.Parameter.empty and isinstance(value, DesignFiles):
            assert value == DesignFiles(files=())
        elif default is inspect.Parameter.empty:
            assert many[0].required or (name, key) in OPTIONAL, key
        elif (name, key) in OTHER_DEFAULTS:
            assert value != default
        elif isinstance(value, Domain):
            assert value == (default or Domain(finite=False))
        elif isinstance(value, DesignFiles):
            assert default is None and value == DesignFiles(files=())
        elif isinstance(default, SolvingOptions):
            assert replace(value, confirm=bool(value.confirm)) == replace(
                default, confirm=bool(default.confirm)
            )
        elif not isinstance(value, SolvingOptions):  # of a call that asks no solver by default
            assert value == default or (value == str(default) and not isinstance(default, (str, int))), key


@pytest.mark.parametrize("name", ALL)
def test_names_agree(name: str) -> None:
    """An option is called as the keyword of the call; one that may be repeated in the singular."""
    for key, (many, _) in ALL[name].made.items():
        (first, *others) = many
        if others or not isinstance(first, click.Option) or OTHER_NAMES.get(key, set()) & set(first.opts):
            continue
        if str(parameters(ALL[name])[key].annotation).startswith(("SolvingOptions", "Domain", "DesignFiles")):
            continue
        words = {key, key.removesuffix("s"), f"{key.removesuffix('ies')}y"}
        assert {f"--{word.replace('_', '-')}" for word in words} & set(first.opts), (key, first.opts)


def test_earlier_names_are_taken_with_a_note(tmp_path: Path) -> None:
    ones = np.ones((1, 1), np.float32)
    np.save(tmp_path / "ones.npy", ones)
    where = ("--a", tmp_path / "ones.npy", "--b", tmp_path / "ones.npy", "--output", tmp_path / "d.npy")
    for option in (("--arch", "volta"), ("--arch=volta",)):
        result = tcsmt("accuracy", "multiply", "fp32-fma", *option, *where, "--json")
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["arch"] == "volta"
        assert result.stderr == "--arch is --unit now; tcsmt 1.0 will not take --arch\n"
    assert tcsmt("accuracy", "multiply", "fp32-fma", "--unit", "volta", *where).stderr == ""
    assert done("models", "--a-format", "e8m7fn") == tcsmt("models", "--a", "e8m7fn").stdout


def test_a_value_is_no_option() -> None:
    assert "unknown" in refused("accuracy", "bound", "--unit", "volta", "--k", "4", "--", "--arch")


def test_earlier_names_are_those_of_options_that_are_there() -> None:
    for name, command in ALL.items():
        flags = {flag for one in command.params for flag in one.opts}
        assert set(command.renamed.values()) <= flags, name
        assert not command.renamed.keys() & flags, name


def test_a_confirmed_proof_is_the_default_of_both() -> None:
    """Where the call confirms proofs that its options leave open."""
    confirmed = set()
    for name, command in ALL.items():
        if "options" in command.made and unasked(*command.made["options"]).confirm:
            confirmed.add(name)
    assert confirmed == {"compare", "atlas", "audit", "kernel configs", "kernel invariant"}
    assert SolvingOptions().confirm is None


def commands_in(text: str) -> Iterator[list[str]]:
    """The commands of a page: lines of console blocks, and what stands between backticks."""
    for line in re.findall(r"(?:^(?:\$ )?|`)tcsmt ([^`\n]*)", text, re.MULTILINE):
        try:
            yield shlex.split(line.partition(" | ")[0], comments=True)
        except ValueError:  # an apostrophe in prose
            continue


def test_pages_use_the_names_of_now() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    seen = 0
    for page in pages:
        for words in commands_in(page.read_text(encoding="utf-8")):
            name = next((one for one in (" ".join(words[:2]), words[0] if words else "") if one in ALL), None)
            if name is not None:
                seen += 1
                old = {word.partition("=")[0] for word in words} & ALL[name].renamed.keys()
                assert not old, (page.name, words)
    assert seen > 200
