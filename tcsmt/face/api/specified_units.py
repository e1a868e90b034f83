"""Units that a theorem prover certifies as the specification written by hand."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tcsmt.face.api.units import UnitLike, side_of
from tcsmt.matrix_units.catalogue import Row
from tcsmt.outside.exports.acl2.certification import CertifiedBook, certifying
from tcsmt.outside.exports.acl2.specification import SpecifiedNumbers, specification_book, specified_numbers
from tcsmt.support.errors import TcsmtError
from tcsmt.support.floats import ieee_floats

__all__ = ["SpecifiedUnit", "specified_in", "specified_with_acl2"]

#: Seconds for ACL2 to certify a unit, where the caller gives none.
_TIMEOUT = 600.0


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
        """As plain data."""
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
        books: Write the prover's books and refutations here; refutations that are there are taken. [default:
            a folder that is deleted]
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
        for row, own in zip(rows, numbers, strict=True):
            yield SpecifiedUnit(row.name, own, certified(specification_book(row.model)))


def _numbers(row: Row) -> SpecifiedNumbers:
    try:
        return specified_numbers(row.model)
    except TcsmtError as why:
        raise TcsmtError(f"{row.name}: {why}") from None
