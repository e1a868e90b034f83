"""Books of ACL2 for statements of certificates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tcsmt.analysis.certified import THEOREMS
from tcsmt.interop.exports.acl2.errors import error_book
from tcsmt.interop.exports.acl2.statements import StatementBook, statement_book
from tcsmt.prove.certificates.files import opened, record_of
from tcsmt.prove.certificates.parts import statement_files
from tcsmt.prove.certificates.theorems import TheoremStatement, theorem_of

__all__ = ["book_of", "book_of_errors"]


def book_of(folder: Path, title: str) -> StatementBook:
    """The book of the statement whose title starts like this."""
    path = _path(folder, title)
    return statement_book(path, *opened(path, record_of(path)))


def book_of_errors(folder: Path, title: str, **changes: Any) -> StatementBook:
    """The same of a statement about errors. changes: of its record; nothing is checked."""
    path = _path(folder, title)
    record = record_of(path)["statement"] | changes
    theorem = theorem_of(record, THEOREMS)
    return error_book(path, TheoremStatement(theorem, record, theorem.read(record, folder)))


def _path(folder: Path, title: str) -> Path:
    (path,) = (p for p in statement_files(folder) if record_of(p)["statement"]["title"].startswith(title))
    return path
