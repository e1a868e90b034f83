"""Errors that a user can act on: what was given, what is allowed, and the nearest match."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["InternalError", "TcsmtError", "UnknownName", "choose"]


class TcsmtError(ValueError):
    """Bad input; the message is one line for the user, and the command line exits with 2."""


class InternalError(RuntimeError):
    """Two of our own answers contradict each other, so one of them is wrong: nothing of them may be believed.

    No input is to blame; the command line exits with 4.
    """


class UnknownName(TcsmtError):
    """A name that is not among the allowed ones."""

    def __init__(self, kind: str, given: str, allowed: Iterable[str]) -> None:
        names = list(allowed)
        nearest = [n for n in names if given and n.lower().startswith(given.lower())][:3]
        if not nearest:
            near = get_close_matches(given.lower(), [name.lower() for name in names], n=3)
            nearest = sorted((n for n in names if n.lower() in near), key=lambda n: near.index(n.lower()))
        hint = f"did you mean {' or '.join(nearest)}? " if nearest else ""
        shown = ", ".join(names[:30]) + (", ..." if len(names) > 30 else "")
        super().__init__(f"unknown {kind} {given!r}: {hint}allowed: {shown}")


def choose(kind: str, given: str, allowed: Iterable[str]) -> str:
    """``given`` as spelt among ``allowed`` (case ignored), or :class:`UnknownName`."""
    names = list(allowed)
    for name in names:
        if name.lower() == given.lower():
            return name
    raise UnknownName(kind, given, names)
