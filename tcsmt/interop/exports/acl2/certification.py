"""Books of ACL2 on disk: written, their clauses refuted, and certified one by one.

The clauses are those that ACL2 makes of its own functions, so a first session prints them; CaDiCaL refutes
them. That session proves nothing. The second one, which certifies, knows only the books and the refutations.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

from tcsmt.interop.exports.acl2.derivation import FORGOTTEN, BookEvent, refutation_file
from tcsmt.interop.exports.acl2.prover import (
    Prover,
    ProverStopped,
    is_saved,
    laid_out,
    load_books,
    prover_path,
    with_books,
)
from tcsmt.interop.exports.acl2.units import UnitBook
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.refutations import NotRefuted, available, refutation, strict
from tcsmt.support import extras
from tcsmt.support.errors import TcsmtError
from tcsmt.support.escaping import lisp_string
from tcsmt.support.files import make_folder, replace_text
from tcsmt.support.progress import ignore

_HERE = Path(__file__).parent

#: The books that all others include, in order.
_BASE = ("clauses", "theorems")
_QUIET = "(set-inhibit-output-lst '(proof-tree event observation prove warning summary))"
#: The trust tags of ACL2's own books that ours include. A book with another one is refused.
_TAGS = "((:fast-cons-memo) (:aig-vars))"
_STARTING = 600.0  # seconds: of a busy machine
#: What a session may have after a book, or another one is started: Lisp gives back no memory that it has had.
_MEGABYTES = 4000
#: Frees what the simulation of a book has kept; without it, a session grows by gigabytes.
_FORGET = "(clear-memoize-tables)\n(hons-clear t)"
#: Prints the processor time that the session has taken, in milliseconds.
_RUN_TIME = """(mv-let (seconds state) (read-run-time state)
 (prog2$ (cw "~%RUN-TIME: ~x0~%" (floor (* 1000 seconds) 1)) (value nil)))"""
#: The first session writes clauses to a file instead of finding a refutation; it certifies nothing.
_WRITING_CLAUSES = r"""
(defttag :clauses)
(defun clauses-of (f) (declare (xargs :guard t)) (prog2$ (er hard? 'clauses "only as Lisp") (if f nil nil)))
(progn! (set-raw-mode t)
 (defvar *clauses* nil)
 (setf (symbol-function 'clauses-of)
  (compile nil '(lambda (f)
   (with-open-file (o *clauses* :direction :output :if-exists :supersede)
    (format o "p cnf ~a ~a~%"
      (let ((m 1)) (dolist (c f m) (dolist (l (cdr c)) (setq m (max m (abs l)))))) (length f))
    (dolist (c f) (dolist (l (cdr c)) (princ l o) (write-char #\Space o)) (write-line "0" o)))
   nil)))
 (set-raw-mode nil))
(defattach gl::refutation-of clauses-of)
(set-ignore-ok t)
(deflabel before-the-book)
"""


#: How each of our books begins.
_PACKAGE = '(in-package "ACL2")'
#: How what a book includes is taken over by that session: its proofs are for the one that certifies.
_AS_INCLUDED, _AS_PROVED = (f"(set-ld-skip-proofsp {mode} state)" for mode in ("'include-book", "nil"))


class Book(Protocol):
    """A book that is certified."""

    @property
    def name(self) -> str:
        """Return the name of its file, and of the folder of its refutations."""

    @property
    def title(self) -> str:
        """Return what people call it."""

    @property
    def units(self) -> tuple[UnitBook, ...]:
        """Return the books that it needs, in their order."""

    @property
    def events(self) -> tuple[BookEvent, ...]:
        """Return all events, in order."""

    @property
    def theorem(self) -> str:
        """Return the name of the last theorem."""

    @property
    def text(self) -> str:
        """Return what the file holds."""

    @property
    def lemmas(self) -> list[BookEvent]:
        """Return the theorems with clauses."""


@dataclass(frozen=True)
class CertifiedBook:
    """The outcome of a statement's book. flaw: why ACL2 does not accept it; empty if it does.

    theorem: what it says, as ACL2 prints it. tags: the trust tags that ACL2 has seen. seconds: of the
    processor, that ACL2 took; a unit's book that several need counts for the first. refutations: how many
    files it needs. lines: of these. inhabited: whether its domain has a witness.
    """

    name: str
    title: str
    flaw: str
    theorem: str = ""
    tags: tuple[str, ...] = ()
    refutations: int = 0
    lines: int = 0
    inhabited: bool = False
    seconds: float = 0.0

    def shown(self, units: Mapping[str, str]) -> list[str]:
        """Return the theorem in lines. units: what functions are; those that it does not call come last."""
        others = [name for name in units if f"({name} " not in self.theorem.lower()]
        first, *more = laid_out(self.theorem, units)
        lines = ["theorem:", *(f"  {line}" for line in (first, *more))] if more else [f"theorem: {first}"]
        return [*lines, *(f"{name} is {units[name]}" for name in others)]

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as plain data."""
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
                "processor_seconds": round(self.seconds, 1),
            }
        )
        return holds | about


def files_of(book: Book) -> dict[str, str]:
    """Return the texts by their paths: the book, those that it includes, and a Makefile that certifies all
    there.
    """
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


def write_book(book: Book, folder: Path) -> None:
    """Write the files of a book below a folder. One that is there with this content stays as it is."""
    for name, text in files_of(book).items():
        path = folder / name
        there = path.read_text(encoding="utf-8", errors="replace") if path.exists() else text
        if there.partition("\n")[0] != text.partition("\n")[0] and _PACKAGE not in there:
            raise TcsmtError(f"{path} was not written by tcsmt: give a folder of its own for books")
        if there != text or not path.exists():
            make_folder(path.parent)
            replace_text(path, text)


@contextmanager
def certifying(
    books: Path | None, timeout: float, say: Callable[[str], None] = ignore
) -> Iterator[Callable[[Book], CertifiedBook]]:
    """Yield what certifies a book: writes it, has its clauses refuted, and gives it to ACL2.

    books: the folder, whose refutations are taken; None: one that is deleted at the end. timeout: seconds for
    each book, and for each of its refutations. say: is told what ACL2 does now.
    Raises :class:`.TcsmtError` where ACL2 or CaDiCaL is missing.
    """
    prover_path()
    if not available():
        raise TcsmtError(f"refutations need CaDiCaL: {extras.install('certificates')}")
    with ExitStack() as stack:
        folder = (books or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tcsmt-")))).absolute()
        refuter = stack.enter_context(Refuter(folder, SolvingOptions(timeout=timeout)))
        certifier = stack.enter_context(Certifier(folder, timeout))

        def certified(book: Book) -> CertifiedBook:
            write_book(book, folder)
            say(f"{book.name}: ACL2 writes clauses, which are refuted (first it loads its own books)")
            refuter.refute(book)
            say(f"{book.name}: ACL2 certifies it")
            return certifier.certify(book)

        yield certified


def _shown(book: Book, mark: str) -> str:
    """Return a form that prints an included book's theorem as ACL2's world has it, and what it rests on, and
    undoes the book. mark: a text that the book cannot know, so that no line that it prints is taken for this
    one.
    """
    theorem = f"(formula '{book.theorem} nil (w state))"
    return (
        f'(cw "~%{mark} THEOREM: ~x0~%TRUST-TAGS: ~x1~%INHABITED: ~x2~%{mark}~%" {theorem}'
        " (strip-cars (global-val 'ttags-seen (w state))) (if (formula 'inhabited nil (w state)) t nil))\n"
        f"(ld (if {theorem} '((u)) nil) :ld-error-action :return :ld-verbose nil)"
    )


def _undone(*forms: str) -> str:
    """Return the forms, of which the first one is an event; it is undone, if it has not failed."""
    return f"(ld '({' '.join(forms)} (u)) :ld-error-action :return :ld-verbose nil)"


def _included(book: str) -> str:
    return f"(include-book {lisp_string(book)} :ttags :all :uncertified-okp nil)"


class Refuter:
    """Refutes the clauses of books' lemmas, in a session that certifies nothing.

    folder: of the books; refutations are kept in it by their clauses. options: of the SAT solver. A lemma
    that has no refutation gets no file: ACL2 does not accept its book, and says which lemma it is.
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

    def refute(self, book: Book) -> None:
        """Write the refutations of a book that has none, or those of another text."""
        home = self._folder / "statements" / book.name
        done, text = home / "refuted", hashlib.sha256(book.text.encode()).hexdigest()
        if done.exists() and done.read_text(encoding="utf-8") == text:
            return
        make_folder(home)
        _forget(home)
        try:
            prover = self._started()
            if self._refute(book, prover):
                replace_text(done, text)
            if prover.megabytes > _MEGABYTES:
                self._stop()
        except ProverStopped:
            self._stop()  # the book has no refutation: it is not certified

    def _started(self) -> Prover:
        if self._prover is None:
            self._prover = _session(self._folder, _WRITING_CLAUSES)
        return self._prover

    def _refute(self, book: Book, prover: Prover) -> bool:
        """Return whether all of the book's clauses are refuted."""
        with (
            tempfile.TemporaryDirectory(prefix="tcsmt-") as scratch,
            ThreadPoolExecutor(max(1, self._options.jobs)) as solvers,
        ):
            pending: list[Future[bool]] = []
            units = "\n".join(_events(unit.text) for unit in book.units)
            prover.send(f"{_AS_INCLUDED}\n{units}\n{_AS_PROVED}", _STARTING)
            for event in book.events:
                if event.lemma:
                    clauses = Path(scratch) / event.lemma
                    _write_clauses(prover, event, clauses)
                    target = self._folder / "statements" / refutation_file(book.name, event.lemma)
                    if clauses.exists():
                        pending.append(solvers.submit(_refuted, clauses, target, self._options))
                elif event.text.startswith(("(defun ", FORGOTTEN)):
                    prover.send(event.text, _STARTING)
            prover.send(f"(ubt! 'before-the-book)\n(deflabel before-the-book)\n{_FORGET}", _STARTING)
            return all(future.result() for future in pending)


def _events(text: str) -> str:
    """Return a book's events, for a session that has what it includes."""
    elsewhere = ("(in-package", "(include-book")
    return "\n".join(line for line in text.splitlines() if not line.startswith(elsewhere))


def _write_clauses(prover: Prover, event: BookEvent, path: Path) -> None:
    """Write the clauses of the event without a refutation: it fails, unless there is nothing to refute."""
    place = f"(progn! (set-raw-mode t) (setq *clauses* {lisp_string(str(path))}) (set-raw-mode nil))"
    prover.send(f"{place}\n{event.text}", _STARTING)


def _refuted(clauses: Path, target: Path, options: SolvingOptions) -> bool:
    """Write the refutation. These clauses may have one already, of another book or from an earlier run."""
    text = clauses.read_text(encoding="utf-8")
    clauses.unlink()
    name = f"{hashlib.sha256(text.encode()).hexdigest()}.lrat"
    known = target.parents[2] / "refutations" / name
    if not known.exists():
        try:
            found = refutation(text, options)
            lines = [tuple(map(int, line.split()[:-1])) for line in text.splitlines()[1:]]
            make_folder(known.parent)
            replace_text(known, strict(found, lines))
        except NotRefuted:
            return False  # ACL2 says which lemma it is
    try:
        target.hardlink_to(known)
    except OSError as error:
        raise TcsmtError(f"cannot write {target}: {error.strerror}") from None
    return True


def _forget(folder: Path) -> None:
    """Delete a book's refutations, which are other names of files that are kept, and nothing else."""
    for path in folder.iterdir():
        if path.name == "refuted" or (path.suffix == ".lrat" and path.stat().st_nlink > 1):
            path.unlink()


def _session(folder: Path, forms: str = "") -> Prover:
    """Start ACL2 with the books that all others include, certified anew, and what the forms add.

    Raises :class:`.TcsmtError` where ACL2's own books are not certified, or ours are not.
    """
    program = with_books(_try_out)
    prover = _begun(folder, program)
    prover.send(f"{forms}\n{_QUIET}", _STARTING)
    return prover


def _try_out(program: Path) -> None:
    """Certify the books that all others include with a program that ACL2 has saved."""
    with tempfile.TemporaryDirectory(prefix="tcsmt-") as folder:
        for name in _BASE:
            shutil.copy(_HERE / f"{name}.lisp", folder)
        _begun(Path(folder), program).__exit__(None, None, None)


def _begun(folder: Path, program: Path) -> Prover:
    """Return a session with ACL2's own books and those in the folder that all others include."""
    prover = Prover(folder, program)
    try:
        prover.__enter__()
        load_books(prover, _STARTING)
        for book in _BASE:
            flaw = _flaw_of(prover, folder, book, _STARTING, compiled=True)
            if flaw:
                raise TcsmtError(f"{book}.lisp: {flaw}")
            prover.send(_included(book), _STARTING)
    except (TcsmtError, ProverStopped) as why:
        prover.__exit__(None, None, None)
        again = f"; delete {program.parent}, and it is saved again" if is_saved(program) else ""
        raise TcsmtError(f"ACL2 ({program}) does not work: {why}{again}") from None
    except BaseException:
        prover.__exit__(None, None, None)
        raise
    return prover


class Certifier:
    """Certifies books, from the files in the folder alone, to be used in a ``with`` statement.

    timeout: of each book, in seconds.
    """

    def __init__(self, folder: Path, timeout: float) -> None:
        self._folder, self._timeout = folder, timeout
        self._prover: Prover | None = None
        self._units: dict[str, bytes] = {}  # what was certified in this session

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._prover is not None:
            self._prover.__exit__(None, None, None)
            self._prover = None

    def certify(self, book: Book) -> CertifiedBook:
        """Return what becomes of the book. A certificate of ACL2 that is there already does not count."""
        try:
            if self._prover is None:
                self._units.clear()
                self._prover = _session(self._folder)
            result = self._certified(self._prover, book)
            self._prover.send(_FORGET, _STARTING)
            if self._prover.megabytes > _MEGABYTES:
                self.__exit__()
            return result
        except ProverStopped as why:
            self.__exit__()
            return CertifiedBook(book.name, book.title, str(why))

    def _certified(self, prover: Prover, book: Book) -> CertifiedBook:
        start = _seconds(prover.send(_RUN_TIME, self._timeout))
        for unit in book.units:
            name = f"units/{unit.name}"
            text = (self._folder / f"{name}.lisp").read_bytes()
            if self._units.get(name) != text:
                self._units.pop(name, None)
                flaw = _flaw_of(prover, self._folder, name, self._timeout)
                if flaw:
                    return CertifiedBook(book.name, book.title, flaw)
                self._units[name] = text
        flaw = _flaw_of(prover, self._folder, f"statements/{book.name}", self._timeout)
        if flaw:
            return CertifiedBook(book.name, book.title, flaw)
        prover.send(_included(f"statements/{book.name}"), self._timeout)
        mark = secrets.token_hex(16)
        printed = prover.send(f"{_shown(book, mark)}\n{_RUN_TIME}", self._timeout)
        shown = re.search(
            rf"\n{mark} THEOREM:\s+(\(.*?)\nTRUST-TAGS: (.*?)\nINHABITED: (T|NIL)\n{mark}\n",
            printed,
            re.DOTALL,
        )
        if shown is None:
            return CertifiedBook(book.name, book.title, f"there is no theorem {book.theorem}")
        names = [refutation_file(book.name, event.lemma) for event in book.lemmas]
        files = [self._folder / "statements" / name for name in names]
        counts = [file.read_bytes().count(b"\n") for file in files if file.exists()]
        return CertifiedBook(
            book.name,
            book.title,
            flaw="",
            theorem=" ".join(shown.group(1).split()),
            tags=tuple(re.findall(r":[\w-]+", shown.group(2).lower())),
            refutations=len(counts),
            lines=sum(counts),
            inhabited=shown.group(3) == "T",
            seconds=_seconds(printed) - start,
        )


def _flaw_of(prover: Prover, folder: Path, name: str, timeout: float, *, compiled: bool = False) -> str:
    """Certify the book of this name: why ACL2 does not; empty if it does. compiled: by Lisp, too."""
    certificate = folder / f"{name}.cert"
    certificate.unlink(missing_ok=True)
    options = f"? {'t' if compiled else 'nil'} :ttags {_TAGS}"
    printed = prover.send(_undone(f"(certify-book {lisp_string(name)} {options})"), timeout)
    return "" if certificate.exists() else _flaw(printed)


def _seconds(printed: str) -> float:
    milliseconds = re.search(r"\nRUN-TIME: (\d+)", printed)
    if milliseconds is None:
        raise ProverStopped(f"ACL2 does not tell its run time: {printed[-300:]}")
    return int(milliseconds.group(1)) / 1000


def _flaw(printed: str) -> str:
    """Return what ACL2 says first is wrong."""
    error = re.search(r"(?:HARD ACL2 ERROR|ACL2 Error|Error:).*?(?=\n\n\n|\Z)", printed, re.DOTALL)
    event = re.search(r"ACL2 Error[^(]* in \( ?((?!CERTIFY)[A-Z-]+ +[^\s.)]+)", printed)
    where = f"{event.group(1).lower()}: " if event else ""
    says = " ".join(error.group().split()) if error else f"not certified: {printed[-300:]}"
    return where + re.sub(r'"/[^"]*/', '"', says)[:400]
