"""What ``--help`` says: every command has a summary that fits and an example that its options allow."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from tcsmt.cli import main
from tcsmt.cli.lazy import Lazy


def commands(group: Lazy, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        assert command is not None
        yield (*path, name), command
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


def test_groups_fit_a_narrow_terminal() -> None:
    text = CliRunner().invoke(main, ["--help"], terminal_width=80).output
    assert "..." not in text.partition("Ask:")[2]
    for title in ("Ask:", "Simulate:", "Hardware:", "Accuracy:", "Data:"):
        assert title in text
    assert all(f"\n  {path[0]} " in text for path in ALL)


def completed(*words: str) -> list[str]:
    environment = {
        "_TCSMT_COMPLETE": "bash_complete",
        "COMP_WORDS": shlex.join(["tcsmt", *words]),
        "COMP_CWORD": str(len(words)),
    }
    result = CliRunner().invoke(main, [], env=environment, prog_name="tcsmt")
    return [line.partition(",")[2] for line in result.output.splitlines() if line.startswith("plain")]


def test_names_are_completed() -> None:
    assert completed("compare", "h") == ["hopper", "h100", "h200"]
    assert completed("explain", "hopper/wgmma.m64nNk8") == ["hopper/wgmma.m64nNk8.f32.tf32.tf32"]
    assert completed("find", "--property", "carry") == ["carry-bits"]
    assert completed("find", "--solver", "cvc") == ["cvc5"]
    assert "ootomo-halfhalf" in completed("accuracy", "bound", "oo")
    assert completed("explain", "nowhere/x") == []
