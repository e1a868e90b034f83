"""The base class of results: text, JSON and HTML."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from typing import Any

from tcsmt.support.errors import Exit
from tcsmt.support.floats import guard_members
from tcsmt.support.version import __version__

__all__ = ["Result", "json_text"]


class Result:
    """A result: text by ``str``, plain data by :meth:`as_json`, HTML in notebooks.

    A kind of result has a title (what ``repr`` says of it), lines of text, and facts, its plain data. What is
    computed when it is read is computed as in public calls, in the default floating-point state.
    """

    def __init_subclass__(cls) -> None:
        guard_members(cls)

    @property
    def _title(self) -> str:
        raise NotImplementedError

    def _lines(self) -> Iterable[str]:
        raise NotImplementedError

    def _facts(self) -> dict[str, Any]:
        raise NotImplementedError

    @property
    def exit_code(self) -> Exit:
        """Return what the command that prints it exits with: 0 answered, 1 an input differs, 3 unknown."""
        return Exit.ANSWERED

    def as_json(self) -> dict[str, Any]:
        """As plain data: what the command prints with ``--json``."""
        return {"tcsmt": __version__, **self._facts()}

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._title}>"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


guard_members(Result)


def json_text(data: dict[str, Any]) -> str:
    """Plain data as the text of a JSON document, which says which version wrote it."""
    return json.dumps({"tcsmt": __version__, **data}, indent=1, ensure_ascii=False)
