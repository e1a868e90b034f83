"""The cache between runs: bytes by name. Losing any of it costs time and nothing else.

A file that is damaged, or is not what was kept under its name, is as good as none. That is no protection from
someone who writes to the folder: what must not be forged is not read from here.
The folder is ``$TCSMT_CACHE``, else where this system keeps caches (Linux: ``tcsmt`` in ``$XDG_CACHE_HOME``,
else in ``~/.cache``). Where it cannot be written, nothing is kept; what has to be written says how to name
another.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from tcsmt.support.errors import TcsmtError
from tcsmt.support.files import make_folder, store_bytes

_NAMED = "TCSMT_CACHE"
#: What messages add.
_HINT = f"the environment variable {_NAMED} names another folder"


def digest(content: bytes) -> bytes:
    """Return 16 bytes that tell contents apart."""
    return blake2b(content, digest_size=16).digest()


def read(name: str) -> bytes | None:
    """Return what was kept under the name; None where nothing was, or where it is damaged."""
    try:
        stored = (folder() / name).read_bytes()
    except (OSError, TcsmtError):
        return None
    content = stored[16:]
    return content if stored[:16] == _check(name, content) else None


def store(name: str, content: bytes) -> None:
    """Keep the bytes, if the folder can be written."""
    with suppress(TcsmtError):
        write(name, _check(name, content) + content)


def write(name: str, content: bytes) -> Path:
    """Write a file into the folder, for those who open it, and return its path.

    Raises :class:`.TcsmtError`, which names ``TCSMT_CACHE``, where it cannot be written.
    """
    path = folder() / name
    try:
        make_folder(path.parent)
        store_bytes(path, content)
    except TcsmtError as error:
        raise TcsmtError(f"{error}; {_HINT}") from None
    return path


def _check(name: str, content: bytes) -> bytes:
    return digest(name.encode() + b"\0" + content)


def folder() -> Path:
    """Return the folder, which need not be there.

    Raises :class:`.TcsmtError` where this system does not say where it is: a user without a home, for example
    in a container, has ``~/.cache``, which would be a folder ``~`` wherever one works.
    """
    named = os.environ.get(_NAMED)
    if named:
        return Path(named)
    from platformdirs import user_cache_path  # slow to import

    path = user_cache_path("tcsmt", appauthor=False)
    if not path.is_absolute():
        raise TcsmtError(f"no folder to keep files in: {path} is not absolute; {_HINT}")
    return path
