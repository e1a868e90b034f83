"""A checkpoint: the results of a long run so far, in a file from which the next run goes on.

One run at a time has the file. A :class:`Checkpoint` is a JSON file that is whole after each step: it is
replaced in one step, so that a full disk, Ctrl-C or a crash leaves the one before it. An :class:`AnswerLog`
grows by a line for each answer that a program gave: what was asked is not asked again after a stop."""

from __future__ import annotations

import hashlib
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from io import SEEK_END
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from tcsmt.support.errors import TcsmtError
from tcsmt.support.files import forget, json_of, read_bytes, replace_text, wrote
from tcsmt.support.interrupts import stops_waiting
from tcsmt.support.text import counted

Record = dict[str, Any]

#: How to go on, for a run that is stopped.
GOES_ON = "the same command goes on from there"


def _nothing(records: Mapping[str, Record]) -> Record:
    return {}


@dataclass(frozen=True)
class Layout:
    """The places of records in a file.

    name: the field that holds them; "": they are all that the file has. key: a record's key, where the
    records are an array; None: they are an object, by key. head: the file's other fields, from the records.
    """

    name: str = ""
    key: Callable[[Record], str] | None = None
    head: Callable[[Mapping[str, Record]], Record] = _nothing

    @property
    def expected(self) -> str:
        """Return what a file of this layout is, for messages."""
        records = "object" if self.key is None else "array"
        if not self.name:
            return f"a JSON {records} of records"
        return f"a JSON object with an {records} of records in {self.name!r}"

    def text(self, records: Mapping[str, Record], lines: Mapping[str, str]) -> str:
        """Return the file; lines: each record as JSON, by key."""
        if self.key is None:
            body = ",\n".join(f"{_json(key)}: {lines[key]}" for key in records)
            body = f"{{\n{body}\n}}"
        else:
            body = ",\n".join(lines[key] for key in records)
            body = f"[\n{body}\n]"
        if not self.name:
            return f"{body}\n"
        head = "".join(f"{_json(name)}: {_json(value)},\n" for name, value in self.head(records).items())
        return f"{{{head}{_json(self.name)}: {body}}}\n"

    def parts(self, data: Any) -> tuple[Record, dict[str, Record]]:
        """Return the other fields and the records of a file; an error of Python's where it has another
        layout.
        """
        head = {name: value for name, value in data.items() if name != self.name} if self.name else {}
        section = data[self.name] if self.name else data
        if not isinstance(section, dict if self.key is None else list):
            raise TypeError(f"records are {self.expected}")
        records = dict(section) if self.key is None else {self.key(record): record for record in section}
        if not all(isinstance(record, dict) for record in records.values()):
            raise TypeError("a record is an object")
        return head, records


class LockedFile(ABC):
    """A file of results that one run at a time has; with no path it is kept nowhere.

    Raises :class:`.TcsmtError` where another run has the file, and where :meth:`_take` refuses it: then
    nobody has it.
    """

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = path = None if path is None else Path(path)
        self._lock = _lock_beside(path) if path is not None else None
        if path is None or not path.exists():
            return
        try:
            self._take(path)
        except TcsmtError:
            self.close()
            raise
        if self._held:
            wrote(path, self._held)

    @abstractmethod
    def _take(self, path: Path) -> None:
        """Go on from what the file has."""

    @property
    @abstractmethod
    def _held(self) -> str:
        """Return what the file has, for a run that is stopped; empty where that is nothing."""

    def close(self) -> None:
        """Let other runs have the file."""
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self.close()


class Checkpoint(LockedFile):
    """Records by key, kept in a file.

    records: those of the file and of this run. before: the other fields that the file had. Raises
    :class:`.TcsmtError` also where the file has another layout, and where it cannot be read or written;
    ``option`` is what gave the path, for the message.
    """

    def __init__(self, path: str | os.PathLike[str] | None, layout: Layout, option: str = "") -> None:
        self.layout, self.option = layout, option
        self.records: dict[str, Record] = {}
        self.before: Record = {}
        self._lines: dict[str, str] = {}
        super().__init__(path)

    def _take(self, path: Path) -> None:
        self.before, self.records = _read(path, self.layout, self.option)
        self._lines = {key: _json(record) for key, record in self.records.items()}

    @property
    def _held(self) -> str:
        count = len(self.records)
        return f"{counted(count, 'entry', 'entries')}; {GOES_ON}" if count else ""

    def keep(self, key: str, record: Record) -> None:
        """Write a record, in place of an older one of its key."""
        self.records[key] = record
        self._lines[key] = _json(record)
        self._write()

    def arrange(self, keys: Iterable[str]) -> None:
        """Write the records of these keys, in this order, and no others."""
        self.records = {key: self.records[key] for key in keys}
        self._write()

    def _write(self) -> None:
        if self.path is not None:
            try:
                replace_text(self.path, self.layout.text(self.records, self._lines), self._held)
            except TcsmtError as error:
                raise TcsmtError(f"{error}; what was finished before is kept") from None

    def finish(self) -> None:
        """Remove the file, which nobody needs any more, and let other runs begin a new one."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)
            forget(self.path)
            _beside(self.path).unlink(missing_ok=True)
        self.close()


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _read(path: Path, layout: Layout, option: str) -> tuple[Record, dict[str, Record]]:
    content = read_bytes(path)
    try:
        return layout.parts(json_of(content))
    except (ValueError, KeyError, TypeError, AttributeError):
        name = f"{option} {path}".lstrip()
        raise TcsmtError(f"{name} was not written by this command: expected {layout.expected}") from None


def _beside(path: Path) -> Path:
    """Return the lock beside a file."""
    return path.with_name(f"{path.name}.lock")


def _lock_beside(path: Path) -> Any:
    """Return the lock beside a file, with this process in it, until its ``release()``.

    Raises :class:`.TcsmtError` where another run has it.
    """
    from filelock import FileLock, Timeout  # slow to import

    beside = _beside(path)
    if not path.parent.is_dir():
        raise TcsmtError(f"cannot write {path}: the folder {path.parent} does not exist")
    lock = FileLock(beside, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise TcsmtError(f"{path} is in use by another run (process {_holder(beside)})") from None
    except OSError as error:
        raise TcsmtError(f"cannot write {beside}: {error.strerror}") from None
    try:
        beside.write_text(str(os.getpid()), encoding="utf-8")
    except OSError as error:
        lock.release()
        raise TcsmtError(f"cannot write {beside}: {error.strerror}") from None
    return lock


def _holder(beside: Path) -> str:
    try:
        return beside.read_text(encoding="utf-8") or "?"
    except OSError:
        return "?"


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
        """Read every whole record; return where the last one ends."""
        place = len(_HEAD)
        while True:
            start = place + _KEY + _LENGTH
            length = int.from_bytes(content[place + _KEY : start], "little")
            if start > len(content) or start + length > len(content):
                return place
            self._known[content[place : place + _KEY]] = content[start : start + length]
            place = start + length

    def _key(self, question: bytes) -> bytes:
        state = self._about.copy()
        state.update(question)
        return state.digest()

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
