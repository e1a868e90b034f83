"""A program in the place of ACL2."""

from __future__ import annotations

from pathlib import Path

import pytest

__all__ = ["SYSTEM_BOOKS", "fake_acl2", "system_books"]

#: Books of ACL2's own that ours include, below the folder of all of them.
SYSTEM_BOOKS = (
    "centaur/gl/gl",
    "centaur/aignet/aig-cnf",
    "centaur/satlink/lrat-interface",
    "projects/sat/lrat/stobj-based/soundness",
    "projects/sat/lrat/stobj-based/lrat-parser",
)
#: Prints, for ``(cw "~%MARK ~x0~%" (strip-cars (global-val 'include-book-alist-all ...``, the mark and the
#: certified books of a folder.
_BOOKS = """*include-book-alist-all*) echo "$line" | cut -d '%' -f 2 | cut -d ' ' -f 1
    find "BOOKS" -name '*.cert' | sed 's/\\(.*\\)[.]cert$/"\\1.lisp"/' ;;"""
#: Prints the text of ``(cw "~%~s0~%" "TEXT")``, as the end of each answer.
_ECHO = """'(cw '*) printf '\\n%s\\n' "$(echo "$line" | cut -d '"' -f 4)" ;;"""


def fake_acl2(folder: Path, monkeypatch: pytest.MonkeyPatch, cases: str, first: str = "") -> Path:
    """The program, on the path. cases: of the shell, for a line that it is told; first: what it does once."""
    program = folder / "bin" / "acl2"
    program.parent.mkdir()
    of_books = _BOOKS.replace("BOOKS", str(folder / "books"))
    loop = ["while read -r line; do", 'case "$line" in', of_books, _ECHO, cases, "esac", "done", ""]
    program.write_text("\n".join(["#!/bin/sh", first, *loop]))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    return program


def system_books(folder: Path) -> list[Path]:
    """Certified books of the program in the folder, without their suffixes."""
    books = [folder / "books" / name for name in SYSTEM_BOOKS]
    for book in books:
        book.parent.mkdir(parents=True, exist_ok=True)
        book.with_suffix(".lisp").write_text(f"; {book.name}\n")
        book.with_suffix(".cert").write_text("certified\n")
    return books
