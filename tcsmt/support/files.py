"""Writing files so that nothing half-written is ever seen, and what a stopped command has left."""

from __future__ import annotations

import lzma
import os
import stat
from contextlib import nullcontext, suppress
from itertools import count
from pathlib import Path

from tcsmt.support.errors import TcsmtError
from tcsmt.support.interrupts import stops_waiting
from tcsmt.support.reading import COMPRESSED
from tcsmt.support.text import counted

#: Files that this process has written for its user, and what they hold, in words.
_WRITTEN: dict[Path, str] = {}
#: So many are named.
_NAMED = 3
#: Of files that are written beside others, so that several threads of a process have names of their own.
_numbers = count()


def wrote(path: Path, holds: str = "") -> None:
    """Note that a file is there for the user: a stopped command says so. holds: such as "2 findings"."""
    _WRITTEN[path] = holds


def forget(path: Path) -> None:
    """Forget a file that was written: it is there no more, or is nobody's business."""
    _WRITTEN.pop(path, None)


def kept_files() -> str:
    """Return what this process has written for its user and is still there, in words; empty if nothing."""
    there = {path: holds for path, holds in _WRITTEN.items() if path.exists()}
    texts = [f"{path} ({holds})" if holds else str(path) for path, holds in there.items()]
    more = len(texts) - _NAMED
    return ", ".join(texts[:_NAMED]) + (f" and {counted(more, 'more file')}" if more > 0 else "")


def make_folder(path: Path) -> None:
    """Make a folder and those above it. Raises :class:`.TcsmtError` where it cannot."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TcsmtError(f"cannot make the folder {path}: {error.strerror}") from None


def replace_bytes(path: Path, content: bytes, holds: str = "") -> None:
    """Write a file for the user in one step; holds: as for :func:`wrote`.
    Raises :class:`.TcsmtError` where it cannot be written.
    """
    # a pipe may keep its writer waiting for ever: a stop ends that
    waits = os.path.isfile(path) or not os.path.exists(path)
    with stops_waiting() if waits else nullcontext():
        store_bytes(path, content)
        wrote(path, holds)


def store_bytes(path: Path, content: bytes) -> None:
    """Write as :func:`replace_bytes` does, for a file that is not a result.

    A link stays one, and what it names is written. A file that is replaced keeps its mode and its owner; a
    new one has what the umask leaves. A device, a pipe and a file of several names are written in place.
    """
    try:
        target = Path(os.path.realpath(path))
        before = target.stat() if target.exists() else None
        if before is not None and not (stat.S_ISREG(before.st_mode) and before.st_nlink == 1):
            target.write_bytes(content)
        else:
            _replace(target, content, before)
    except OSError as error:
        raise TcsmtError(f"cannot write {path}: {error.strerror}") from None


def _replace(path: Path, content: bytes, before: os.stat_result | None) -> None:
    """Write a file beside the one that it replaces, then give it that one's name."""
    temporary = path.with_name(f".{path.name[:100]}.{os.getpid()}.{next(_numbers)}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        if before is not None:
            if hasattr(os, "chown") and (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
                with suppress(OSError):  # only the superuser may give files away
                    os.chown(temporary, before.st_uid, before.st_gid)
            os.chmod(temporary, stat.S_IMODE(before.st_mode))
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def replace_text(path: Path, text: str, holds: str = "") -> None:
    """Write UTF-8 text as :func:`replace_bytes` does; it is compressed if the file's name ends in ``.xz``."""
    content = text.encode()
    replace_bytes(path, lzma.compress(content) if path.suffix.lower() == COMPRESSED else content, holds)
