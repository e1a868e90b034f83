"""What is kept between runs: bytes by name; losing any of it costs time and nothing else.

A file that is damaged, or is not what was kept under its name, is as good as none. That is no protection from
someone who writes to the folder: what must not be forged is not read from here.
The folder is ``$TCSMT_CACHE``, else where this system keeps caches (Linux: ``tcsmt`` in ``$XDG_CACHE_HOME``,
else in ``~/.cache``).
"""

from __future__ import annotations

import os
from hashlib import blake2b
from pathlib import Path

from tcsmt.support.errors import TcsmtError
from tcsmt.support.files import make_folder, store_bytes

__all__ = ["digest", "folder", "keep", "kept"]


def digest(content: bytes) -> bytes:
    """16 bytes that tell contents apart."""
    return blake2b(content, digest_size=16).digest()


def kept(name: str) -> bytes | None:
    """What was kept under the name; None where nothing was, or where it is damaged."""
    try:
        stored = (folder() / name).read_bytes()
    except OSError:
        return None
    content = stored[16:]
    return content if stored[:16] == _check(name, content) else None


def keep(name: str, content: bytes) -> None:
    """Keep the bytes, if the folder can be written."""
    path = folder() / name
    try:
        make_folder(path.parent)
        store_bytes(path, _check(name, content) + content)
    except TcsmtError:
        pass


def _check(name: str, content: bytes) -> bytes:
    return digest(name.encode() + b"\0" + content)


def folder() -> Path:
    """The folder, which need not be there."""
    named = os.environ.get("TCSMT_CACHE")
    if named:
        return Path(named)
    from platformdirs import user_cache_path  # slow to import

    return user_cache_path("tcsmt", appauthor=False)
