"""Reading files, those that are compressed with xz as they are."""

from __future__ import annotations

import lzma
from pathlib import Path

from tcsmt.support.errors import TcsmtError

__all__ = ["COMPRESSED", "read_bytes", "uncompressed"]

#: The suffix of a file that is compressed with xz.
COMPRESSED = ".xz"


def read_bytes(path: Path) -> bytes:
    """A file's content; decompressed if its name ends in ``.xz``. Raises :class:`.TcsmtError`."""
    try:
        content = path.read_bytes()
        return lzma.decompress(content) if path.suffix.lower() == COMPRESSED else content
    except OSError as error:
        raise TcsmtError(f"cannot read {path}: {error.strerror}") from None
    except lzma.LZMAError:
        raise TcsmtError(f"{path} is not compressed with xz") from None


def uncompressed(path: Path) -> Path:
    """The name that a file has without xz: ``rows.json`` of ``rows.json.xz``, and of itself."""
    return path.with_suffix("") if path.suffix.lower() == COMPRESSED else path
