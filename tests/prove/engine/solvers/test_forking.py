"""The process that forks, asked over its socket."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tcsmt.prove.engine.solvers import run

PROGRAM = Path(run.__file__).with_name("forking.py")


@pytest.fixture
def channel() -> Iterator[socket.socket]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        command = [sys.executable, str(PROGRAM), str(theirs.fileno()), "a_library_that_is_not_there"]
        process = subprocess.Popen(command, pass_fds=[theirs.fileno()])
        theirs.close()
        yield ours
    assert process.wait(60) == 0  # it ends when the channel is closed


@pytest.mark.parametrize(
    ("code", "ended", "output"),
    [
        ("import sys; print(sys.argv[1:])", 0, b"['1', 'two']\n"),
        ("print(input() * 2)", 0, b"onlyonly\n"),
        ("raise SystemExit(7)", 7, b""),
        ("raise ValueError", 1, b""),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL, b""),
    ],
)
def test_a_fork_is_as_a_new_process(
    channel: socket.socket, tmp_path: Path, code: str, ended: int, output: bytes
) -> None:
    program, script = tmp_path / "program.py", tmp_path / "script"
    program.write_text(code)
    script.write_text("only\n")
    for _ in range(2):
        read, write = os.pipe()
        with script.open() as file:
            request = json.dumps([str(program), "1", "two"]).encode()
            socket.send_fds(channel, [request], [file.fileno(), write])
            (fork,) = json.loads(channel.recv(64))
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            assert pipe.read() == output
        channel.sendall(b"%d" % fork)
        exit_code, seconds = json.loads(channel.recv(64))
        assert exit_code == ended and 0 < seconds < 10
