"""Docstrings for those who read them elsewhere than in the documentation."""

from __future__ import annotations

import re

__all__ = ["unmarked"]

#: A role of the documentation's markup with what it names, or an inline literal.
_MARKED = re.compile(r"(?::[\w:]+:)?(`{1,2})(.+?)\1")


def unmarked(text: str) -> str:
    """A docstring's text without markup.

    >>> unmarked("``c`` is zero (:func:`.decide`)")
    'c is zero (decide)'
    """
    return _MARKED.sub(_shown, text)


def _shown(match: re.Match[str]) -> str:
    """As Sphinx shows it: the title before ``<target>``; after ``~``, the last part of a name."""
    name = re.sub(r"\s*<[^<>]*>$", "", match[2])
    return name.rpartition(".")[2] if name.startswith("~") else name.removeprefix(".")
