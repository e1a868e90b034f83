"""Errors that a user can act on, and the exit codes of the command line.

A message says what was given, what is allowed, and the nearest match.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from enum import IntEnum
from typing import Any, ClassVar


class Exit(IntEnum):
    """The exit codes of every command; the first four as cmp(1) has them.

    Stopped by a signal, a command exits with 128 and the signal's number (:mod:`tcsmt.__main__`).
    """

    #: What was asked has its answer: equal, proved, done.
    ANSWERED = 0
    #: An input shows a difference, or that what was asked does not hold.
    DIFFERS = 1
    #: Bad input: nothing was asked.
    BAD_INPUT = 2
    #: Neither a proof nor such an input, or a proof that was not confirmed where it had to be.
    UNKNOWN = 3
    #: Evidence contradicts a proof, or two computations differ: an error in this package or in a solver.
    CONTRADICTION = 4

    @classmethod
    def of(cls, holds: bool | None) -> Exit:
        """Return what follows from an answer: it holds, it does not, or that is not known (None)."""
        return {True: cls.ANSWERED, False: cls.DIFFERS, None: cls.UNKNOWN}[holds]


class TcsmtError(ValueError):
    """Bad input; the message is one line for the user, and the command line exits with ``exit_code``."""

    exit_code: ClassVar[Exit] = Exit.BAD_INPUT

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle it by its message, so that one raised in another process arrives here."""
        return _as_raised, (type(self), str(self))


class Malformed(TcsmtError):
    """A part of a certificate that cannot be read as one: its statement or its proof is not known."""


class TooLarge(TcsmtError):
    """A file that holds, or asks for, more than it may: whether it is right is not looked at."""


def _as_raised(kind: type[TcsmtError], message: str) -> TcsmtError:
    error = kind.__new__(kind)
    error.args = (message,)
    return error


class InternalError(TcsmtError):
    """An error in this package, or in what it relies on: two results that must be the same are not."""

    exit_code = Exit.CONTRADICTION

    def __init__(self, what: str) -> None:
        super().__init__(f"internal error: {what}")


class Contradiction(InternalError):
    """Evidence contradicts what was proved, so that neither is to be trusted."""

    def __init__(self, proved: str, found: str) -> None:
        super().__init__(f"evidence contradicts a proof; proved: {proved}; found: {found}")


#: So many names are all listed; of more, the nearest, and where the others are.
_FEW, _NEAREST = 15, 5
#: Guesses, and how much one is like the name (from 0 to 1).
_GUESSED, _ALIKE = 3, 0.6


class UnknownName(TcsmtError):
    """A name that is not among the allowed ones.

    see: the command that lists them, where they are many. meant: those that it could be a part of.
    similarity: from 0 to 1, of those that are listed as the nearest.
    """

    def __init__(
        self,
        kind: str,
        given: str,
        allowed: Iterable[str],
        see: str = "",
        *,
        meant: Iterable[str] = (),
        similarity: float = 0.0,
    ) -> None:
        names = list(allowed)
        begun = (name for name in names if given and name.lower().startswith(given.lower()))
        guessed = [*meant, *begun][:_GUESSED] or _near(given, names, _GUESSED, _ALIKE)
        hint = f"did you mean {' or '.join(guessed)}? " if guessed else ""
        if len(names) <= _FEW:
            shown = f"allowed: {', '.join(names)}"
        else:
            nearest = list(dict.fromkeys([*guessed, *_near(given, names, _NEAREST, similarity)]))[:_NEAREST]
            listed = f"nearest of {len(names)}: {', '.join(nearest)}"
            others = f"see `{see}`" if see else f"{len(names) - len(nearest)} others"
            shown = f"{listed if nearest else f'none of {len(names)} is like it'}; {others}"
        super().__init__(f"unknown {kind} {given!r}: {hint}{shown}")


class AmbiguousName(UnknownName):
    """A name that could mean several of the allowed ones; meanings: each, with what tells it apart."""

    def __init__(self, kind: str, given: str, meanings: Mapping[str, str]) -> None:
        listed = " or ".join(f"{name} ({about})" for name, about in meanings.items())
        TcsmtError.__init__(self, f"ambiguous {kind} {given!r}: it could mean {listed}")


def _near(text: str, names: Sequence[str], most: int, cutoff: float) -> list[str]:
    """Return the names that are spelt most like the given one, the most alike first."""
    lower = list(dict.fromkeys(name.lower() for name in names))
    near = get_close_matches(text.lower(), lower, n=most, cutoff=cutoff)
    return sorted((n for n in names if n.lower() in near), key=lambda n: near.index(n.lower()))


def choose(kind: str, given: str, allowed: Iterable[str], see: str = "") -> str:
    """Return ``given`` as spelt among ``allowed`` (case ignored). Raises :class:`UnknownName`."""
    names, text = list(allowed), str(given)  # a caller's value may be no text at all
    if text in names:
        return text
    for name in names:
        if name.lower() == text.lower():
            return name
    raise UnknownName(kind, text, names, see)
