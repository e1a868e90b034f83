"""Start solvers as child processes, wait, and kill what is left."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solvers.answer import Answer, read
from tcsmt.prove.engine.solvers.children import Child, start, stop
from tcsmt.support.invariants import present

__all__ = ["installed", "longest", "solve"]

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
        """Its standard output."""
        return present(self.process.stdout)

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
