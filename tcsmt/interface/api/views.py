"""The state of a page in a browser, as the part of its address after ``#``.

It is a list of key=value between ``&``: ``v=1``, the version; ``a`` and ``b``, units by name; ``w``, words
of a's inputs in order (a0, ..., b0, ..., c, then scales), hexadecimal, between commas, without zeros at the
end; ``x``, words of b's inputs that are others than a's, ``NAME:WORD``; ``r``, an answer that somebody got.
A browser does not send this part to any server.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Protocol
from urllib.parse import quote

from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.files.word_files import neutral

#: Of this grammar.
_VERSION = 1
#: Letters that stay as they are in a unit's name.
_PLAIN = "/:.,@"


@dataclass(frozen=True)
class WitnessView:
    """The view that a page shows: one unit or two, and an input.

    units: the rows. words: of each unit's inputs, by name. answer: a result word that somebody got.
    title: what it shows, where a result has several.
    """

    units: tuple[Row, ...]
    words: tuple[Mapping[str, int], ...]
    answer: int | None = None
    title: str = ""

    @property
    def fragment(self) -> str:
        """Return the part of an address after ``#``."""
        names = dict(zip("ab", (row.name for row in self.units), strict=False))
        parts: dict[str, str] = {"v": str(_VERSION), **names, "w": self._words()}
        others = self._others()
        if others:
            parts["x"] = others
        if self.answer is not None:
            parts["r"] = f"{self.answer:x}"
        return "&".join(f"{key}={quote(text, safe=_PLAIN)}" for key, text in parts.items())

    def _words(self) -> str:
        words = [self.words[0][name] for name in self.units[0].model.input_names]
        while words and not words[-1]:
            words.pop()
        return ",".join(f"{word:x}" for word in words)

    def _others(self) -> str:
        """Return the second unit's words that do not follow from the first one's."""
        if len(self.units) == 1:
            return ""
        first, second = self.words
        formats = self.units[1].model.input_formats
        usual = {name: first.get(name, neutral(name, fmt)) for name, fmt in formats.items()}
        return ",".join(f"{name}:{second[name]:x}" for name in formats if second[name] != usual[name])


class Viewed(Protocol):
    """A result that a page can show."""

    @property
    def view(self) -> WitnessView | None:
        """Return what it shows."""


def page_named(base: str | None) -> str | None:
    """Return the address of the page that links are to: ``base``, else ``$TCSMT_PAGE``; None: none is
    named.
    """
    return base or os.environ.get("TCSMT_PAGE") or None


def address(base: str, view: WitnessView) -> str:
    """Return the address of a page at ``base`` that shows the view."""
    return f"{base.partition('#')[0]}#{view.fragment}"


def anchor(result: Viewed) -> str:
    """HTML for notebooks: a link to the page that is named; empty where none is, or nothing to be shown.

    Browsers follow no link from a notebook's page to a file.
    """
    base = page_named(None)
    view = None if base is None else result.view
    if view is None or base is None:
        return ""
    return f'<p><a href="{escape(address(base, view))}">see it bit by bit, and change it</a></p>'
