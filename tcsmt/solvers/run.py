"""Start solvers as child processes, wait, and kill what is left."""

from __future__ import annotations

import contextlib
import json
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

from tcsmt.errors import TcsmtError, choose

__all__ = ["CHOICES", "SOLVERS", "Answer", "Answered", "Settings", "solve"]

#: Every solver, fastest on these queries first (see ``benchmarks/queries.py``).
SOLVERS = ("bitwuzla", "z3", "cvc5")
#: What ``--solver`` takes: ``auto`` is the fastest one, ``portfolio`` races them all.
CHOICES = ("auto", *SOLVERS, "portfolio")
_CHILD = Path(__file__).with_name("child.py")


@dataclass(frozen=True)
class Settings:
    """How to solve: which solver, seconds for each query, MiB for each process."""

    solver: str = "auto"
    timeout: float = 60.0
    memory: int = 8192

    def __post_init__(self) -> None:
        choose("solver", self.solver, CHOICES)
        if not 0 < self.timeout <= 1e6:
            raise TcsmtError(f"timeout = {self.timeout}: allowed is over 0 and up to 1000000 seconds")
        if not 64 <= self.memory <= 1 << 20:
            raise TcsmtError(f"memory = {self.memory}: allowed is from 64 to {1 << 20} MiB")

    @property
    def team(self) -> tuple[str, ...]:
        """The solvers that are started."""
        if self.solver == "portfolio":
            return SOLVERS
        return SOLVERS[:1] if self.solver == "auto" else (self.solver,)


class Answered:
    """What a solver answered, or the simulator, the simplifier, before one was asked."""

    solver: str
    version: str

    @property
    def by(self) -> str:
        """Who, with the version where there is one."""
        return f"{self.solver} {self.version}".strip()


@dataclass(frozen=True)
class Answer(Answered):
    """A solver's answer to one script: ``sat``, ``unsat`` or ``unknown`` (with the reason)."""

    answer: str
    solver: str
    version: str = ""
    seconds: float = 0.0
    values: dict[str, int] = field(default_factory=dict)
    reason: str = ""


def solve(text: str, settings: Settings) -> Answer:
    """The first definite answer of the chosen solvers, or ``unknown`` with every reason."""
    question = text.partition("(check-sat)")[0]
    start = time.monotonic()
    deadline = start + settings.timeout
    children: dict[str, subprocess.Popen[bytes]] = {}
    replies: dict[str, bytes] = {}
    failures: list[str] = []
    try:
        with selectors.DefaultSelector() as selector:
            for name in settings.team:
                child = _start(name, settings, question)
                children[name] = child
                assert child.stdout is not None
                selector.register(child.stdout, selectors.EVENT_READ, name)
            while selector.get_map():
                left = deadline - time.monotonic()
                ready = selector.select(max(0.0, left)) if left > 0 else []
                if not ready:
                    failures += [f"{key.data}: timeout" for key in selector.get_map().values()]
                    break
                for key, _ in ready:
                    name = key.data
                    if part := os.read(key.fd, 1 << 16):
                        replies[name] = replies.get(name, b"") + part
                        continue
                    selector.unregister(key.fileobj)
                    answer = _read(name, replies.get(name, b""), children[name])
                    if answer.answer != "unknown":
                        return answer
                    failures.append(f"{name}: {answer.reason}")
    finally:
        for child in children.values():
            _stop(child)
    seconds = time.monotonic() - start
    return Answer("unknown", settings.solver, reason="; ".join(failures), seconds=seconds)


def _start(name: str, settings: Settings, question: str) -> subprocess.Popen[bytes]:
    limits = [str(settings.memory), str(math.ceil(settings.timeout) + 1)]
    # a file, not a pipe: a pipe that is full would wait for the child to read
    with tempfile.TemporaryFile() as file:
        file.write(question.encode())
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


def _read(name: str, line: bytes, child: subprocess.Popen[bytes]) -> Answer:
    try:
        reply = json.loads(line)
        reply["values"] = {key.strip("|"): word for key, word in reply.get("values", {}).items()}
        return Answer(solver=name, **reply)
    except (ValueError, AttributeError, TypeError):
        code = child.wait()
        why = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return Answer("unknown", name, reason=f"crashed ({why})")


def _stop(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    if child.stdout is not None:
        child.stdout.close()
