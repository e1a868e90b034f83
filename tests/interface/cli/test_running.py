"""How commands end where nothing can be printed, or something fails: not as after an answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import click
import pytest

from tcsmt.interface.cli import main
from tcsmt.interface.cli.running import run
from tcsmt.support.errors import Exit
from tests.support.command_line import process

#: Commands that print results, quickly.
RESULTS = [
    ["models"], ["models", "--json"], ["properties"], ["describe", "volta"], ["describe", "volta", "--json"],
    ["accuracy", "algorithms"], ["models", "--toml", "volta"], ["export", "volta", "--as", "c"],
    ["explain", "volta", "--vector", "a0=1 b0=1"], ["--version"],
]  # fmt: skip


def _named(group: click.Group, before: tuple[str, ...] = ()) -> Iterator[list[str]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield [*before, name]
        if isinstance(command, click.Group):
            yield from _named(command, (*before, name))


COMMANDS = [*([*names, "--help"] for names in _named(main)), ["--help"], *RESULTS]


def _full() -> TextIO:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    return open("/dev/full", "w", encoding="utf-8")


def _without_reader() -> TextIO:
    reading, writing = os.pipe()
    os.close(reading)
    return os.fdopen(writing, "w", encoding="utf-8")


def _ended(monkeypatch: pytest.MonkeyPatch, stream: TextIO, command: Any, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["tcsmt", *arguments])
    monkeypatch.setattr(sys, "stdout", stream)
    try:
        return run(command)
    finally:
        monkeypatch.undo()
        stream.close()


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_what_cannot_be_printed_is_no_answer(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert _ended(monkeypatch, _full(), main, *arguments) == Exit.BAD_INPUT
    assert _ended(monkeypatch, _without_reader(), main, *arguments) == 128 + 13


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["--help"], ["models", "--json"], ["describe", "volta"]], ids=" ".join)
def test_processes_end_so_too(arguments: list[str]) -> None:
    """To the end of the interpreter, which flushes once more; with a closed standard output, too."""
    with _full() as full:
        done = process_to(full, *arguments)
        assert done == (2, "Error: cannot write: No space left on device\n")
    with _without_reader() as pipe:
        assert process_to(pipe, *arguments) == (141, "")


def process_to(stream: TextIO, *arguments: str) -> tuple[int, str]:
    import subprocess

    command = [sys.executable, "-m", "tcsmt", *arguments]
    done = subprocess.run(command, stdout=stream, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stderr


def _raising(error: BaseException) -> click.Command:
    @click.command()
    def command() -> None:
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (KeyError("x"), "Error: an error in tcsmt, no answer: KeyError: 'x' ("),
        (RecursionError("deep"), "RecursionError: deep"),
        (MemoryError(), "Error: there is not enough memory\n"),
        (OSError(28, "No space left on device", "f.json"), "Error: f.json: No space left on device\n"),
        (BrokenPipeError(32, "Broken pipe"), "Error: a pipe to another program is closed\n"),
        (click.FileError("f", "why"), "f"), (click.Abort(), "Error: aborted\n"), (EOFError(), "aborted"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)  # fmt: skip
def test_errors_are_no_answers(
    error: BaseException, says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["tcsmt"])
    assert run(_raising(error)) == Exit.BAD_INPUT
    told = capsys.readouterr()
    assert says in told.err and "Traceback" not in told.err and not told.out
    if isinstance(error, KeyError):
        monkeypatch.setenv("TCSMT_TRACEBACK", "1")
        assert run(_raising(error)) == Exit.BAD_INPUT and "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("code", [0, 1, 3, 4, 130])
def test_answers_keep_their_exit_codes(code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["tcsmt"])
    assert run(_raising(SystemExit(code))) == run(_raising(click.exceptions.Exit(code))) == code


def test_a_closed_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert run(main) == Exit.BAD_INPUT


@pytest.mark.slow
def test_a_full_disk_is_not_a_propertys_fault(tmp_path: Path) -> None:
    """Nothing can be written, not even a temporary file: the property that asks is not to blame."""
    pytest.importorskip("pysolvers", reason="the extra `certificates` is not installed")

    def full() -> None:
        import resource
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    done = process(
        "find",
        "--property",
        "carry-bits",
        "--arch",
        "volta",
        "--certificate",
        tmp_path / "c",
        preexec_fn=full,
    )
    assert done.returncode == 2
    assert "carry_bits.py" not in done.stderr and done.stderr.count("\n") <= 2, done.stderr
