"""Certificates of proofs: checking them, and what they say.

Beside the words of a statement, a reader is told which units its models are, an input of which it says
something, and whether it is the statement that was expected. A check ends with a page about all statements:
what is trusted, and what is specified where. The checker knows neither the catalogue nor a solver, and this
room does not check proofs.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from tcsmt.interface.api.certified_programs import StatedPrograms, stated_programs
from tcsmt.interface.api.designs import rows_compared
from tcsmt.interface.api.units import UnitLike
from tcsmt.matrix_units.arithmetic.formats import format_named
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.catalogue.digests import nearest_variant, rows_of_function
from tcsmt.matrix_units.models.base import role_of
from tcsmt.prove.certificates.checker import Checked, check_statement
from tcsmt.prove.certificates.files import record_of
from tcsmt.prove.certificates.lemma_files import LemmaFiles
from tcsmt.prove.certificates.parts import statement_files
from tcsmt.prove.certificates.stated import ModelStated, Stated, stated
from tcsmt.prove.certificates.statement import Statement
from tcsmt.prove.certificates.theorems import TheoremStatement
from tcsmt.prove.engine.engine import question_of_models
from tcsmt.prove.engine.inhabitants import Inhabitant, inhabitant, inhabitant_of_domain
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.domain_words import covers
from tcsmt.prove.statements.question import Question
from tcsmt.support.errors import Contradiction, Exit, TcsmtError
from tcsmt.support.floats import ieee_floats
from tcsmt.support.text import agreeing, counted, one_line, quotation

if TYPE_CHECKING:
    from tcsmt.prove.certificates.description import Description

#: The formats of the words that statements about algorithms are about, by what they call them.
_WORDS = {"binary32 words": "f32", "binary64 words": "f64"}
#: So many rows of one function are named in a line.
_ROWS_NAMED = 3


@dataclass(frozen=True)
class StatementFacts:
    """A statement of a certificate, for readers; made from the objects that the checker works with.

    states: all that it says. path: of its file, beside which are the texts of programs that it names.
    """

    about: Statement | TheoremStatement
    path: Path | None = None

    @cached_property
    def states(self) -> Stated:
        """All that it says."""
        return stated(self.about)

    @cached_property
    def programs(self) -> StatedPrograms | None:
        """Return what it says of programs, where it names their texts.

        Raises :class:`tcsmt.Malformed` where it is not about them.
        """
        if self.path is None or not isinstance(self.about, Statement):
            return None
        return stated_programs(self.path, self.about)

    @cached_property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """Return each different model's rows: those that are the same graph on the same formats."""
        parts = self.states.different
        return tuple(tuple(row.name for row in rows_of_function(part.model)) for part in parts)

    @cached_property
    def variants(self) -> tuple[str, ...]:
        """Return the nearest row and the parameters that differ, for each model that is no row; or ""."""
        parts = zip(self.states.different, self.rows, strict=True)
        return tuple("" if rows else _variant(part) for part, rows in parts)

    @cached_property
    def inhabitant(self) -> Inhabitant | None:
        """An input of which it says something; None: it has no domain and no assumptions."""
        if isinstance(self.about, Statement):
            return inhabitant(self.about)
        domain, words = self.about.values.get("domain"), _WORDS.get(self.about.theorem.inputs)
        if domain is None or words is None:
            return None
        return inhabitant_of_domain(domain, dict.fromkeys(("a0", "b0", "c"), format_named(words)))

    def as_json(self) -> dict[str, Any]:
        """As plain data: what it says, of each different model its parameters and the ``rows`` that it is,
        and an inhabitant.
        """
        data = self.states.as_json()
        parts = zip(data["parameters"], self.rows, self.variants, strict=True)
        data["parameters"] = [
            {**part, "rows": list(rows), "variant": variant or None} for part, rows, variant in parts
        ]
        data |= {"programs": str(self.programs)} if self.programs is not None else {}
        return data | {"inhabitant": None if self.inhabitant is None else self.inhabitant.as_json()}

    def lines(self) -> list[str]:
        """For people."""
        lines = self.states.lines()
        lines += [f"programs, as tcsmt reads them: {self.programs}"] if self.programs is not None else []
        if self.inhabitant is not None:
            of = "inhabitant" if self.inhabitant.but is None else "inhabitant of all conditions but one"
            lines.append(f"{of}: {self.inhabitant}")
        units = self.units()
        for part in self.states.different:
            lines.append(f"{part.called} {agreeing(len(part.numbers), 'is', 'are')} {units[part.file]}")
        return [*lines, *self.states.table()]

    def units(self) -> dict[str, str]:
        """Return, for each different model by its file, the rows of the catalogue that it is, in words."""
        return {
            part.file: _listed(rows) if rows else f"not a row of the catalogue{variant and f': {variant}'}"
            for part, rows, variant in zip(self.states.different, self.rows, self.variants, strict=True)
        }


def _variant(part: ModelStated) -> str:
    variant = nearest_variant(part.model)
    if variant is None:
        return ""
    changed = ", ".join(f"{name} = {part.parameters[name]}" for name in variant.changed)
    return f"{variant.row.name} with {changed}" if changed else f"{variant.row.name}, another graph"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _ROWS_NAMED
    return ", ".join(names[:_ROWS_NAMED]) + (f" and {more} more rows of the same graph" if more > 0 else "")


@dataclass(frozen=True)
class Expected:
    """The expected statement of a certificate: two units give the same word for every input of a domain.

    rows: the units. domain: of the inputs.
    """

    rows: tuple[Row, Row]
    domain: Domain

    @classmethod
    def of(cls, left: UnitLike, right: UnitLike, domain: Domain) -> Expected:
        """Two units as ``compare`` takes them. Raises :class:`tcsmt.TcsmtError` for unknown names, for units
        that cannot be compared, and for a domain without any input, of which everything is true.
        """
        expected = cls(rows_compared(left, right), domain)
        question = expected._question(None)
        if inhabitant_of_domain(domain, question.formats).values is None:
            raise TcsmtError(f"the domain is empty: no input is {question.domain_text}")
        return expected

    def _question(self, k: int | None) -> Question:
        left, right = ((row.name, row.model) for row in self.rows)
        return question_of_models(left, right, self.domain, k=k)

    def __str__(self) -> str:
        names = " and ".join(row.name for row in self.rows)
        return f"{names} give the same word on inputs that are {self._where}"

    @property
    def _where(self) -> str:
        return self.domain.in_words(self.rows[0].model.input_formats)

    def missing(self, facts: StatementFacts) -> str:
        """Return what is missing for the statement to say so; empty if it does.

        The outputs are compared as graphs on the same inputs, built from the units that were named and from
        the certificate's own files; what the certificate calls itself does not count.
        """
        about, other = facts.about, "it does not say that two outputs are the same"
        if isinstance(about, TheoremStatement):
            return other
        try:
            question = self._question(sum(role_of(name).factor == 0 for name in about.widths))
        except TcsmtError as error:
            return str(error) if about.domain is not None else other
        if about.domain is None:
            if about.goal is question.goal:
                return ""
            return other if facts.programs is None else f"it says that {facts.programs}"
        if dict(question.formats) != dict(about.formats):
            return f"its inputs are {facts.states.inputs}"
        calls = [about.calls[number] for number in about.record["differ"]]
        outputs = [(call.output, call.model.d_format) for call in calls]
        sides = [(side.trace.output, side.format) for side in question.sides]
        if outputs not in (sides, sides[::-1]):
            wrong = [row.name for row, side in zip(self.rows, sides, strict=True) if side not in outputs]
            return (
                f"neither of its sides is {wrong[0]}" if wrong else "both of its sides are one of the units"
            )
        if about.also:
            return "it assumes more than its domain"
        if not covers(about.domain, self.domain, about.formats):
            return f"it is about inputs that are {about.domain.in_words(about.formats)}"
        if facts.inhabitant is None or facts.inhabitant.values is None:
            return f"it says nothing: {facts.inhabitant}"
        return ""


#: Of statements that are not proved, so many are named.
_NAMED = 10
_CHECKER = (
    "this program: its checker (tcsmt.prove.certificates), what it takes models, formats, domains and "
    "clauses to be (tcsmt.matrix_units, tcsmt.language), and Python; no solver, and nothing that searched "
    "for the proofs"
)
_CODE = "of statements about algorithms, kernels or exact sums, the argument: code of tcsmt.analysis"
_PROGRAMS = "of statements about programs, that their texts mean these graphs: code of tcsmt.programs"
_MODELS = (
    "of what a model computes: its file in `models`, and what that kind of model means "
    "(tcsmt.matrix_units.models); that hardware computes it is not proved: `tcsmt describe UNIT` says what "
    "is known"
)


def summary_of_checks(done: Sequence[CheckedStatement]) -> Iterator[str]:
    """Yield the page for statements that tcsmt has checked."""
    kinds = Counter(map(_kind, done)).most_common()
    listed = "; ".join(f"{kind}: {count}" for kind, count in kinds)
    yield f"summary: {counted(len(done), 'statement')} ({listed})"
    yield from flawed([one.path.name for one in done if one.flaw], "NOT PROVED")
    yield f"trusted: {_CHECKER}"
    if any(isinstance(one.about, TheoremStatement) for one in done):
        yield f"trusted: {_CODE}"
    if any("programs" in one.about.record for one in done if isinstance(one.about, Statement)):
        yield f"trusted: {_PROGRAMS}"
    yield f"specification: {_MODELS}"


def _kind(statement: CheckedStatement) -> str:
    """Return what a statement is about, in words of ours."""
    about = statement.about
    if isinstance(about, TheoremStatement):
        return f"about: {about.record['about']}"
    return "no input satisfies a condition" if about.domain is None else "two models give the same word"


def flawed(files: Sequence[str], verdict: str) -> Iterator[str]:
    """Yield the first few files of statements that have the verdict."""
    more = len(files) - _NAMED
    if files:
        yield f"{verdict}: {', '.join(files[:_NAMED])}{f' and {more} more' if more > 0 else ''}"


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
        facts = StatementFacts(self.about, self.path)
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
        """Return plain data: one of the ``statements`` that ``tcsmt certificate check --json`` prints."""
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
        """Return plain data: one of the ``statements`` that ``tcsmt certificate show --json`` prints."""
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
        one = check_statement(path, lemmas, THEOREMS)
        if isinstance(one.about, Statement):
            stated_programs(path, one.about)
        yield CheckedStatement(one.path, one.title, one.about, one.flaw, one.lemmas)


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
        ShownStatement(description, StatementFacts(description.about, description.path))
        for description in described(folder, THEOREMS)
    ]
