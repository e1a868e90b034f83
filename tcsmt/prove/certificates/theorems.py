"""Statements whose argument is code: about algorithms, kernels, sums of integers.

A :class:`Theorem` says what a statement of some kind has, how it reads in words, and who goes through the
argument again. Every key of a statement is one of these, and each is in the words.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from tcsmt.prove.certificates.files import model_in
from tcsmt.prove.certificates.lemma_files import LemmaFiles
from tcsmt.prove.certificates.parts import with_keys
from tcsmt.prove.certificates.statement import domain_of
from tcsmt.support.errors import Malformed


@dataclass(frozen=True)
class Theorem(ABC):
    """A kind of statement.

    says: what it says, with ``{KEY}`` for each value. inputs: what its inputs are. values: what each value
    is, by its key: ``text``, ``number`` (an integer of 0 or more), ``fraction`` (as text), ``domain``,
    ``model`` or ``models`` (a file's name, or several). start: keys of numbers that the argument starts from,
    which are not a part of the statement; whether they are right is for the check.
    """

    says: str
    inputs: str
    values: Mapping[str, str]
    start: tuple[str, ...] = ()

    @abstractmethod
    def check(self, values: Mapping[str, Any], files: LemmaFiles) -> Sequence[str]:
        """Return the names of the lemmas that the argument for these values needs.

        Raises :class:`.InvalidProof` where it does not come to the statement, and :class:`.Malformed` where
        the values are not such as it takes.
        """

    def read(self, record: Mapping[str, Any], folder: Path) -> dict[str, Any]:
        """Return the values of a statement, domains and models among them. Raises :class:`.Malformed`."""
        with_keys("the statement", record, ("about", "title", *self.values), self.start)
        _read("title", "text", record["title"], folder)
        values = {key: _read(key, kind, record[key], folder) for key, kind in self.values.items()}
        return values | {key: record[key] for key in self.start if key in record}


@dataclass(frozen=True)
class TheoremStatement:
    """A statement of some kind: its record, and the values that were read from it."""

    theorem: Theorem
    record: Mapping[str, Any]
    values: Mapping[str, Any]


#: No kind at all.
NONE: Mapping[str, Theorem] = {}


def theorem_statement(
    path: Path, record: Mapping[str, Any], theorems: Mapping[str, Theorem]
) -> TheoremStatement | None:
    """Return the statement of a file, which is of one of these kinds; None where it is about models.

    Raises :class:`.Malformed` for another kind, and for other values than those of its kind.
    """
    content = record["statement"]
    if "about" not in content:
        return None
    theorem = theorem_of(content, theorems)
    return TheoremStatement(theorem, content, theorem.read(content, path.parent.parent))


def theorem_of(record: Mapping[str, Any], theorems: Mapping[str, Theorem]) -> Theorem:
    """Return the kind of a statement. Raises :class:`.Malformed` where it is none of these."""
    about = record["about"]
    if not isinstance(about, str) or about not in theorems:
        raise Malformed(f"a statement about {about!r:.80}: there is no check for it")
    return theorems[about]


def _read(key: str, kind: str, value: Any, folder: Path) -> Any:
    match kind, value:
        case "text", str() if value.isprintable():
            return value
        case "number", int() if type(value) is int and value >= 0:
            return value
        case "fraction", str() if _is_fraction(value):
            return Fraction(value)
        case "domain", dict():
            return domain_of(value)
        case "model", _:
            return model_in(folder, value)
        case "models", list():
            return [model_in(folder, name) for name in value]
    raise Malformed(f"{key} = {value!r:.80}: it must be a {kind}")


def _is_fraction(text: str) -> bool:
    """Return whether it is a fraction of 0 or more, written as fractions are: there is one text for each."""
    try:
        return str(Fraction(text)) == text and Fraction(text) >= 0
    except (ValueError, ZeroDivisionError):
        return False
