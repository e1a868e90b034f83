"""JSON that others wrote: each key once, and nothing that is nested without end."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["json_of", "once"]


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
    """An object with these keys. Raises :class:`ValueError` for a key that is there twice."""
    result = dict(pairs)
    if len(result) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"{twice!r:.80} is given twice")
    return result


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is not JSON")
