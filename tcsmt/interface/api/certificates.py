"""Certificates of proofs: checking them, and what they say."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from tcsmt.interface.api.statements import Expected, StatementFacts
from tcsmt.interface.api.units import UnitLike
from tcsmt.matrix_units.models import circuit  # noqa: F401 (statements may be about designs)
from tcsmt.prove.certificates.checker import Checked, check_statement
from tcsmt.prove.certificates.files import record_of
from tcsmt.prove.certificates.lemma_files import LemmaFiles
from tcsmt.prove.certificates.parts import statement_files
from tcsmt.prove.certificates.stated import Stated
from tcsmt.prove.engine.inhabitants import Inhabitant
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import Contradiction, Exit, TcsmtError
from tcsmt.support.floats import ieee_floats
from tcsmt.support.text import counted, one_line, quotation

if TYPE_CHECKING:
    from tcsmt.prove.certificates.description import Description

__all__ = [
    "CheckedStatement",
    "Expected",
    "NotStated",
    "ShownStatement",
    "check_certificate",
    "checked_in",
    "chosen_files",
    "described_in",
    "stating",
    "title_in",
]


class NotStated(TcsmtError):
    """A certificate does not prove what a reader expects of it."""

    exit_code: ClassVar[Exit] = Exit.DIFFERS


@dataclass(frozen=True)
class CheckedStatement(Checked):
    """One statement of a certificate: why it is not proved (``flaw``, empty if it is), and what it says."""

    @cached_property
    def facts(self) -> StatementFacts:
        """Return what it says, about which units, of which inputs.

        Raises :class:`tcsmt.TcsmtError` where two results that are proved to be the same are not.
        """
        facts = StatementFacts(self.about)
        outputs = facts.inhabitant.outputs if facts.inhabitant is not None else ()
        if not self.flaw and len(set(outputs)) > 1:
            raise Contradiction(self.title, f"the results are not the same at {facts.inhabitant}")
        return facts

    @property
    def states(self) -> Stated:
        """All that it says, made from what was checked."""
        return self.facts.states

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """Return the catalogue's rows that each different model is, by its graph: those of
        ``states.different``.
        """
        return self.facts.rows

    @property
    def variants(self) -> tuple[str, ...]:
        """Return the nearest row and the parameters that differ, for each model that is no row; or ""."""
        return self.facts.variants

    @property
    def inhabitant(self) -> Inhabitant | None:
        """An input of which it says something, with the results there; None: it assumes nothing."""
        return self.facts.inhabitant

    def as_json(self) -> dict[str, Any]:
        """As plain data: one of the ``statements`` that ``tcsmt certificate check --json`` prints."""
        return super().as_json() | self.facts.as_json()

    def lines(self) -> list[str]:
        """All that it says, for people."""
        return self.facts.lines()

    @property
    def verdict(self) -> str:
        """Return whether it is proved, in words that its author did not choose."""
        return f"NOT PROVED: {self.flaw}" if self.flaw else f"proved, {counted(len(self.lemmas), 'lemma')}"

    @property
    def called(self) -> str:
        """Return what its author calls it, as a quotation, and its file."""
        return f"{quotation(self.title)}, in its author's words ({self.path.name})"


@dataclass(frozen=True)
class ShownStatement:
    """One statement of a certificate and how it is proved; nothing is checked."""

    description: Description
    facts: StatementFacts

    def as_json(self) -> dict[str, Any]:
        """As plain data: one of the ``statements`` that ``tcsmt certificate show --json`` prints."""
        return self.description.as_json() | self.facts.as_json()

    def __str__(self) -> str:
        return self.description.text(self.facts.lines())


@ieee_floats
def check_certificate(
    path: str | os.PathLike[str],
    *,
    states: tuple[UnitLike, UnitLike] | None = None,
    domain: Domain | None = None,
    only: str = "",
) -> list[CheckedStatement]:
    """Check every proof of a certificate from its files alone, without any solver.

    Of each statement: ``title``, what its author calls it; ``states``, all that it says; ``rows``, the
    catalogue's rows that its models are, and ``variants``, the nearest rows of others; ``inhabitant``, an
    input of which it says something; ``flaw``, which is empty if it is proved. With ``states``, only
    statements that say so are returned.

    Args:
        path: The folder that ``certificate=`` or ``--certificate`` was given.
        states: Demand a proved statement that these two units, as `compare` takes them, give the same word
            for all words, or on the domain.
        domain: Of the inputs; None: all words.
        only: Only statements whose title has this text.

    Raises :class:`tcsmt.TcsmtError` for what cannot be read as a certificate, and, with ``states``, where no
    statement says so, or none is proved.

    >>> import tcsmt, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     options = tcsmt.SolvingOptions(certificate=folder)
    ...     report = tcsmt.find("carry-bits", "volta", options=options)
    ...     [checked] = tcsmt.check_certificate(folder)
    >>> checked.title, checked.flaw
    ('3 against 4 carry bits', '')
    >>> checked.states.says
    'on inputs that are finite, models 1 and 2 give the same word, read in f32'
    >>> checked.variants[0]
    'volta/mma.m8n8k4.f32.f16.f16.f32 with carry_bits = 3'
    """
    if states is None and domain is not None:
        raise TcsmtError("domain: of the units in states, which is not given")
    expected = None if states is None else Expected.of(*states, domain or Domain(finite=False))
    checked = list(checked_in(Path(path), lambda title: only in title))
    return checked if expected is None else stating(checked, expected)


def chosen_files(folder: Path, titled: Callable[[str], bool] = lambda title: True) -> list[Path]:
    """Return the files of a certificate's statements with such titles. Raises :class:`tcsmt.TcsmtError` for
    none.
    """
    paths = [path for path in statement_files(folder) if titled(title_in(path))]
    if not paths:
        raise TcsmtError(f"no statement of {folder} has such a title")
    return paths


def title_in(path: Path) -> str:
    """Return what the author of a statement's file calls it."""
    return one_line(str(record_of(path)["statement"].get("title", "")))


def checked_in(
    folder: Path, titled: Callable[[str], bool] = lambda title: True
) -> Iterator[CheckedStatement]:
    """Each statement with such a title as soon as it is checked; a lemma that several need, once."""
    from tcsmt.analysis.certified import THEOREMS

    lemmas = LemmaFiles(folder)
    for path in chosen_files(folder, titled):
        statement = check_statement(path, lemmas, THEOREMS)
        yield CheckedStatement(
            statement.path, statement.title, statement.about, statement.flaw, statement.lemmas
        )


def stating(checked: Sequence[CheckedStatement], expected: Expected) -> list[CheckedStatement]:
    """Return the statements that are proved and say what is expected.

    Raises :class:`.NotStated` where there is none, with what is missing.
    """
    missing = []
    saying = []
    for statement in checked:
        if not (why := expected.missing(statement.facts)):
            why = f"it is NOT PROVED: {statement.flaw}" if statement.flaw else ""
        if why:
            missing.append(f"{statement.path.name}: {why}")
        else:
            saying.append(statement)
    if not saying:
        others = len(missing) - _LISTED
        listed = "; ".join(missing[:_LISTED]) + (f"; and {others} others" if others > 0 else "")
        raise NotStated(f"no statement is proved that {expected}: {listed}")
    return saying


#: Statements that are named where none says what is expected.
_LISTED = 4


def described_in(folder: Path) -> list[ShownStatement]:
    """Return what each statement says, and how it is proved; nothing is checked."""
    from tcsmt.analysis.certified import THEOREMS
    from tcsmt.prove.certificates.description import described

    return [
        ShownStatement(description, StatementFacts(description.about))
        for description in described(folder, THEOREMS)
    ]
