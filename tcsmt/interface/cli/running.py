"""Running the command line: whatever ends it, 1 is the exit code of an answer alone."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TextIO

import click

from tcsmt.interface.api.terminal import Exit

#: What a shell says of a program that SIGPIPE ended; Python ignores that signal, and a write fails.
_BROKEN_PIPE = 128 + 13


def run(command: Callable[..., Any]) -> int:
    """Run a command of click, to the last byte of what it prints, and return the exit code."""
    if sys.stdout is None:
        return _failed("standard output is closed: the result cannot be printed")
    output = sys.stdout
    try:
        code = _ended(command)
    except OSError as error:
        code = _failed(_what(error))
    except MemoryError as error:
        code = _failed(f"there is not enough memory{f': {error}' if str(error) else ''}")
    except Exception as error:
        code = _unexpected(error)
    pipe, sys.stdout = sys.stdout is not output, output  # where a pipe is closed, click takes another stream
    without_reader, lost = _has_no_reader(output), _lost(output)
    if without_reader:
        return _BROKEN_PIPE if pipe or lost is not None else code
    if pipe:
        return _failed("a pipe to another program is closed")
    return code if lost is None else _failed(_what(lost))


def _ended(command: Callable[..., Any]) -> int:
    """Return the exit code of a command that ends as commands do."""
    try:
        code = command(standalone_mode=False)
    except SystemExit as stopped:
        code = stopped.code
    except click.FileError as error:
        return _failed(error.format_message())
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        return _failed("aborted")
    return code if isinstance(code, int) else Exit.ANSWERED


def _unexpected(error: Exception) -> int:
    """Say that it is this package's fault, and where; with TCSMT_TRACEBACK set, all of the traceback."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f" ({trace.tb_frame.f_code.co_filename}:{trace.tb_lineno})" if trace is not None else ""
    if os.environ.get("TCSMT_TRACEBACK"):
        import traceback

        traceback.print_exception(error)
    what = str(error).partition("\n")[0]
    return _failed(
        f"an error in tcsmt, no answer: {type(error).__name__}: {what:.500}{where}; "
        "TCSMT_TRACEBACK=1 shows more, for a report"
    )


def _what(error: OSError) -> str:
    where = "cannot write" if error.filename is None else os.fsdecode(error.filename)
    return f"{where}: {error.strerror}" if error.strerror else str(error)


def _failed(message: str) -> int:
    with suppress(OSError):  # else nobody can be told
        click.echo(f"Error: {message}", err=True)
    return Exit.BAD_INPUT


def _has_no_reader(stream: TextIO) -> bool:
    """Return whether a stream is a pipe whose other end is closed."""
    try:
        poll = select.poll()
        poll.register(stream.fileno(), 0)
        return any(event & select.POLLERR for _, event in poll.poll(0))
    except (OSError, ValueError):  # not a file of the system
        return False


def _lost(stream: TextIO) -> OSError | None:
    """Why what was printed last cannot be written; if so, nothing more is tried, at the end either."""
    try:
        stream.flush()
    except OSError as error:
        with suppress(OSError, ValueError):  # a stream that is not a file of the system
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return error
    return None
