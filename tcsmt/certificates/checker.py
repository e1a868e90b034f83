"""Checking a certificate: every statement of a folder, from its files alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcsmt.certificates.derivation import Flaw, check
from tcsmt.certificates.files import opened, record_of, statement_files
from tcsmt.certificates.lemma_files import LemmaFiles
from tcsmt.support.text import one_line
from tcsmt.terms import Term

__all__ = ["Checked", "check_certificate", "check_statement"]


@dataclass(frozen=True)
class Checked:
    """What checking one statement came to. flaw: why it is not proved; empty if it is.

    lemmas: the names of those that the proof needs.
    """

    path: Path
    title: str
    flaw: str
    lemmas: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        holds = {"file": self.path.name, "title": self.title, "proved": not self.flaw}
        return holds | ({"flaw": self.flaw} if self.flaw else {"lemmas": list(self.lemmas)})


#: Checks a statement of some kind, by its record and the lemmas: the names of those that it needs, or a Flaw.
Check = Callable[[Mapping[str, Any], LemmaFiles], Sequence[str]]
_NONE: Mapping[str, Check] = {}


def check_certificate(folder: Path, kinds: Mapping[str, Check] = _NONE) -> Iterator[Checked]:
    """Check each statement of a certificate, one after the other; a lemma that several need is checked once.

    kinds: how statements are checked that are not about models, by what they are ``about``.
    Raises :class:`.TcsmtError` for a folder that is not a certificate, or a file that cannot be read at all.
    """
    lemmas = LemmaFiles(folder)
    for path in statement_files(folder):
        yield check_statement(path, lemmas, kinds)


def check_statement(
    path: Path, lemmas: LemmaFiles | None = None, kinds: Mapping[str, Check] = _NONE
) -> Checked:
    """Check the statement of one file of a certificate; lemmas: of its folder, where some are checked.

    Raises :class:`.TcsmtError` for a file that cannot be read at all.
    """
    record, files = record_of(path), lemmas or LemmaFiles(path.parent.parent)
    used: dict[str, None] = {}

    def refute(formula: Term) -> None:
        used[files.check(formula)] = None

    given, about = (record["statement"].get(name, "") for name in ("title", "about"))
    title = given if isinstance(given, str) and given.isprintable() else ascii(given)
    try:
        if about:
            if not isinstance(about, str) or about not in kinds:
                raise Flaw(f"a statement about {about!r:.80}: there is no check for it")
            return Checked(path, title, "", tuple(kinds[about](record["statement"], files)))
        statement, proof = opened(path, record)
        check(statement.goal, proof, refute)
    except Flaw as why:  # an empty flaw would say that it is proved
        return Checked(path, title, one_line(str(why)) or "its proof fails, without a reason")
    return Checked(path, title, "", tuple(used))
