"""ACL2 as a process: forms go in, what it prints comes out."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from tcsmt.support.errors import TcsmtError

__all__ = ["Prover", "ProverStopped", "prover_path"]

_PACKAGES = "acl2, acl2-books and acl2-books-certs"


class ProverStopped(Exception):
    """ACL2 did not answer in time, or ended."""


def prover_path() -> str:
    """Where ACL2 is. Raises :class:`.TcsmtError` where it is not installed."""
    path = shutil.which("acl2")
    if path is None:
        raise TcsmtError(f"ACL2 is not installed: on Debian it is in the packages {_PACKAGES}")
    return path


class Prover:
    """An ACL2 session in a folder, to be used in a ``with`` statement."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = itertools.count(1)

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [prover_path()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            cwd=self._folder,
            start_new_session=True,
        )
        self.send("(set-debugger-enable nil)", 60)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()

    def send(self, forms: str, timeout: float) -> str:
        """What is printed while the forms are evaluated. timeout: in seconds.

        Raises :class:`ProverStopped` where it takes longer, and ends the session.
        """
        mark = f"end-of-forms-{os.getpid()}-{next(self._numbers)}"
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        timer = threading.Timer(timeout, self._process.kill)
        timer.start()
        printed: list[str] = []
        try:
            stdin.write(f'{forms}\n(cw "~%~s0~%" "{mark}")\n')
            stdin.flush()
            for line in stdout:
                if line.strip() == mark:
                    return "".join(printed)
                printed.append(line)
        except BrokenPipeError:
            pass
        finally:
            timer.cancel()
        tail = "".join(printed)[-500:]
        raise ProverStopped(f"ACL2 did not answer within {timeout:g} s, or ended: {tail}")
