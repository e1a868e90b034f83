"""Solvers as child processes, forked from one that has the library loaded: start, wait, kill what is left."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solvers.answer import Answer, read
from tcsmt.support.invariants import not_none

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


#: Packages that are not called as their solver is.
_PACKAGES = {"z3": "z3-solver"}
_CHILD = Path(__file__).with_name("child.py")
#: Bytes of a reply; a thousand values take some ten thousand.
_MOST = 16 << 20
#: Seconds for a process to end after it has closed its output.
_PATIENCE = 60.0
#: A process ends itself at its limit of processor time. One that hangs uses none: by the clock it has so many
#: times its limit, and so many seconds more.
_HANGING = (20.0, 60.0)


def solve(text: str, options: SolvingOptions) -> Answer:
    """Return the first definite answer of the chosen solvers, or ``unknown`` with every reason.

    An answer counts once its process has ended well (:func:`tcsmt.prove.engine.solvers.answer.read`).
    """
    began = time.monotonic()
    deadline = began + longest(options)
    children: list[_Solver] = []
    failures: list[str] = []
    try:
        with selectors.DefaultSelector() as selector:
            for name in options.team:
                started = _Solver(name, _start(name, options, text))
                children.append(started)
                selector.register(started.output, selectors.EVENT_READ, started)
            while selector.get_map():
                remaining = deadline - time.monotonic()
                ready = selector.select(max(0.0, remaining)) if remaining > 0 else []
                if not ready:
                    failures += [f"{key.data.name}: hangs" for key in selector.get_map().values()]
                    break
                for key, _ in ready:
                    child: _Solver = key.data
                    if child.more():
                        continue
                    selector.unregister(key.fileobj)
                    answer = child.answer(text)
                    if answer.answer != "unknown":
                        return answer
                    failures.append(f"{child.name}: {answer.reason}")
    finally:
        for started in children:
            stop(started.process)
    seconds = time.monotonic() - began
    return Answer("unknown", options.solver, reason="; ".join(failures), seconds=seconds)


def longest(options: SolvingOptions) -> float:
    """Return the seconds by the clock after which a solver's process is taken to hang."""
    times, more = _HANGING
    return times * options.timeout + more


def installed(name: str) -> str:
    """Return the version of a solver's package, without starting it; empty where it is not installed."""
    from importlib.metadata import PackageNotFoundError, version  # slow to import

    try:
        return version(_PACKAGES.get(name, name))
    except PackageNotFoundError:
        return ""


@dataclass
class _Solver:
    """A solver at work, and what it has written so far."""

    name: str
    process: Child
    written: bytearray = field(default_factory=bytearray)

    @property
    def output(self) -> IO[bytes]:
        """Return its standard output."""
        return not_none(self.process.stdout)

    def more(self) -> bool:
        """Read what is there; whether there may be more to come, and it may be wanted."""
        part = os.read(self.output.fileno(), 1 << 16)
        self.written += part
        return bool(part) and len(self.written) <= _MOST

    def answer(self, text: str) -> Answer:
        """Return what it has answered to the script, once it has ended."""
        if len(self.written) > _MOST:
            return Answer("unknown", self.name, reason=f"wrote more than {_MOST >> 20} MiB")
        try:
            code = self.process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            return Answer("unknown", self.name, reason="closed its output and did not end")
        if code == -signal.SIGPROF:
            return Answer("unknown", self.name, reason="timeout")
        return read(self.name, text, bytes(self.written), code)


def _start(name: str, options: SolvingOptions, text: str) -> Child:
    limits = [str(options.memory), str(options.timeout), str(options.steps or 0)]
    # a file, not a pipe: a pipe that is full would wait for the child to read
    with tempfile.TemporaryFile() as file:
        file.write(text.encode())
        file.seek(0)
        return start(_CHILD, name, [name, *limits], file)
