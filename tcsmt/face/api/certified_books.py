"""Certificates checked by a theorem prover: each statement a theorem that ACL2 certifies."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tcsmt.face.api.statements import StatementFacts
from tcsmt.matrix_units.models import circuit  # noqa: F401 (statements may be about designs)
from tcsmt.outside.exports.acl2.certification import CertifiedBook, certifying
from tcsmt.outside.exports.acl2.errors import error_book
from tcsmt.outside.exports.acl2.statements import StatementBook, statement_book
from tcsmt.prove.certificates.derivation import InvalidProof
from tcsmt.prove.certificates.files import opened, record_of, statement_files
from tcsmt.prove.certificates.theorems import TheoremStatement, theorem_of
from tcsmt.support.errors import TcsmtError
from tcsmt.support.text import one_line

__all__ = ["CertifiedStatement", "certified_in", "check_with_acl2"]

#: Seconds for ACL2 to certify a statement, where the caller gives none.
_TIMEOUT = 600.0


@dataclass(frozen=True)
class CertifiedStatement:
    """One statement of a certificate, as ACL2 takes it.

    file: of the statement. flaw: why ACL2 does not certify it; empty if it does. book: what became of its
    book; None where there is none. units: the rows of the catalogue that the functions in the theorem are.
    """

    file: str
    title: str
    flaw: str
    book: CertifiedBook | None = None
    units: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        holds = {"file": self.file, "title": self.title, "certified": not self.flaw}
        about: dict[str, Any] = {"flaw": self.flaw} if self.flaw else {"units": dict(self.units)}
        return holds | about | (self.book.as_json() if self.book else {})

    def __str__(self) -> str:
        if self.flaw or self.book is None:
            return f"{self.title}: NOT CERTIFIED: {self.flaw}"
        book = self.book
        lines = [f"theorem: {book.theorem}", *(f"{unit} is {rows}" for unit, rows in self.units.items())]
        if "IN-DOMAIN" in book.theorem:
            lines.append(f"an inhabitant of the domain: {'certified' if book.inhabited else 'NONE IS KNOWN'}")
        lines.append(f"refutations: {book.refutations}, {book.lines} lines")
        lines.append(f"trust tags: {', '.join(book.tags)}")
        return "\n  ".join([f"{self.title}: certified, {book.seconds:.1f} s of the processor", *lines])


def check_with_acl2(
    path: str | os.PathLike[str],
    *,
    books: str | os.PathLike[str] | None = None,
    only: str = "",
    timeout: float = _TIMEOUT,
) -> list[CertifiedStatement]:
    """Have ACL2 certify each statement of a certificate, from the units' definitions to the last clause.

    path: the certificate's folder. books: where the books and their refutations are written, for ``make``
    there; refutations of the same books that are there already are taken. None: a folder that is deleted.
    only: part of the title of the statements that count. timeout: seconds for each statement, and for
    each of its refutations.
    Raises :class:`tcsmt.TcsmtError` for files that cannot be read, and where ACL2 is not installed.
    """
    folder = None if books is None else Path(books)
    return list(certified_in(Path(path), folder, titled=lambda title: only in title, timeout=timeout))


def certified_in(
    path: Path,
    books: Path | None,
    *,
    titled: Callable[[str], bool] = lambda title: True,
    timeout: float = _TIMEOUT,
) -> Iterator[CertifiedStatement]:
    """Each statement as soon as ACL2 has certified it. titled: whether the one with this title counts."""
    with certifying(books, timeout) as certified:
        paths = [file for file in statement_files(path) if titled(_title(file))]
        if not paths:
            raise TcsmtError(f"no statement of {path} has such a title")
        for file in paths:
            book = book_of(file)
            if isinstance(book, CertifiedStatement):
                yield book
                continue
            result = certified(book)
            yield CertifiedStatement(file.name, result.title, result.flaw, result, _units(book))


def _units(book: StatementBook) -> dict[str, str]:
    """What the units' functions are."""
    names = StatementFacts(book.statement).units()
    return {unit.function: names[unit.file] for unit in book.units if unit.file}


def book_of(path: Path) -> StatementBook | CertifiedStatement:
    """The book of a statement, or why there is none."""
    record = record_of(path)
    try:
        if "about" in record["statement"]:
            return error_book(path, _theorem(path, record["statement"]))
        return statement_book(path, *opened(path, record))
    except InvalidProof as flaw:
        return CertifiedStatement(path.name, _title(path), f"no book: {one_line(str(flaw))}")


def _theorem(path: Path, record: Mapping[str, Any]) -> TheoremStatement:
    from tcsmt.analysis.certified import THEOREMS

    theorem = theorem_of(record, THEOREMS)
    return TheoremStatement(theorem, record, theorem.read(record, path.parent.parent))


def _title(path: Path) -> str:
    return one_line(str(record_of(path)["statement"].get("title", "")))
