"""Writing files so that nothing half-written is ever seen."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from tcsmt.support.errors import TcsmtError

__all__ = ["make_folder", "replace_bytes", "replace_text"]


def make_folder(path: Path) -> None:
    """Make a folder and those above it. Raises :class:`.TcsmtError` where it cannot."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TcsmtError(f"cannot make the folder {path}: {error.strerror}") from None


def replace_bytes(path: Path, content: bytes) -> None:
    """Write a file in one step. Raises :class:`.TcsmtError` where it cannot be written."""
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


def replace_text(path: Path, text: str) -> None:
    """:func:`replace_bytes` for UTF-8 text."""
    replace_bytes(path, text.encode())
