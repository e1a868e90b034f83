"""Certificates in the languages of other tools: each statement as files that need nothing of tcsmt."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcsmt.interface.api.certificates import StatementFacts
from tcsmt.interface.api.certified_books import CertifiedStatement, book_of
from tcsmt.interop.exports.acl2.certification import files_of
from tcsmt.interop.exports.statement_lean import statement_theorem
from tcsmt.interop.exports.statement_smtlib import (
    Refuted,
    StageNames,
    lemma_script,
    refuted_formulas,
    statement_script,
)
from tcsmt.language.terms import Term
from tcsmt.matrix_units.models import circuit  # noqa: F401 (statements may be about designs)
from tcsmt.prove.certificates.derivation import InvalidProof
from tcsmt.prove.certificates.files import opened, record_of, statement_of
from tcsmt.prove.certificates.lemma_files import LemmaFiles, Missing, lemma_of
from tcsmt.prove.certificates.parts import in_file, statement_files
from tcsmt.prove.certificates.theorems import theorem_statement
from tcsmt.support.errors import TcsmtError, choose
from tcsmt.support.files import make_folder, replace_text
from tcsmt.support.floats import ieee_floats
from tcsmt.support.results import Result
from tcsmt.support.text import counted, one_line, quotation


@dataclass(frozen=True)
class ExportedStatement:
    """A statement in another language. file: of the certificate; title: what its author calls it.

    files: texts by their paths. missing: why there is no file of the whole statement; empty if there is one.
    """

    file: str
    title: str
    files: Mapping[str, str]
    missing: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the statement as plain data, without the texts."""
        return {
            "statement": self.file,
            "title": self.title,
            "files": list(self.files),
            "missing": self.missing or None,
        }


@dataclass(frozen=True, repr=False)
class CertificateExport(Result):
    """A certificate's statements in another language: see ``statements``, or :meth:`save` the files."""

    language: str
    statements: tuple[ExportedStatement, ...]

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write all files below a folder. Raises :class:`tcsmt.TcsmtError` where one cannot be written."""
        for statement in self.statements:
            for name, text in statement.files.items():
                path = Path(folder, name)
                make_folder(path.parent)
                replace_text(path, text)

    def _facts(self) -> dict[str, Any]:
        return {"language": self.language, "statements": [one.as_json() for one in self.statements]}

    def _lines(self) -> Iterator[str]:
        for one in self.statements:
            files = counted(len(one.files), "file")
            missing = f"; the whole statement is missing: {one.missing}" if one.missing else ""
            yield f"{quotation(one.title)}: {files}{missing}"

    @property
    def _title(self) -> str:
        return f"{counted(len(self.statements), 'statement')} in {self.language}"


@ieee_floats
def export_certificate(path: str | os.PathLike[str], language: str = "smtlib") -> CertificateExport:
    """Return the statements of a certificate in another language. Nothing is checked.

    ``smtlib``: of each statement a script that has no model, with the models' stages and what the proof shows
    on its way as definitions; and a script of each lemma, whose words are called what they are; ``lean``: a
    theorem of Lean 4 for each statement, by ``bv_decide``, which no Lean has run; ``acl2``: books of ACL2,
    without their refutations, which :func:`tcsmt.check_with_acl2` makes.

    Args:
        path: The certificate's folder.
        language: smtlib (scripts for SMT solvers), lean or acl2.

    Raises :class:`tcsmt.TcsmtError` for an unknown language, and for
    files that cannot be read.

    >>> import tcsmt, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     options = tcsmt.SolvingOptions(certificate=folder)
    ...     report = tcsmt.find("carry-bits", "volta", options=options)
    ...     [statement] = tcsmt.export_certificate(folder).statements
    >>> [name.split("/")[1] for name in statement.files]
    ['statement.smt2', 'lemma-1.smt2']
    >>> "(define-fun largest_exponent ()" in next(iter(statement.files.values()))
    True
    """
    name = choose("language", language, FORMATS)
    return CertificateExport(name, tuple(map(FORMATS[name], statement_files(Path(path)))))


def _smtlib(path: Path) -> ExportedStatement:
    """A statement's scripts."""
    record = record_of(path)
    title = one_line(str(record["statement"].get("title")))
    with in_file(path):
        try:
            if "about" in record["statement"]:
                return _of_theorem(path, record, title)
            statement, proof = opened(path, record)
            refuted = refuted_formulas(statement.goal, proof)
        except InvalidProof as why:
            raise TcsmtError(f"{path}: {why}") from None
    about = [f"{quotation(title)}, in its author's words", *StatementFacts(statement).lines()]
    files = {f"{path.stem}/statement.smt2": statement_script(statement, proof, about)}
    return ExportedStatement(path.name, title, files | _lemmas(path.stem, refuted, StageNames(statement)))


def _lean(path: Path) -> ExportedStatement:
    """A statement's theorem."""
    record = record_of(path)
    title = one_line(str(record["statement"].get("title")))
    if "about" in record["statement"]:
        return ExportedStatement(path.name, title, {}, _CODE)
    with in_file(path):
        statement = statement_of(path, record)
    about = [f"{quotation(title)}, in its author's words", *StatementFacts(statement).lines()]
    text = statement_theorem(statement, about)
    return ExportedStatement(path.name, title, {f"{path.stem}/Statement.lean": text})


def _acl2(path: Path) -> ExportedStatement:
    """A statement's book, and those that it includes."""
    book = book_of(path)
    if isinstance(book, CertifiedStatement):
        return ExportedStatement(path.name, book.title, {}, book.flaw)
    return ExportedStatement(path.name, book.title, files_of(book))


def _of_theorem(path: Path, record: Mapping[str, Any], title: str) -> ExportedStatement:
    """Its lemmas, whose formulas the argument has when it is gone through again."""
    from tcsmt.analysis.certified import THEOREMS

    about = theorem_statement(path, record, THEOREMS)
    assert about is not None
    formulas = _Formulas(path.parent.parent, frozenset(record["lemmas"]))
    about.theorem.check(about.values, formulas)
    refuted = [Refuted(formula, {}) for formula in formulas.asked]
    return ExportedStatement(path.name, title, _lemmas(path.stem, refuted, {}), _CODE)


class _Formulas(LemmaFiles):
    """Notes the formulas that are asked for and are among the lemmas; refutations are not looked at."""

    def __init__(self, folder: Path, names: frozenset[str]) -> None:
        super().__init__(folder)
        self._known = names
        self.asked: dict[Term, str] = {}

    def check(self, formula: Term) -> str:
        """Return the name of the formula's lemma. Raises :class:`.Missing` where the statement has none."""
        name = lemma_of(formula).name
        if name not in self._known:  # an argument goes another way where a lemma is missing
            raise Missing(f"the statement has no lemma {name}")
        return self.asked.setdefault(formula, name)


def _lemmas(folder: str, formulas: list[Refuted], names: Mapping[Term, str]) -> dict[str, str]:
    """Return the scripts of the formulas, each once."""
    different = list({refuted.formula: refuted for refuted in formulas}.values())
    return {
        f"{folder}/lemma-{number}.smt2": lemma_script(refuted, names, [f"lemma {number} of {folder}"])
        for number, refuted in enumerate(different, 1)
    }


_CODE = "its argument is code of tcsmt, not a formula"
#: What writes a statement's file in each language, by the names that ``--as`` takes.
FORMATS: Mapping[str, Callable[[Path], ExportedStatement]] = {
    "smtlib": _smtlib,
    "lean": _lean,
    "acl2": _acl2,
}
