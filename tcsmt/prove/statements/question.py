"""Questions about models: the sides that are compared, and what is asked.

A question is a truth value over input words: "is there an input at which it holds?".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from tcsmt.language.terms import TRUE, Term, all_of, const, var, variables
from tcsmt.matrix_units.arithmetic.conversion import knows_nans, with_nans_merged
from tcsmt.matrix_units.arithmetic.formats import AnyFormat
from tcsmt.matrix_units.models import Model, Trace
from tcsmt.matrix_units.models.base import role_of
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import TcsmtError
from tcsmt.support.invariants import not_none


@dataclass(frozen=True)
class ComparedModel:
    """One behaviour in a question: what it is called, its model, and the model on the inputs."""

    label: str
    model: Model
    trace: Trace

    @property
    def format(self) -> AnyFormat:
        """Return the format of its result."""
        return self.model.d_format


#: What is said of a domain where NaN results of one side have unknown words.
UNKNOWN_NANS = "; any NaN equals any other, as no source says which words a kernel's NaNs have"

#: How many lanes, from the first on; or which.
Lanes = int | tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question: is there an input at which ``goal`` is 1?

    formats: of the input variables, by name. sides: the behaviours that a witness shows.
    domain: the part of the goal that restricts inputs; domain_text says it in words.
    Where a solver looks for a witness first, so that it is short: ones: with every b = 1; alike: with
    every product the same; lanes: with so many products (or just these), the others zero.
    cases: truth values by which a proof is split: each is assumed, then that none of them holds.
    inputs, also: what ``domain`` was made of, where it is all of a :class:`.Domain` and these terms.
    """

    title: str
    sides: tuple[ComparedModel, ...]
    goal: Term
    formats: Mapping[str, AnyFormat]
    domain: Term = TRUE
    domain_text: str = ""
    lanes: tuple[Lanes, ...] = ()
    alike: bool = False
    ones: bool = False
    cases: tuple[Term, ...] = ()
    inputs: Domain | None = None
    also: tuple[Term, ...] = ()

    @property
    def about_outputs(self) -> bool:
        """Return whether it is the question: do the results of two sides differ somewhere in the domain?"""
        return len(self.sides) == 2 and self.goal is _differ(self.domain, self.sides)

    def assuming(self, case: Term) -> Question:
        """Return the question where the case holds."""
        domain = self.domain & case
        goal = _differ(domain, self.sides) if self.about_outputs else self.goal & case
        return replace(self, goal=goal, domain=domain, cases=(), inputs=None, also=())

    def smaller(self) -> Iterator[dict[Term, Term]]:
        """Yield what to put for some inputs, so that there are fewer of them: all lanes of one kind
        (``ones``, ``alike``), then few lanes (``lanes``).
        """
        lanes = self._lane_variables()
        if self.ones:
            factors = (v for v in lanes if role_of(str(v.data)).factor)
            yield {v: const(self.formats[str(v.data)].word(Fraction(1)), v.width) for v in factors}
        if self.alike:
            first = {v: f"{role_of(str(v.data)).operand}0" for v, lane in lanes.items() if lane}
            yield {v: var(name, v.width) for v, name in first.items()}
        for few in self.lanes:
            kept = range(few) if isinstance(few, int) else few
            yield {v: const(0, v.width) for v, lane in lanes.items() if lane not in kept}

    def _lane_variables(self) -> dict[Term, int]:
        roles = {v: role_of(str(v.data)) for v in variables([self.goal])}
        return {v: not_none(role.lane) for v, role in roles.items() if role.factor is not None}


def _differ(domain: Term, sides: Sequence[ComparedModel]) -> Term:
    first, second = (side.trace.output for side in sides)
    return domain & first.ne(second)


def _with_nans_merged(side: ComparedModel) -> Trace:
    """Return the side with one word for all NaN results."""
    return replace(side.trace, output=with_nans_merged(side.format, side.trace.output))


def difference(
    title: str,
    left: tuple[str, Model],
    right: tuple[str, Model],
    domain: Domain | None = None,
    *,
    lanes: tuple[Lanes, ...] = (2,),
    alike: bool = False,
    ones: bool = False,
    also: Sequence[Term] = (),
    cases: tuple[Term, ...] = (),
) -> Question:
    """Do two models differ on some input of the domain (and where the terms ``also`` hold)?

    For lanes, alike, ones and cases see :class:`Question`. Raises :class:`.TcsmtError` where
    their words do not have the same widths.
    """
    sides = tuple(ComparedModel(label, model, model.trace) for label, model in (left, right))
    first, second = (side.model for side in sides)
    for name in ("a_format", "b_format", "c_format", "d_format"):
        widths = [getattr(model, name).width for model in (first, second)]
        if widths[0] != widths[1]:
            formats = " and ".join(getattr(model, name).name for model in (first, second))
            raise not_comparable(left, right, f"{name} is {formats}")
    if first.k != second.k:
        raise not_comparable(left, right, f"k = {first.k} and {second.k}")
    check_further_inputs(left, right)
    question = difference_of_sides(
        title, sides, first.input_formats, domain or Domain(), lanes=lanes, also=also
    )
    return replace(question, alike=alike, ones=ones, cases=cases)


def check_further_inputs(left: tuple[str, Model], right: tuple[str, Model]) -> None:
    """Raises :class:`.TcsmtError` where two models, by their names, do not take the same inputs beside a, b
    and c: the same block scales, and as many words of each input by its name.
    """
    models = left[1], right[1]
    inputs = [[f"{name} ({count or 1})" for name, (_, count) in m.further_inputs.items()] for m in models]
    if sorted(inputs[0]) != sorted(inputs[1]):
        told = " and ".join(", ".join(names) or "none" for names in inputs)
        raise not_comparable(
            left, right, f"inputs beside a, b and c, with how many words they have, are {told}"
        )
    scales = [f"{m.scales} of {m.scale_format.name}" if m.scale_format else "none" for m in models]
    if scales[0] != scales[1]:
        raise not_comparable(left, right, f"block scales are {' and '.join(scales)}")


def not_comparable(left: tuple[str, Model], right: tuple[str, Model], why: str) -> TcsmtError:
    """Return the error of two models, by their names, that have no inputs or results in common."""
    return TcsmtError(f"cannot compare {left[0]} with {right[0]}: {why}")


def difference_of_sides(
    title: str,
    sides: tuple[ComparedModel, ...],
    formats: Mapping[str, AnyFormat],
    domain: Domain,
    *,
    lanes: tuple[Lanes, ...] = (2,),
    also: Sequence[Term] = (),
) -> Question:
    """Do two sides differ on the same words, which have these formats by name?"""
    where = all_of([domain.holds(formats, sides[0].trace), *also])
    masked = not all(knows_nans(side.model) for side in sides)
    if masked:
        sides = tuple(replace(side, trace=_with_nans_merged(side)) for side in sides)
    k = len(sides[0].trace.a)
    return Question(
        title=title,
        sides=sides,
        goal=_differ(where, sides),
        formats=formats,
        domain=where,
        domain_text=domain.in_words(formats) + (UNKNOWN_NANS if masked else ""),
        lanes=tuple(n for n in lanes if not isinstance(n, int) or n < k),
        inputs=domain,
        also=tuple(also),
    )
