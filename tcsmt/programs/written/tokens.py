"""The words and marks of a line of a program's text."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"\s*(?:(?P<word>0x[0-9a-fA-F]+)|(?P<number>\d+(?:\.\d+)?(?:\^-?\d+)?)"
    r"|(?P<name>[A-Za-z_]\w*(?:(?:[./-]|::)\w+)*)|(?P<text>\"[^\"]*\")|(?P<mark>[-+=,;:()\[\]·*]))"
)


class Wrong(Exception):
    """An error in a line."""


@dataclass
class Tokens:
    """The rest of a line."""

    found: list[tuple[str, str]]

    @classmethod
    def of(cls, text: str) -> Tokens:
        """Return the words and marks of a text. Raises :class:`Wrong` for what is none."""
        found, place = [], 0
        while text[place:].strip():
            match = _TOKEN.match(text, place)
            if match is None:
                raise Wrong(f"{text[place:].strip()[:20]!r} is not understood")
            found.append((str(match.lastgroup), match.group().strip()))
            place = match.end()
        return cls(found)

    def next(self) -> tuple[str, str]:
        """Take the next one: its kind, and its text."""
        return self.found.pop(0) if self.found else ("end", "the end of the line")

    def at(self, *marks: str) -> bool:
        """Return whether the next one is one of these marks."""
        return bool(self.found) and self.found[0][1] in marks

    def take(self, mark: str) -> bool:
        """Take a mark, if it is the next one; return whether it was."""
        if self.at(mark):
            self.found.pop(0)
            return True
        return False

    def expect(self, mark: str) -> None:
        """Take a mark, which must be the next one."""
        kind, text = self.next()
        if text != mark:
            raise Wrong(f"expected {mark!r}, found {text!r}" if kind != "end" else f"expected {mark!r}")

    def name(self, what: str) -> str:
        """Take a name. what: is expected here, for errors."""
        kind, text = self.next()
        if kind != "name":
            raise Wrong(f"expected {what}, found {text!r}")
        return text

    def integer(self, what: str) -> int:
        """Take an integer. what: it is, for errors."""
        kind, text = self.next()
        if kind != "number" or not text.isdecimal():
            raise Wrong(f"{what} = {text!r}: must be an integer, 0 or more")
        return int(text)
