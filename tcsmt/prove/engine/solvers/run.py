"""Start solvers as child processes, wait, and kill what is left."""

from __future__ import annotations

import contextlib
import math
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from tcsmt.prove.engine.solvers.answer import Answer, read
from tcsmt.support.errors import TcsmtError, choose
from tcsmt.support.invariants import present

__all__ = ["CHOICES", "SOLVERS", "Settings", "installed", "solve"]

#: Every solver, fastest on these queries first (see ``benchmarks/queries.py``).
SOLVERS = ("bitwuzla", "z3", "cvc5")
#: What ``--solver`` takes: ``auto`` is the fastest one, ``portfolio`` races them all.
CHOICES = ("auto", *SOLVERS, "portfolio")
#: Packages that are not called as their solver is.
_PACKAGES = {"z3": "z3-solver"}
_CHILD = Path(__file__).with_name("child.py")
#: Bytes of a reply; a thousand values take some ten thousand.
_MOST = 16 << 20
#: Seconds for a process to end after it has closed its output.
_PATIENCE = 5.0


@dataclass(frozen=True)
class Settings:
    """How to solve: which solver, seconds for each query, MiB for each process."""

    solver: str = "auto"
    timeout: float = 60.0
    memory: int = 8192

    def __post_init__(self) -> None:
        object.__setattr__(self, "solver", choose("solver", self.solver, CHOICES))
        if not 0 < self.timeout <= 1e6:
            raise TcsmtError(f"timeout = {self.timeout}: must be over 0 and up to 1000000 seconds")
        if not 64 <= self.memory <= 1 << 20:
            raise TcsmtError(f"memory = {self.memory}: must be from 64 to {1 << 20} MiB")

    @property
    def team(self) -> tuple[str, ...]:
        """The solvers that are started."""
        if self.solver == "portfolio":
            return SOLVERS
        return SOLVERS[:1] if self.solver == "auto" else (self.solver,)


def solve(text: str, settings: Settings) -> Answer:
    """The first definite answer of the chosen solvers, or ``unknown`` with every reason.

    An answer counts once its process has ended well (:func:`tcsmt.prove.engine.solvers.answer.read`).
    """
    start = time.monotonic()
    deadline = start + settings.timeout
    children: list[_Child] = []
    failures: list[str] = []
    try:
        with selectors.DefaultSelector() as selector:
            for name in settings.team:
                started = _Child(name, _start(name, settings, text))
                children.append(started)
                selector.register(started.output, selectors.EVENT_READ, started)
            while selector.get_map():
                remaining = deadline - time.monotonic()
                ready = selector.select(max(0.0, remaining)) if remaining > 0 else []
                if not ready:
                    failures += [f"{key.data.name}: timeout" for key in selector.get_map().values()]
                    break
                for key, _ in ready:
                    child: _Child = key.data
                    if child.more():
                        continue
                    selector.unregister(key.fileobj)
                    answer = child.answer(text, deadline)
                    if answer.answer != "unknown":
                        return answer
                    failures.append(f"{child.name}: {answer.reason}")
    finally:
        for started in children:
            _stop(started.process)
    seconds = time.monotonic() - start
    return Answer("unknown", settings.solver, reason="; ".join(failures), seconds=seconds)


def installed(name: str) -> str:
    """The version of a solver's package, without starting it; empty where it is not installed."""
    from importlib.metadata import PackageNotFoundError, version  # slow to import

    try:
        return version(_PACKAGES.get(name, name))
    except PackageNotFoundError:
        return ""


@dataclass
class _Child:
    """A solver at work, and what it has written so far."""

    name: str
    process: subprocess.Popen[bytes]
    written: bytearray = field(default_factory=bytearray)

    @property
    def output(self) -> IO[bytes]:
        """Its standard output."""
        return present(self.process.stdout)

    def more(self) -> bool:
        """Read what is there; whether there may be more to come, and it may be wanted."""
        part = os.read(self.output.fileno(), 1 << 16)
        self.written += part
        return bool(part) and len(self.written) <= _MOST

    def answer(self, text: str, deadline: float) -> Answer:
        """What it has answered to the script, once it has ended."""
        if len(self.written) > _MOST:
            return Answer("unknown", self.name, reason=f"wrote more than {_MOST >> 20} MiB")
        try:
            code = self.process.wait(min(_PATIENCE, max(0.0, deadline - time.monotonic())))
        except subprocess.TimeoutExpired:
            return Answer("unknown", self.name, reason="closed its output and did not end")
        return read(self.name, text, bytes(self.written), code)


def _start(name: str, settings: Settings, text: str) -> subprocess.Popen[bytes]:
    limits = [str(settings.memory), str(math.ceil(settings.timeout) + 1)]
    # a file, not a pipe: a pipe that is full would wait for the child to read
    with tempfile.TemporaryFile() as file:
        file.write(text.encode())
        file.seek(0)
        return subprocess.Popen(
            [sys.executable, str(_CHILD), name, *limits],
            stdin=file,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            # the child's folder holds this package's modules, not the solver libraries
            env={**os.environ, "PYTHONSAFEPATH": "1"},
        )


def _stop(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    if child.stdout is not None:
        child.stdout.close()
