"""Checking a certificate: every statement of a folder, from its files alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcsmt.certificates.derivation import Flaw, check
from tcsmt.certificates.files import opened, record_of, statement_files
from tcsmt.certificates.lemmas import check_lemma
from tcsmt.terms import Term

__all__ = ["Checked", "check_certificate", "check_statement"]


@dataclass(frozen=True)
class Checked:
    """What checking one statement came to. flaw: why it is not proved; empty if it is.

    lemmas: the names of those that the proof needs.
    """

    path: Path
    title: str
    flaw: str
    lemmas: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        holds = {"file": self.path.name, "title": self.title, "proved": not self.flaw}
        return holds | ({"flaw": self.flaw} if self.flaw else {"lemmas": list(self.lemmas)})


def check_certificate(folder: Path) -> Iterator[Checked]:
    """Check each statement of a certificate, one after the other; a lemma that several need is checked once.

    Raises :class:`.TcsmtError` for a folder that is not a certificate, or a file that cannot be read at all.
    """
    refuted: dict[Term, str] = {}
    for path in statement_files(folder):
        yield check_statement(path, refuted)


def check_statement(path: Path, refuted: dict[Term, str] | None = None) -> Checked:
    """Check the statement of one file of a certificate. refuted: lemmas that were checked, by their formulas.

    Raises :class:`.TcsmtError` for a file that cannot be read at all.
    """
    known = {} if refuted is None else refuted
    used: dict[str, None] = {}

    def refute(formula: Term) -> None:
        if formula not in known:
            known[formula] = check_lemma(path.parent.parent, formula)
        used[known[formula]] = None

    record = record_of(path)
    title = str(record["statement"].get("title", path.name))
    try:
        statement, proof = opened(path, record)
        check(statement.goal, proof, refute)
    except Flaw as why:
        return Checked(path, title, str(why))
    return Checked(path, title, "", tuple(used))
