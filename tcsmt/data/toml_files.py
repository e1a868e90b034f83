"""TOML files of a user's own: what is in them, and the line of what is wrong."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from tcsmt.data.row_files import read_bytes
from tcsmt.support.errors import TcsmtError

__all__ = ["place_of", "read_toml", "shown_value"]


def read_toml(path: Path) -> tuple[list[str], dict[str, Any]]:
    """A file's lines, and what they say. Raises :class:`.TcsmtError`, which names the file and the line."""
    try:
        text = read_bytes(path).decode("utf-8-sig").replace("\r\n", "\n")
        return text.split("\n"), tomllib.loads(text)
    except UnicodeDecodeError:
        raise TcsmtError(f"{path}: not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise TcsmtError(_syntax(path, text, str(error))) from None
    except RecursionError:
        raise TcsmtError(f"{path}: not TOML: nested too deeply") from None


def place_of(path: Path, lines: list[str], key: str, *, number: int = 0, within: str = "") -> str:
    """``FILE:LINE`` of a key of the file; of any other, ``FILE``.

    within: the key is one of the table ``[[within]]`` with this number, from 0, or the line is that table's.
    """
    start = re.compile(rf"\s*\[*\s*[\"']?{re.escape(key)}[\"']?\s*[=.\]]")
    header = re.compile(rf"\s*\[\[\s*{re.escape(within)}\s*\]\]")
    tables, found = 0, str(path)
    for place, line in enumerate(lines):
        if within and header.match(line) and _parses(lines[:place]):
            tables += 1
            if tables == number + 1:
                found = f"{path}:{place + 1}"
        if (not within or tables == number + 1) and start.match(line) and _parses(lines[:place]):
            return f"{path}:{place + 1}"
    return found


def _parses(lines: list[str]) -> bool:
    try:
        tomllib.loads("\n".join(lines))
    except tomllib.TOMLDecodeError:
        return False
    return True


def _syntax(path: Path, text: str, message: str) -> str:
    """tomllib's error as ``FILE:LINE: what (what the line is)``."""
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
    """A value as the file has it."""
    return str(value).lower() if isinstance(value, bool) else repr(value)
