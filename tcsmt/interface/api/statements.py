"""What a reader needs to know of a certificate's statement beside its words: which units its models are, and
an input of which it says something. And whether it is the statement that a reader expects.

The checker knows neither the catalogue nor a solver, and this room does not check proofs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tcsmt.interface.api.designs import rows_compared
from tcsmt.interface.api.units import UnitLike
from tcsmt.matrix_units.arithmetic.formats import format_named
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.catalogue.digests import nearest_variant, rows_of_function
from tcsmt.prove.certificates.stated import ModelStated, Stated, stated
from tcsmt.prove.certificates.statement import Statement
from tcsmt.prove.certificates.theorems import TheoremStatement
from tcsmt.prove.engine.engine import question_of_models
from tcsmt.prove.engine.inhabitants import Inhabitant, inhabitant, inhabitant_of_domain
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.domain_words import covers
from tcsmt.prove.statements.question import Question
from tcsmt.support.errors import TcsmtError
from tcsmt.support.text import agreeing

#: The formats of the words that statements about algorithms are about, by what they call them.
_WORDS = {"binary32 words": "f32", "binary64 words": "f64"}
#: So many rows of one function are named in a line.
_NAMED = 3


@dataclass(frozen=True)
class StatementFacts:
    """A statement of a certificate, for readers; made from the objects that the checker works with.

    states: all that it says.
    """

    about: Statement | TheoremStatement

    @cached_property
    def states(self) -> Stated:
        """All that it says."""
        return stated(self.about)

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
        return data | {"inhabitant": None if self.inhabitant is None else self.inhabitant.as_json()}

    def lines(self) -> list[str]:
        """For people."""
        lines = self.states.lines()
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
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more rows of the same graph" if more > 0 else "")


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
        about = facts.about
        if isinstance(about, TheoremStatement) or about.domain is None:
            return "it does not say that two outputs are the same"
        try:
            question = self._question(sum(name[0] == "a" for name in about.formats))
        except TcsmtError as error:
            return str(error)
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
