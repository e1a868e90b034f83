"""Files that others wrote, of none more than is allowed: compressed ones, JSON, and TOML with its lines."""

from __future__ import annotations

import json
import lzma
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcsmt.support.errors import TcsmtError, TooLarge

__all__ = [
    "COMPRESSED",
    "TomlFile",
    "json_of",
    "most_unpacked",
    "once",
    "read_bytes",
    "read_toml",
    "shown_value",
    "toml_of",
    "uncompressed",
]

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


#: Bytes that a TOML file may have, and bits of a number in it.
_MOST_OF_TOML, _WIDEST = 1 << 24, 1 << 12
#: Characters of a value that errors show.
_SHOWN = 200
#: Lines that look like that of a key: so many are looked at.
_LOOKED_AT = 50


def read_toml(path: Path) -> tuple[list[str], dict[str, Any]]:
    """Return a file's lines, and what they say. Raises :class:`.TcsmtError` with the file and the line."""
    return toml_of(path, read_bytes(path, _MOST_OF_TOML))


def toml_of(path: Path, content: bytes) -> tuple[list[str], dict[str, Any]]:
    """Return what :func:`read_toml` does, of a file whose content has been read."""
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
        values = tomllib.loads(text)
        _check(path, values)
        return text.split("\n"), values
    except UnicodeDecodeError:
        raise TcsmtError(f"{path}: not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise TcsmtError(_syntax(path, text, str(error))) from None
    except TcsmtError:
        raise
    except (RecursionError, ValueError):  # integers of thousands of digits
        raise TcsmtError(f"{path}: not TOML: nested too deeply, or a number too long") from None


def _check(path: Path, value: object) -> None:
    """Refuse hexadecimal numbers that Python does not print, and that nothing in a file is."""
    if isinstance(value, int) and value.bit_length() > _WIDEST:
        raise TcsmtError(f"{path}: a number of {value.bit_length()} bits: at most {_WIDEST}")
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check(path, part)


@dataclass
class TomlFile:
    """The content of a file or one of its tables, and the file's lines, which errors name.

    within: of a table of an array of tables, the array's name; number: which one of them, from 0.
    """

    path: Path
    lines: list[str]
    given: dict[str, Any]
    within: str = ""
    number: int = 0

    def at(self, key: str) -> str:
        """Return ``FILE:LINE`` of a key; of any other, that of the table, or ``FILE``.

        No TOML library, tomlkit among them, says on which line a value stands.
        """
        start = re.compile(rf"\s*\[*\s*[\"']?{re.escape(key)}[\"']?\s*[=.\]]")
        header = re.compile(rf"\s*\[\[\s*{re.escape(self.within)}\s*\]\]")
        tables, place_text = 0, str(self.path)
        looked_at = 0
        for place, line in enumerate(self.lines):
            if looked_at > _LOOKED_AT:  # each takes as long as reading the file
                break
            looked_at += bool((self.within and header.match(line)) or start.match(line))
            if self.within and header.match(line) and _parses(self.lines[:place]):
                tables += 1
                if tables == self.number + 1:
                    place_text = f"{self.path}:{place + 1}"
            inside = not self.within or tables == self.number + 1
            if inside and start.match(line) and _parses(self.lines[:place]):
                return f"{self.path}:{place + 1}"
        return place_text

    def error(self, key: str, message: str) -> TcsmtError:
        """Return an error about a key."""
        return TcsmtError(f"{self.at(key)}: {message}")

    def text(self, key: str) -> str:
        """Return the value of a key that is one line of text."""
        value = self.given[key]
        if not isinstance(value, str) or not value or not value.isprintable():
            raise self.error(key, f"{key} = {shown_value(value)}: must be one line of text")
        return value


def _parses(lines: list[str]) -> bool:
    try:
        tomllib.loads("\n".join(lines))
    except (ValueError, RecursionError):
        return False
    return True


def _syntax(path: Path, text: str, message: str) -> str:
    """Return tomllib's error as ``FILE:LINE: what (what the line is)``."""
    place = re.search(r" \(at line (\d+), column \d+\)$", message)
    lines = text.split("\n")
    number = int(place[1]) if place else len(lines) - (not lines[-1])
    what = message[: place.start()] if place else message.removesuffix(" (at end of document)")
    shown = lines[number - 1].strip() if 0 < number <= len(lines) else ""
    key = re.match(r"[\w-]+(?=\s*=)", shown)
    if key and what.startswith("Cannot overwrite"):
        what = f"{key[0]} is given twice"
    return f"{path}:{number}: not TOML: {what}" + (f": {shown[:60]!r}" if shown else "")


def shown_value(value: object) -> str:
    """Return a value as the file has it, or its beginning."""
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
