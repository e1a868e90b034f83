"""Checking a certificate: every statement of a folder, from its files alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcsmt.prove.certificates.derivation import InvalidProof, check
from tcsmt.prove.certificates.files import proof_of, record_of, statement_of
from tcsmt.prove.certificates.lemma_files import LemmaFiles
from tcsmt.prove.certificates.parts import in_file, require_lemmas, statement_files
from tcsmt.prove.certificates.statement import Statement
from tcsmt.prove.certificates.theorems import NONE, Theorem, TheoremStatement, theorem_statement
from tcsmt.support.text import one_line


@dataclass(frozen=True)
class Checked:
    """The outcome of checking one statement. flaw: why it is not proved; empty if it is.

    title: what the author calls it. about: what was checked, of which :func:`.stated` says all. lemmas: the
    names of those that the proof needs.
    """

    path: Path
    title: str
    about: Statement | TheoremStatement
    flaw: str
    lemmas: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as plain data."""
        holds = {"file": self.path.name, "title": self.title, "proved": not self.flaw}
        return holds | ({"flaw": self.flaw} if self.flaw else {"lemmas": list(self.lemmas)})


def check_certificate(folder: Path, theorems: Mapping[str, Theorem] = NONE) -> Iterator[Checked]:
    """Check each statement of a certificate, one after the other; a lemma that several need is checked once.

    theorems: the kinds of statements whose argument is code, by what they are ``about``.
    Raises :class:`.TcsmtError` for a folder that is not a certificate, and :class:`.Malformed` for a part of
    it that cannot be read as one.
    """
    lemmas = LemmaFiles(folder)
    for path in statement_files(folder):
        yield check_statement(path, lemmas, theorems)


def check_statement(
    path: Path, lemmas: LemmaFiles | None = None, theorems: Mapping[str, Theorem] = NONE
) -> Checked:
    """Check the statement of one file of a certificate; lemmas: of its folder, where some are checked.

    It is not proved where what is stated and how it is proved are known, and the proof fails. Raises
    :class:`.Malformed` where they are not.
    """
    record, files = record_of(path), lemmas or LemmaFiles(path.parent.parent)
    used: dict[str, None] = {}
    with in_file(path):
        require_lemmas(files.folder, record["lemmas"])
        about = theorem_statement(path, record, theorems) or statement_of(path, record)
        title = record["statement"]["title"]
        try:
            if isinstance(about, TheoremStatement):
                used |= dict.fromkeys(about.theorem.check(about.values, files))
            else:
                proof = proof_of(path, record, about)
                check(about.goal, proof, lambda formula: used.update({files.check(formula): None}))
        except InvalidProof as why:  # an empty flaw would say that it is proved
            return Checked(path, title, about, one_line(str(why)) or "its proof fails, without a reason")
        files.can_be_read(name for name in record["lemmas"] if name not in used)
    return Checked(path, title, about, "", tuple(used))
