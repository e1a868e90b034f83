"""Children: processes of solvers, forked from a process that has the library loaded (``forking.py``)."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Any

__all__ = ["Child", "spent", "start", "stop"]

_FORKING = Path(__file__).with_name("forking.py")


class _Forking:
    """A process that forks; one request at a time."""

    def __init__(self, library: str) -> None:
        self.channel, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, str(_FORKING), str(theirs.fileno()), library],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C in a terminal is for this process, which stops its children
                env={**os.environ, "PYTHONSAFEPATH": "1"},
            )
        self.lock = threading.Lock()

    def ask(self, request: list[str] | int, files: list[int], timeout: float | None = None) -> Any:
        """Return the reply. Whoever is interrupted before it has come closes the channel: the next one would
        take it for its own.
        """
        with self.lock:
            try:
                self.channel.settimeout(timeout)
                socket.send_fds(self.channel, [json.dumps(request).encode()], files)
                return json.loads(self.channel.recv(256))
            except BaseException as error:
                self.end()
                if isinstance(error, ValueError):  # of an empty reply: the process has ended
                    raise ConnectionResetError("a solver's process has ended") from None
                raise

    def end(self) -> None:
        """End it, and its forks with it (they ask the kernel for that; see ``child.py``)."""
        self.channel.close()
        self.process.kill()
        self.process.wait()


#: By process and library: a process that was forked off this one has its own.
_WARM: dict[tuple[int, str], _Forking] = {}
#: Seconds of a processor that forks have used: the system counts them as its parent's.
_USED = [0.0]


@atexit.register
def _end() -> None:
    """End the processes that this one has started."""
    for (process, _), forking in _WARM.items():
        if process == os.getpid():
            forking.end()


def spent() -> float:
    """Return the seconds of a processor that this process and its ended children have used."""
    return sum(os.times()[:4]) + _USED[0]


class Fork:
    """A child that another process forked: what is used here of :class:`subprocess.Popen`."""

    def __init__(self, forking: _Forking, pid: int, output: int) -> None:
        self._forking = forking
        self.pid = pid
        self.stdout: IO[bytes] = os.fdopen(output, "rb", 0)
        self.returncode: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """Return its exit code. Nobody knows that of a child whose own parent has ended: it ended with it."""
        if self.returncode is None:
            try:
                self.returncode, seconds = self._forking.ask(self.pid, [], timeout)
                _USED[0] += seconds
            except TimeoutError:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0.0) from None
            except OSError:
                self.returncode = -signal.SIGKILL
        return self.returncode


Child = subprocess.Popen[bytes] | Fork


def start(program: Path, library: str, arguments: list[str], script: IO[bytes]) -> Child:
    """Start a program that uses a library, and reads a script; its output is a pipe."""
    command = [str(program), *arguments]
    # who sets PYTHONPATH may have another library in mind for each question
    for _ in range(0 if "PYTHONPATH" in os.environ else 2):
        key = os.getpid(), library
        forking = _WARM.get(key) or _WARM.setdefault(key, _Forking(library))
        ours, theirs = os.pipe()
        try:
            return Fork(forking, forking.ask(command, [script.fileno(), theirs])[0], ours)
        except BaseException as error:
            os.close(ours)
            _WARM.pop(key, None)
            if not isinstance(error, OSError):
                raise
        finally:
            os.close(theirs)
    return subprocess.Popen(
        [sys.executable, *command],
        stdin=script,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        # the child's folder holds this package's modules, not the solver libraries
        env={**os.environ, "PYTHONSAFEPATH": "1"},
    )


def stop(child: Child) -> None:
    """Kill a child that has not ended, and close its output."""
    if child.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    if child.stdout is not None:
        child.stdout.close()
