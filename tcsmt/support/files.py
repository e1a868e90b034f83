"""Writing files so that nothing half-written is ever seen, and what a stopped command has left."""

from __future__ import annotations

import lzma
import os
from pathlib import Path

from tcsmt.support.errors import TcsmtError
from tcsmt.support.reading import COMPRESSED
from tcsmt.support.text import counted

__all__ = [
    "forget",
    "kept_files",
    "make_folder",
    "replace_bytes",
    "replace_text",
    "store_bytes",
    "wrote",
]

#: Files that this process has written for its user, and what they hold, in words.
_WRITTEN: dict[Path, str] = {}
#: So many are named.
_NAMED = 3


def wrote(path: Path, holds: str = "") -> None:
    """Note that a file is there for the user: a stopped command says so. holds: such as "2 findings"."""
    _WRITTEN[path] = holds


def forget(path: Path) -> None:
    """A file that was written is there no more, or is nobody's business."""
    _WRITTEN.pop(path, None)


def kept_files() -> str:
    """What this process has written for its user and is still there, in words; empty if nothing."""
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
    store_bytes(path, content)
    wrote(path, holds)


def store_bytes(path: Path, content: bytes) -> None:
    """:func:`replace_bytes` for a file that is not a result."""
    import tempfile  # slow to load

    temporary = ""
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            temporary = file.name
            file.write(content)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise TcsmtError(f"cannot write {path}: {error.strerror}") from None


def replace_text(path: Path, text: str, holds: str = "") -> None:
    """:func:`replace_bytes` for UTF-8 text, which is compressed if the file's name ends in ``.xz``."""
    content = text.encode()
    replace_bytes(path, lzma.compress(content) if path.suffix.lower() == COMPRESSED else content, holds)
