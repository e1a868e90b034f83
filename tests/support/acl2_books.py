"""Books of ACL2 for statements of certificates."""

from __future__ import annotations

from pathlib import Path

from tcsmt.outside.exports.acl2.statements import StatementBook, statement_book
from tcsmt.prove.certificates.files import opened, record_of, statement_files

__all__ = ["book_of"]


def book_of(folder: Path, title: str) -> StatementBook:
    """The book of the statement whose title starts like this."""
    (path,) = (p for p in statement_files(folder) if record_of(p)["statement"]["title"].startswith(title))
    return statement_book(path, *opened(path, record_of(path)))
