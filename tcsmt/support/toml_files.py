"""TOML files of a user's own: what is in them, and the line of what is wrong."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcsmt.support.errors import TcsmtError
from tcsmt.support.files import read_bytes

#: Bytes that a TOML file may have, and bits of a number in it.
_MOST, _WIDEST = 1 << 24, 1 << 12
#: Characters of a value that errors show.
_SHOWN = 200
#: Lines that look like that of a key: so many are looked at.
_LOOKED_AT = 50


def read_toml(path: Path) -> tuple[list[str], dict[str, Any]]:
    """Return a file's lines, and what they say. Raises :class:`.TcsmtError` with the file and the line."""
    return toml_of(path, read_bytes(path, _MOST))


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
