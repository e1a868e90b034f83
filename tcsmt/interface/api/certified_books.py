"""Books that ACL2 certifies: statements of certificates, and units as the page that is written by hand."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tcsmt.interface.api.certificates import StatementFacts, chosen_files, flawed, title_in
from tcsmt.interface.api.units import UnitLike, side_of
from tcsmt.interop.exports.acl2.certification import CertifiedBook, certifying
from tcsmt.interop.exports.acl2.errors import error_book
from tcsmt.interop.exports.acl2.specification import SpecifiedNumbers, specification_book, specified_numbers
from tcsmt.interop.exports.acl2.statements import StatementBook, statement_book
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import circuit  # noqa: F401 (statements may be about designs)
from tcsmt.prove.certificates.derivation import InvalidProof
from tcsmt.prove.certificates.files import opened, record_of
from tcsmt.prove.certificates.parts import in_file
from tcsmt.prove.certificates.theorems import theorem_statement
from tcsmt.support.errors import TcsmtError
from tcsmt.support.floats import ieee_floats
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.support.text import counted, one_line, quotation

#: Seconds for ACL2 to certify a statement or a unit, where the caller gives none.
_TIMEOUT = 600.0
_BOOKS = (
    "of what a unit computes: its functions in `units/*.lisp` of the books, written from its graph; "
    "`tcsmt certificate specified UNIT` proves them to be what one page says, which is written by hand "
    "(results/theorems/acl2/specification.lisp)"
)


@dataclass(frozen=True)
class CertifiedStatement:
    """One statement of a certificate, as ACL2 takes it.

    file: of the statement. title: what its author calls it. flaw: why ACL2 does not certify it; empty if it
    does. book: what became of its book; None where there is none. units: the rows of the catalogue that the
    functions in the theorem are. says: the statement in words, made from its content.
    """

    file: str
    title: str
    flaw: str
    book: CertifiedBook | None = None
    units: Mapping[str, str] = field(default_factory=dict)
    says: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as plain data."""
        holds = {"file": self.file, "title": self.title, "certified": not self.flaw}
        about: dict[str, Any] = {"flaw": self.flaw} if self.flaw else {"units": dict(self.units)}
        return holds | about | (self.book.as_json() if self.book else {})

    @property
    def verdict(self) -> str:
        """Return whether ACL2 certifies it, in words that its author did not choose."""
        if self.flaw or self.book is None:
            return f"NOT CERTIFIED: {self.flaw}"
        return f"certified, {self.book.seconds:.1f} s of the processor"

    def __str__(self) -> str:
        lines = [f"statement: {self.says}"] if self.says else []
        lines.append(f"{quotation(self.title)}, in its author's words ({self.file})")
        if self.book is not None and not self.flaw:
            lines += self.book.shown(self.units)
            if "IN-DOMAIN" in self.book.theorem:
                known = "certified" if self.book.inhabited else "NONE IS KNOWN"
                lines.append(f"an inhabitant of the domain: {known}")
            lines.append(f"refutations: {self.book.refutations}, {self.book.lines} lines")
            lines.append(f"trust tags: {', '.join(self.book.tags)}")
        return "\n  ".join([self.verdict, *lines])


@ieee_floats
def check_with_acl2(
    path: str | os.PathLike[str],
    *,
    books: str | os.PathLike[str] | None = None,
    only: str = "",
    timeout: float = _TIMEOUT,
) -> list[CertifiedStatement]:
    """Have ACL2 certify each statement of a certificate, from the units' definitions to the last clause.

    Args:
        path: The certificate's folder.
        books: Write the prover's books and refutations here; those already there are used again. [default: a
            folder that is deleted]
        only: Only statements whose title has this text.
        timeout: Seconds for each statement, and for each of its refutations.

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
    progress: ProgressCallback = no_progress,
) -> Iterator[CertifiedStatement]:
    """Each statement as soon as ACL2 has certified it. titled: whether the one with this title counts.

    progress: is told before each step how many statements are done, of how many, and what ACL2 does now.
    """
    done, paths = 0, chosen_files(path, titled)
    with certifying(books, timeout, lambda what: progress(done, len(paths), what)) as certified:
        for file in paths:
            book = book_of(file)
            if isinstance(book, CertifiedStatement):
                yield book
            else:
                result, facts = certified(book), StatementFacts(book.statement)
                units = _units(book, facts)
                yield CertifiedStatement(
                    file.name, result.title, result.flaw, result, units, one_line(facts.states.says)
                )
            done += 1


def _units(book: StatementBook, facts: StatementFacts) -> dict[str, str]:
    """Return what the units' functions are."""
    names = facts.units()
    return {unit.function: names[unit.file] for unit in book.units if unit.file}


def book_of(path: Path) -> StatementBook | CertifiedStatement:
    """The book of a statement, or why there is none. Raises :class:`.Malformed` for what is no statement."""
    from tcsmt.analysis.certified import THEOREMS

    record = record_of(path)
    try:
        with in_file(path):
            theorem = theorem_statement(path, record, THEOREMS)
            if theorem is not None:
                return error_book(path, theorem)
            return statement_book(path, *opened(path, record))
    except InvalidProof as flaw:
        return CertifiedStatement(path.name, title_in(path), f"no book: {one_line(str(flaw))}")


@dataclass(frozen=True)
class SpecifiedUnit:
    """A unit, as ACL2 takes the theorem that it is the specification with some numbers.

    unit: its name. numbers: those of the specification that are the unit's. book: what became of its book.
    """

    unit: str
    numbers: SpecifiedNumbers
    book: CertifiedBook

    @property
    def flaw(self) -> str:
        """Why ACL2 does not certify it; empty if it does."""
        return self.book.flaw

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as plain data."""
        return {"unit": self.unit, "numbers": asdict(self.numbers)} | self.book.as_json()

    def __str__(self) -> str:
        if self.flaw:
            return f"{self.unit}: NOT CERTIFIED: {self.flaw}"
        book = self.book
        lines = [
            f"{self.unit}: certified as the specification, {book.seconds:.1f} s of the processor",
            f"numbers: {self.numbers}",
            *book.shown(dict.fromkeys(re.findall(r"unit\.\w+", book.theorem.lower()), self.unit)),
            f"refutations: {book.refutations}, {book.lines} lines",
            f"trust tags: {', '.join(book.tags)}",
        ]
        return "\n  ".join(lines)


@ieee_floats
def specified_with_acl2(
    *units: UnitLike, books: str | os.PathLike[str] | None = None, timeout: float = _TIMEOUT
) -> list[SpecifiedUnit]:
    """Have ACL2 certify that units give the words of the specification, for all words.

    The specification is ``results/theorems/acl2/specification.lisp``, a page over integers and rational
    numbers that is written by hand.

    Args:
        units: As :func:`tcsmt.unit` takes them.
        books: Write the prover's books and refutations here; refutations already there are used again.
            [default: a folder that is deleted]
        timeout: Seconds for each unit, and for each of its refutations.

    Raises :class:`tcsmt.TcsmtError` for a unit that the specification has no parameters for, and where ACL2
    is not installed.
    """
    return list(specified_in([side_of(unit).row for unit in units], books, timeout))


def specified_in(
    rows: Sequence[Row], books: str | os.PathLike[str] | None = None, timeout: float = _TIMEOUT
) -> Iterator[SpecifiedUnit]:
    """Each unit as soon as ACL2 has taken it."""
    numbers = [_numbers(row) for row in rows]
    with certifying(None if books is None else Path(books), timeout) as certified:
        for row, number in zip(rows, numbers, strict=True):
            yield SpecifiedUnit(row.name, number, certified(specification_book(row.model)))


def _numbers(row: Row) -> SpecifiedNumbers:
    try:
        return specified_numbers(row.model)
    except TcsmtError as why:
        raise TcsmtError(f"{row.name}: {why}") from None


def summary_of_books(done: Sequence[CertifiedStatement]) -> Iterator[str]:
    """Yield the page for statements that a theorem prover has taken."""
    yield f"summary: {counted(len(done), 'statement')} ({sum(not one.flaw for one in done)} certified)"
    yield from flawed([one.file for one in done if one.flaw], "NOT CERTIFIED")
    tags = sorted({tag for one in done if one.book is not None for tag in one.book.tags})
    with_tags = f", and the code under its trust tags {', '.join(tags)}" if tags else ""
    yield f"trusted: ACL2 and its own books{with_tags}; not tcsmt, and no solver"
    yield f"specification: {_BOOKS}"
