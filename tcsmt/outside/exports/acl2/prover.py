"""ACL2 as a process: forms go in, what it prints comes out."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import signal
import subprocess
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from tcsmt.support.errors import TcsmtError
from tcsmt.support.escaping import lisp_string

__all__ = ["Prover", "ProverStopped", "prover_path"]

_LOST = 3.0  # seconds: after an error in Lisp, ACL2 forgets what was sent
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
    """An ACL2 session in a folder, to be used in a ``with`` statement. program: ACL2, or one saved by it.

    It starts in an empty folder and reads books from the other one: Lisp and ACL2 run the files ``init.lsp``
    and ``acl2-customization.lsp`` of the folder in which they start, and books may come from strangers. That
    folder is its home, too: ACL2 does not start where ``HOME`` is no folder.
    """

    def __init__(self, folder: Path, program: Path) -> None:
        self._folder, self._program = folder, program

    @property
    def start(self) -> Path:
        """Return the folder in which it has started: there, until it ends."""
        return Path(self._start.name)

    def __enter__(self) -> Self:
        self._start = tempfile.TemporaryDirectory(prefix="tcsmt-")
        self._process = subprocess.Popen(
            [self._program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            cwd=self._start.name,
            env=os.environ | {"ACL2_CUSTOMIZATION": "NONE", "HOME": self._start.name},
            start_new_session=True,
        )
        try:
            self.send(f"(set-debugger-enable nil)\n(set-cbd {lisp_string(f'{self._folder}/')})", 60)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._kill()
        self._process.wait()
        self._start.cleanup()

    def _kill(self) -> None:
        """With what it has started, which would keep what is read from it open."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    @property
    def megabytes(self) -> int:
        """Return the memory that it has; 0 where the system does not say."""
        try:
            status = Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii")
        except OSError:
            return 0
        resident = re.search(r"VmRSS:\s+(\d+) kB", status)
        return int(resident.group(1)) >> 10 if resident else 0

    def send(self, forms: str, timeout: float) -> str:
        """Return what is printed while the forms are evaluated. timeout: in seconds.

        Raises :class:`ProverStopped` where it takes longer, and ends the session.
        """
        mark = f"end-of-forms-{secrets.token_hex(16)}"  # nothing that a form prints can look like it
        end = f'(cw "~%~s0~%" "{mark}")'
        stdout = self._process.stdout
        assert stdout is not None
        timers = [threading.Timer(timeout, self._kill)]
        timers[0].start()
        printed: list[str] = []
        try:
            self._write(f"{forms}\n{end}\n")
            for line in stdout:
                if line.strip() == mark:
                    return "".join(printed)
                printed.append(line)
                if "ABORTING from raw Lisp" in line:  # what was not read yet is lost then, the mark, too
                    timers.append(threading.Timer(_LOST, self._write, [f"{end}\n"]))
                    timers[-1].start()
        finally:
            for timer in timers:
                timer.cancel()
        tail = "".join(printed)[-500:]
        raise ProverStopped(f"ACL2 did not answer within {timeout:g} s, or ended: {tail}")

    def _write(self, forms: str) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it has ended: so does what it prints
            self._process.stdin.write(forms)
            self._process.stdin.flush()
