"""Verdicts in an SQLite file, by the content of what was asked; one run at a time has it open."""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from tcsmt.support.errors import TcsmtError

__all__ = ["Store"]

_APPLICATION = 0x7463736D  # "tcsm"
_SCHEMA = 1
#: In one transaction: a disk that is full leaves an empty file, and no half of a store.
_MAKE = f"""BEGIN;
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_SCHEMA};
CREATE TABLE verdicts (key TEXT PRIMARY KEY, record TEXT NOT NULL);
COMMIT;"""


class Store:
    """Records by key, each written in a transaction of its own.

    Raises :class:`.TcsmtError` where the file is none of ours, of another version, in use
    by another run, or cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = path.with_name(path.name + ".lock")
        self._held = self._take()
        try:
            self._base = sqlite3.connect(path, isolation_level=None)
            self._open()
        except sqlite3.DatabaseError as error:
            self.close()
            raise TcsmtError(f"cannot use {path}: {error}") from None
        except TcsmtError:
            self.close()
            raise

    def _take(self) -> int:
        try:
            held = os.open(self._lock, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise TcsmtError(f"cannot write {self._lock}: {error.strerror}") from None
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            process = os.read(held, 20).decode() or "?"
            os.close(held)
            raise TcsmtError(f"{self.path} is in use by another run (process {process})") from None
        os.ftruncate(held, 0)
        os.write(held, str(os.getpid()).encode())
        return held

    def _open(self) -> None:
        (application,) = self._base.execute("PRAGMA application_id").fetchone()
        (schema,) = self._base.execute("PRAGMA user_version").fetchone()
        tables = self._base.execute("SELECT name FROM sqlite_master").fetchall()
        if not tables and not application:
            self._base.executescript(_MAKE)
            return
        if application != _APPLICATION:
            raise TcsmtError(f"{self.path} is an SQLite file, but no store of verdicts")
        if schema != _SCHEMA:
            raise TcsmtError(
                f"{self.path} is from another version of tcsmt (layout {schema}, this one has {_SCHEMA}): "
                "give another file"
            )

    def records(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Every key and record."""
        for key, text in self._base.execute("SELECT key, record FROM verdicts").fetchall():
            yield key, json.loads(text)

    def keep(self, key: str, record: dict[str, Any]) -> None:
        """Write a record, in place of an older one."""
        text = json.dumps(record, ensure_ascii=False)
        try:
            self._base.execute("INSERT OR REPLACE INTO verdicts VALUES (?, ?)", (key, text))
        except sqlite3.Error as error:
            raise TcsmtError(f"cannot write {self.path}: {error}; what was finished is kept") from None

    def close(self) -> None:
        """Let other runs have the file."""
        base = getattr(self, "_base", None)
        if base is not None:
            base.close()
        os.close(self._held)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self.close()
