"""A program that is asked through its standard input and answers on its standard output, many times."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence

from tcsmt.support.errors import TcsmtError

_CHUNK = 1 << 16


class ConversationEnded(TcsmtError):
    """The program ended, or gave no answer in time."""


class Conversation:
    """A program that runs until :meth:`close`; its standard error is kept for messages.

    name: what messages call it. Raises :class:`.TcsmtError` where it cannot be started.
    """

    def __init__(self, name: str, command: Sequence[str]) -> None:
        self.name = name
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 (closed by close)
        try:
            self._child = subprocess.Popen(
                list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, bufsize=0
            )
        except OSError as error:
            self._said.close()
            raise TcsmtError(f"{name}: {error.strerror}") from None
        for pipe in (self._child.stdin, self._child.stdout):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)

    def exchange(self, given: bytes, wanted: int, timeout: float) -> bytes:
        """Write bytes, and read as many as are wanted. timeout: seconds without any progress.

        Raises :class:`ConversationEnded`.
        """
        child = self._child
        assert child.stdin is not None
        assert child.stdout is not None
        remaining, answer = memoryview(given), bytearray()
        with selectors.DefaultSelector() as ready:
            ready.register(child.stdout, selectors.EVENT_READ)
            if remaining:
                ready.register(child.stdin, selectors.EVENT_WRITE)
            while remaining or len(answer) < wanted:
                begun = time.monotonic()
                events = ready.select(timeout)
                if not events and time.monotonic() - begun >= timeout:
                    progress = f" ({len(answer)} of {wanted} bytes came)" if answer else ""
                    raise ConversationEnded(f"{self.name}: no answer within {timeout:g} s{progress}")
                for key, _ in events:
                    if key.fileobj is child.stdout:
                        more = child.stdout.read(_CHUNK)
                        if not more:
                            raise self._ended()
                        answer += more
                        continue
                    try:
                        remaining = remaining[os.write(child.stdin.fileno(), remaining[:_CHUNK]) :]
                    except OSError:
                        raise self._ended() from None
                    if not remaining:
                        ready.unregister(child.stdin)
        if len(answer) > wanted:
            raise ConversationEnded(
                f"{self.name}: it wrote {len(answer)} bytes, where {wanted} were expected"
            )
        return bytes(answer)

    def close(self) -> None:
        """End the program."""
        self._child.kill()
        self._child.wait()
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                pipe.close()
        self._said.close()

    def _ended(self) -> ConversationEnded:
        code = self._child.wait()
        self._said.seek(0)
        lines = self._said.read(_CHUNK).decode(errors="replace").split("\n")
        text = " | ".join(line.strip() for line in lines[:4] if line.strip())
        return ConversationEnded(f"{self.name}: it ended with {code}: {text or 'no message'}")


def ended(code: int) -> str:
    """Return how a process ended, by its exit code (negative: the signal)."""
    if code >= 0:
        return f"exit code {code}"
    names = {number.value: number.name for number in signal.Signals}
    return names.get(-code, f"signal {-code}")
