"""What ``--help`` says: every command has a summary that fits and an example that its options allow."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import click
import pytest

from tcsmt.interface.cli import main
from tcsmt.interface.cli.lazy import Lazy


def commands(group: Lazy, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        assert command is not None
        yield (*path, *name.split()), command  # "quantise compare" stands beside "quantise"
        if isinstance(command, Lazy):
            yield from commands(command, (*path, name))


ALL = dict(commands(main))


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_examples_parse(path: tuple[str, ...]) -> None:
    """Each example is of this command (or of one in the group), and click takes its options and arguments."""
    _, _, examples = (ALL[path].help or "").partition("Examples:\n")
    lines = [line.strip() for line in examples.partition("\n\n")[0].splitlines() if line.strip()]
    assert lines
    for line in lines:
        program, *words = shlex.split(line.partition(" > ")[0])
        assert program == "tcsmt"
        assert tuple(words[: len(path)]) == path
        chosen = ALL[path]
        rest = words[len(path) :]
        if isinstance(chosen, Lazy):
            chosen = ALL[(*path, rest[0])]
            rest = rest[1:]
        with chosen.make_context(line, rest):
            pass


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_sections_of_options_list_options_alone(path: tuple[str, ...]) -> None:
    """Arguments are in the line of usage."""
    command = ALL[path]
    context = click.Context(command)
    formatter = context.make_formatter()
    command.format_options(context, formatter)
    names = [
        re.split(r"\s\s", line.strip())[0]
        for line in formatter.getvalue().splitlines()
        if re.match(r"  \S", line)
    ]
    assert any(re.match(r"-h,|--help", name) for name in names)
    listed = [name for name in names if not name.startswith("-")]
    assert listed == ([*command.summaries] if isinstance(command, Lazy) else [])
