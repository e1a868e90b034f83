"""Files: written so that nothing half-written is ever seen, and read as others wrote them.

Of a compressed file no more is unpacked than is allowed; JSON has each key once.
"""

from __future__ import annotations

import lzma
import os
import stat
from contextlib import nullcontext, suppress
from itertools import count
from pathlib import Path
from typing import Any

from tcsmt.support.errors import TcsmtError, TooLarge
from tcsmt.support.interrupts import stops_waiting
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


#: The suffix of a file that is compressed with xz.
COMPRESSED = ".xz"
#: So many bytes are read of a file.
_MOST = 1 << 32
#: So many bytes a small file may unpack to, and so many for each packed byte of a large one.
_UNPACKED, _FOLD = 1 << 28, 16
#: Bytes of memory for unpacking: what ``xz -9`` has packed takes half of it.
_MEMORY = 1 << 27


def read_bytes(path: Path, most: int = 0) -> bytes:
    """Return a file's content; decompressed if its name ends in ``.xz``. Raises :class:`.TcsmtError`.

    most: bytes that it may have, if fewer than any file may; :class:`.TooLarge` is raised for more.
    """
    packed = path.suffix.lower() == COMPRESSED
    most = most or _MOST
    try:
        with path.open("rb") as file:  # in parts: a buffer of the largest size would be made at once
            parts, left = [], most + 1
            while left and (part := file.read(min(left, 1 << 22))):
                parts.append(part)
                left -= len(part)
        content = b"".join(parts)
        if packed and len(content) <= most:
            most = min(most, most_unpacked(len(content)))
            content = _unpacked(content, most + 1)
    except OSError as error:
        raise TcsmtError(f"cannot read {path}: {error.strerror}") from None
    except (lzma.LZMAError, EOFError):
        raise TcsmtError(f"{path} is not compressed with xz, or not to the end") from None
    if len(content) > most:
        raise TooLarge(
            f"{path} {'unpacks to' if packed else 'has'} more than the {most} bytes that are allowed"
        )
    return content


def most_unpacked(size: int) -> int:
    """Return how many bytes a packed file of a size may unpack to: a hostile one may unpack to any number."""
    return max(_UNPACKED, _FOLD * size)


def _unpacked(content: bytes, most: int) -> bytes:
    """Return at most so many bytes of what was compressed; a file may be several such streams."""
    if not content:
        raise EOFError
    parts: list[bytes] = []
    while content and most:
        unpacker = lzma.LZMADecompressor(memlimit=_MEMORY)
        while not unpacker.eof and most:
            if not content and unpacker.needs_input:
                raise EOFError
            parts.append(unpacker.decompress(content, most))
            content, most = b"", most - len(parts[-1])
        content = unpacker.unused_data
    return b"".join(parts)


def uncompressed(path: Path) -> Path:
    """Return the name that a file has without xz: ``rows.json`` of ``rows.json.xz``, and of itself."""
    return path.with_suffix("") if path.suffix.lower() == COMPRESSED else path


def json_of(content: str | bytes, **options: Any) -> Any:
    """Return what a text in JSON says; options: as in ``json.loads``.

    Raises :class:`ValueError` with the reason for what is none, for a key that is given twice, of which
    readers take the one or the other, and where no option says what ``NaN`` and ``Infinity`` are.
    """
    import json  # every command imports this module, few read JSON

    try:
        return json.loads(content, object_pairs_hook=once, **{"parse_constant": _no_number} | options)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object with these keys. Raises :class:`ValueError` for a key that is there twice."""
    result = dict(pairs)
    if len(result) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"{twice!r:.80} is given twice")
    return result


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is not JSON")
