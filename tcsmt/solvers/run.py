"""Start solvers as child processes, wait, and kill what is left."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from tcsmt.errors import TcsmtError, choose

__all__ = ["CHOICES", "SOLVERS", "Answer", "Settings", "solve"]

#: Every solver, fastest on these queries first (see ``benchmarks/solvers.py``).
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
        if not self.timeout > 0:
            raise TcsmtError(f"timeout = {self.timeout}: allowed is a positive number of seconds")
        if self.memory < 64:
            raise TcsmtError(f"memory = {self.memory}: allowed is at least 64 MiB")

    @property
    def team(self) -> tuple[str, ...]:
        """The solvers that are started."""
        if self.solver == "portfolio":
            return SOLVERS
        return SOLVERS[:1] if self.solver == "auto" else (self.solver,)


@dataclass(frozen=True)
class Answer:
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
    deadline = time.monotonic() + settings.timeout
    children: dict[str, subprocess.Popen[bytes]] = {}
    failures: list[str] = []
    try:
        with selectors.DefaultSelector() as selector:
            for name in settings.team:
                child = _start(name, settings.memory, question)
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
                    selector.unregister(key.fileobj)
                    answer = _read(key.data, children[key.data])
                    if answer.answer != "unknown":
                        return answer
                    failures.append(f"{key.data}: {answer.reason}")
    finally:
        for child in children.values():
            _stop(child)
    return Answer("unknown", settings.solver, reason="; ".join(failures), seconds=settings.timeout)


def _start(name: str, memory: int, question: str) -> subprocess.Popen[bytes]:
    child = subprocess.Popen(
        [sys.executable, str(_CHILD), name, str(memory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        # the child's folder holds this package's modules, not the solver libraries
        env={**os.environ, "PYTHONSAFEPATH": "1"},
    )
    assert child.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        child.stdin.write(question.encode())
        child.stdin.close()
    return child


def _read(name: str, child: subprocess.Popen[bytes]) -> Answer:
    assert child.stdout is not None
    line = child.stdout.read()
    try:
        reply = json.loads(line)
    except json.JSONDecodeError:
        code = child.wait()
        why = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return Answer("unknown", name, reason=f"crashed ({why})")
    reply["values"] = {key.strip("|"): value for key, value in reply.get("values", {}).items()}
    return Answer(solver=name, **reply)


def _stop(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    if child.stdout is not None:
        child.stdout.close()
