"""Checking a certificate: every statement of a folder, from its files alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcsmt.language.terms import Term
from tcsmt.prove.certificates.derivation import InvalidProof, check
from tcsmt.prove.certificates.files import opened, record_of, statement_files
from tcsmt.prove.certificates.lemma_files import LemmaFiles
from tcsmt.prove.certificates.statement import Statement
from tcsmt.prove.certificates.theorems import NONE, Theorem, TheoremStatement, theorem_of
from tcsmt.support.errors import TooLarge
from tcsmt.support.text import one_line

__all__ = ["Checked", "check_certificate", "check_statement"]


@dataclass(frozen=True)
class Checked:
    """What checking one statement came to. flaw: why it is not proved; empty if it is.

    title: what the author calls it. about: what was checked, of which :func:`.stated` says all; None where it
    cannot be read. lemmas: the names of those that the proof needs.
    """

    path: Path
    title: str
    about: Statement | TheoremStatement | None
    flaw: str
    lemmas: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        holds = {"file": self.path.name, "title": self.title, "proved": not self.flaw}
        return holds | ({"flaw": self.flaw} if self.flaw else {"lemmas": list(self.lemmas)})


def check_certificate(folder: Path, theorems: Mapping[str, Theorem] = NONE) -> Iterator[Checked]:
    """Check each statement of a certificate, one after the other; a lemma that several need is checked once.

    theorems: the kinds of statements whose argument is code, by what they are ``about``.
    Raises :class:`.TcsmtError` for a folder that is not a certificate, or a file that cannot be read at all.
    """
    lemmas = LemmaFiles(folder)
    for path in statement_files(folder):
        yield check_statement(path, lemmas, theorems)


def check_statement(
    path: Path, lemmas: LemmaFiles | None = None, theorems: Mapping[str, Theorem] = NONE
) -> Checked:
    """Check the statement of one file of a certificate; lemmas: of its folder, where some are checked.

    Raises :class:`.TcsmtError` for a file that cannot be read at all.
    """
    record, files = record_of(path), lemmas or LemmaFiles(path.parent.parent)
    statement, used = record["statement"], dict[str, None]()
    about: Statement | TheoremStatement | None = None

    def refute(formula: Term) -> None:
        used[files.check(formula)] = None

    label = statement.get("title", "")
    title = label if isinstance(label, str) and label.isprintable() else ascii(label)
    try:
        if "about" in statement:
            theorem = theorem_of(statement, theorems)
            about = TheoremStatement(theorem, statement, theorem.read(statement, files.folder))
            used |= dict.fromkeys(theorem.check(about.values, files))
        else:
            about, proof = opened(path, record)
            check(about.goal, proof, refute)
    except TooLarge as why:
        raise TooLarge(f"{path}: {why}") from None
    except (InvalidProof, RecursionError) as why:  # an empty flaw would say that it is proved
        return Checked(path, title, about, one_line(str(why)) or "its proof fails, without a reason")
    return Checked(path, title, about, "", tuple(used))
