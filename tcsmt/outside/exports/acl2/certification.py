"""Books of ACL2 on disk: written, their clauses refuted, and certified one by one.

The clauses are those that ACL2 makes of its own functions, so a first session prints them; CaDiCaL refutes
them. That session proves nothing. The second one, which certifies, knows only the books and the refutations.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tcsmt.outside.exports.acl2.derivation import BookEvent, refutation_file
from tcsmt.outside.exports.acl2.prover import Prover, ProverStopped
from tcsmt.outside.exports.acl2.statements import StatementBook
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.refutations import NotRefuted, refutation, strict
from tcsmt.support.files import make_folder, replace_text

__all__ = ["CertifiedBook", "Refuter", "certified", "certify_base", "files_of", "write_book"]

_HERE = Path(__file__).parent

#: The books that all others include, in order, each with the packages that it needs.
_BASE = ("clauses", "theorems")
_PACKAGES = (
    '(include-book "centaur/gl/portcullis" :dir :system)',
    '(include-book "centaur/aignet/portcullis" :dir :system)',
    '(include-book "centaur/satlink/portcullis" :dir :system)',
    '(include-book "projects/sat/lrat/stobj-based/soundness" :dir :system)',
)
_START = '(include-book "theorems" :ttags :all)'
_QUIET = "(set-inhibit-output-lst '(proof-tree event observation prove warning summary))"
_STARTING = 600.0  # seconds: of a busy machine
#: The first session writes clauses to a file instead of finding a refutation; it certifies nothing.
_WRITING_CLAUSES = """
(defttag :clauses)
(defun clauses-of (f) (declare (xargs :guard t)) (prog2$ (er hard? 'clauses "only as Lisp") (if f nil nil)))
(progn! (set-raw-mode t)
 (defvar *clauses* nil)
 (defun clauses-of (f)
   (with-open-file (o *clauses* :direction :output :if-exists :supersede)
    (format o "p cnf ~a ~a~%"
      (let ((m 1)) (dolist (c f m) (dolist (l (cdr c)) (setq m (max m (abs l)))))) (length f))
    (dolist (c f) (dolist (l (cdr c)) (format o "~a " l)) (format o "0~%")))
   nil)
 (set-raw-mode nil))
(defattach gl::refutation-of clauses-of)
(set-ignore-ok t)
(deflabel before-the-book)
"""


@dataclass(frozen=True)
class CertifiedBook:
    """What became of a statement's book. flaw: why ACL2 does not accept it; empty if it does.

    theorem: what it says, as ACL2 prints it. tags: the trust tags that ACL2 has seen. seconds: it took.
    refutations: how many files it needs. lines: of these. inhabited: whether its domain has a witness.
    """

    name: str
    title: str
    flaw: str
    seconds: float
    theorem: str = ""
    tags: tuple[str, ...] = ()
    refutations: int = 0
    lines: int = 0
    inhabited: bool = False

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        holds = {"file": f"{self.name}.json", "title": self.title, "certified": not self.flaw}
        about = (
            {"flaw": self.flaw}
            if self.flaw
            else {
                "theorem": self.theorem,
                "trust_tags": list(self.tags),
                "refutations": self.refutations,
                "lines": self.lines,
                "inhabited": self.inhabited,
            }
        )
        return holds | about | {"seconds": round(self.seconds, 1)}


def files_of(book: StatementBook) -> dict[str, str]:
    """The texts by their paths: the book, those that it includes, and a Makefile that certifies all there."""
    return {
        **{
            name: (_HERE / name).read_text(encoding="utf-8")
            for name in ("clauses.lisp", "theorems.lisp", "certify.sh")
        },
        "Makefile": "# Certifies all books here with ACL2 (Debian: acl2, acl2-books, acl2-books-certs).\n"
        "all:\n\tsh certify.sh\n",
        **{f"units/{unit.name}.lisp": unit.text for unit in book.units},
        f"statements/{book.name}.lisp": book.text,
    }


def write_book(book: StatementBook, folder: Path) -> None:
    """The files of a book below a folder. One that is there with this content stays as it is."""
    for name, text in files_of(book).items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            make_folder(path.parent)
            replace_text(path, text)


def _base_forms() -> list[str]:
    forms = [*_PACKAGES, '(certify-book "clauses" ? t :ttags :all)', *[":u"] * (len(_PACKAGES) + 1)]
    return [*forms, '(include-book "clauses" :ttags :all)', '(certify-book "theorems" ? t :ttags :all)']


def _certify(book: str) -> list[str]:
    return [f'(certify-book "{book}" ? nil :ttags :all)', ":u"]


def _shown(book: StatementBook) -> list[str]:
    """The theorem of a certified book, and what it rests on."""
    return [
        f'(include-book "statements/{book.name}" :ttags :all)',
        '(cw "~%THEOREM: ~x0~%TRUST-TAGS: ~x1~%INHABITED: ~x2~%"'
        f" (formula '{book.theorem} nil (w state)) (strip-cars (global-val 'ttags-seen (w state)))"
        " (if (formula 'inhabited nil (w state)) t nil))",
        ":u",
    ]


class Refuter:
    """Refutes the clauses of books' lemmas, in a session that certifies nothing.

    folder: of the books. options: of the SAT solver. A lemma that has no refutation gets no file: ACL2 does
    not accept its book, and says which lemma it is.
    """

    def __init__(self, folder: Path, options: SolvingOptions) -> None:
        self._folder, self._options = folder, options
        self._prover: Prover | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._stop()

    def _stop(self) -> None:
        if self._prover is not None:
            self._prover.__exit__(None, None, None)
            self._prover = None

    def refute(self, book: StatementBook) -> None:
        """Write the refutations of a book that has none, or those of another text."""
        home = self._folder / "statements" / book.name
        done, text = home / "refuted", hashlib.sha256(book.text.encode()).hexdigest()
        if done.exists() and done.read_text(encoding="utf-8") == text:
            return
        shutil.rmtree(home, ignore_errors=True)
        make_folder(home)
        try:
            self._refute(book, self._started())
            replace_text(done, text)
        except ProverStopped:
            self._stop()  # the book has no refutation: it is not certified

    def _started(self) -> Prover:
        if self._prover is None:
            certify_base(self._folder)
            self._prover = Prover(self._folder).__enter__()
            self._prover.send(f"{_START}\n{_QUIET}\n{_WRITING_CLAUSES}", _STARTING)
        return self._prover

    def _refute(self, book: StatementBook, prover: Prover) -> None:
        with (
            tempfile.TemporaryDirectory(prefix="tcsmt-") as scratch,
            ThreadPoolExecutor(max(1, self._options.jobs)) as solvers,
        ):
            pending: list[Future[None]] = []
            for unit in book.units:
                prover.send(_events(unit.text), _STARTING)
            for event in book.events:
                if event.lemma:
                    clauses = Path(scratch) / event.lemma
                    _write_clauses(prover, event, clauses)
                    target = self._folder / "statements" / refutation_file(book.name, event.lemma)
                    if clauses.exists():
                        pending.append(solvers.submit(_refuted, clauses, target, self._options))
                elif event.text.startswith("(defun "):
                    prover.send(event.text, _STARTING)
            for future in pending:
                future.result()
            prover.send("(ubt! 'before-the-book)\n(deflabel before-the-book)", _STARTING)


def _events(text: str) -> str:
    """A book's events, for a session that has what it includes."""
    elsewhere = ("(in-package", "(include-book")
    return "\n".join(line for line in text.splitlines() if not line.startswith(elsewhere))


def _write_clauses(prover: Prover, event: BookEvent, path: Path) -> None:
    """The event without a refutation: it fails, unless there is nothing to refute."""
    prover.send(
        f'(progn! (set-raw-mode t) (setq *clauses* "{path}") (set-raw-mode nil))\n{event.text}', _STARTING
    )


def _refuted(clauses: Path, target: Path, options: SolvingOptions) -> None:
    text = clauses.read_text(encoding="utf-8")
    try:
        found = refutation(text, options)
        lines = [tuple(map(int, line.split()[:-1])) for line in text.splitlines()[1:]]
        replace_text(target, strict(found, lines))
    except NotRefuted:
        pass  # ACL2 says so
    finally:
        clauses.unlink()


def certify_base(folder: Path) -> None:
    """Once for a folder: the books that all others include."""
    if all(_is_certified(folder / name) for name in _BASE):
        return
    with Prover(folder) as prover:
        prover.send("\n".join(_base_forms()), _STARTING)


def _is_certified(book: Path) -> bool:
    certificate, source = book.with_name(f"{book.name}.cert"), book.with_name(f"{book.name}.lisp")
    return certificate.exists() and certificate.stat().st_mtime >= source.stat().st_mtime


def certified(books: Iterable[StatementBook], folder: Path, timeout: float) -> Iterator[CertifiedBook]:
    """Certify the books one by one, from the files in the folder alone, which are there by then.

    timeout: of each, in seconds.
    """
    done: set[str] = set()
    with ExitStack() as sessions:
        prover: Prover | None = None
        for book in books:
            start = time.monotonic()
            try:
                if prover is None:
                    certify_base(folder)
                    prover = sessions.enter_context(Prover(folder))
                    prover.send(f"{_START}\n{_QUIET}", _STARTING)
                yield _certified(prover, book, folder, done, timeout)
            except ProverStopped as why:
                sessions.close()
                prover = None
                yield CertifiedBook(book.name, book.title, str(why), time.monotonic() - start)


def _certified(
    prover: Prover, book: StatementBook, folder: Path, done: set[str], timeout: float
) -> CertifiedBook:
    start = time.monotonic()
    names = [*(f"units/{unit.name}" for unit in book.units), f"statements/{book.name}"]
    for name in names:
        if name in done:
            continue
        certificate = folder / f"{name}.cert"
        certificate.unlink(missing_ok=True)
        printed = prover.send("\n".join(_certify(name)), timeout)
        if not certificate.exists():
            return CertifiedBook(book.name, book.title, _flaw(printed), time.monotonic() - start)
        done.add(name)
    printed = prover.send("\n".join(_shown(book)), timeout)
    shown = re.search(r"\nTHEOREM: (.*?)\nTRUST-TAGS: (.*?)\nINHABITED: (T|NIL)", printed, re.DOTALL)
    if shown is None:
        return CertifiedBook(book.name, book.title, _flaw(printed), time.monotonic() - start)
    files = [folder / "statements" / refutation_file(book.name, event.lemma) for event in book.lemmas]
    counts = [file.read_bytes().count(b"\n") for file in files if file.exists()]
    says = " ".join(shown.group(1).split())
    trusted = tuple(re.findall(r":[\w-]+", shown.group(2).lower()))
    inhabited = shown.group(3) == "T"
    seconds = time.monotonic() - start
    return CertifiedBook(
        book.name, book.title, "", seconds, says, trusted, len(counts), sum(counts), inhabited
    )


def _flaw(printed: str) -> str:
    """What ACL2 says first is wrong."""
    errors = re.findall(r"(?:HARD ACL2 ERROR|ACL2 Error|Error:)[^\n]*(?:\n(?!\n)[^\n]+){0,3}", printed)
    event = re.search(r"in \( ?(?:DEFTHM|DEFUN|ENCAPSULATE|INCLUDE-BOOK) +([^\s)]+)", printed)
    where = f"{event.group(1).lower()}: " if event else ""
    return where + (" ".join(errors[0].split())[:300] if errors else f"not certified: {printed[-300:]}")
