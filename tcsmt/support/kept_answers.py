"""Answers that a program gave, in a file that grows: what was asked is not asked again after a stop."""

from __future__ import annotations

import hashlib
from io import SEEK_END
from pathlib import Path
from typing import BinaryIO

from tcsmt.support.checkpoint import GOES_ON, LockedFile
from tcsmt.support.errors import TcsmtError
from tcsmt.support.files import wrote
from tcsmt.support.interrupts import stops_waiting
from tcsmt.support.text import counted

__all__ = ["AnswerLog"]

_HEAD = b"tcsmt answers 1\n"
_KEY, _LENGTH = 32, 4


class AnswerLog(LockedFile):
    """Answers by what was asked; a context manager.

    about: whose answers these are. A record is the SHA-256 of ``about`` and the question, the answer's length
    (four bytes, the lowest first), and the answer. A record that a stop has cut short is written anew.
    Raises :class:`.TcsmtError` for a file of another kind, or one that cannot be written, or that another run
    has.
    """

    def __init__(self, path: Path, about: str) -> None:
        self._about, self._known = hashlib.sha256(about.encode()), dict[bytes, bytes]()
        self._whole = 0
        super().__init__(path)
        try:
            self._file: BinaryIO = path.open("r+b" if self._whole else "w+b")
            self._file.truncate(self._whole)
            self._file.seek(0, SEEK_END)
            if not self._whole:
                self._file.write(_HEAD)
        except OSError as error:
            super().close()
            raise TcsmtError(f"{path}: {error.strerror}") from None

    def _take(self, path: Path) -> None:
        try:
            content = path.read_bytes()
        except OSError as error:
            raise TcsmtError(f"{path}: {error.strerror}") from None
        if not content.startswith(_HEAD):
            if not _HEAD.startswith(content):  # else a stop has cut the head short
                raise TcsmtError(f"{path} is not a file of kept answers")
            return
        self._whole = self._read(content)

    @property
    def _held(self) -> str:
        count = len(self._known)
        return f"{counted(count, 'entry', 'entries')}; {GOES_ON}" if count else ""

    def _read(self, content: bytes) -> int:
        """Every whole record; where the last one ends."""
        place = len(_HEAD)
        while True:
            start = place + _KEY + _LENGTH
            length = int.from_bytes(content[place + _KEY : start], "little")
            if start > len(content) or start + length > len(content):
                return place
            self._known[content[place : place + _KEY]] = content[start : start + length]
            place = start + length

    def _key(self, question: bytes) -> bytes:
        whole = self._about.copy()
        whole.update(question)
        return whole.digest()

    def get(self, question: bytes) -> bytes | None:
        """Return the answer, if there is one."""
        return self._known.get(self._key(question))

    def put(self, question: bytes, answer: bytes) -> None:
        """Keep an answer; it is in the file when this returns."""
        key = self._key(question)
        assert self.path is not None
        with stops_waiting():
            self._known[key] = answer
            self._file.write(key + len(answer).to_bytes(_LENGTH, "little") + answer)
            self._file.flush()
            wrote(self.path, self._held)

    def close(self) -> None:
        """Close the file, and let other runs have it."""
        if hasattr(self, "_file"):
            self._file.close()
        super().close()
