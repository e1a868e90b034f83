"""Files that others wrote: compressed ones, of none more than is allowed, and JSON, each key once."""

from __future__ import annotations

import lzma
from pathlib import Path
from typing import Any

from tcsmt.support.errors import TcsmtError, TooLarge

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
