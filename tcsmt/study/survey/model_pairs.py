"""Pairs of models put to the engine, and the record of each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from tcsmt.language.graphs.digest import digest_of_graph, digest_of_texts
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import Model
from tcsmt.prove.engine.engine import Decision, compare_models, finding_of
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solvers.answer import Answer
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.engine.witnesses import narrowed, replayed, witness
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.finding import Finding, witness_of
from tcsmt.prove.statements.question import Lanes, difference_of_sides
from tcsmt.prove.statements.shared_inputs import SharedInputs, shared
from tcsmt.prove.statements.verdict import Distinguished, said_by
from tcsmt.support.version import __version__

__all__ = [
    "DistinctUnit",
    "Pair",
    "explained_again",
    "proved_by",
    "record_of",
    "verdict_on",
    "without_verdict",
    "witnessed",
]


@dataclass(frozen=True)
class DistinctUnit:
    """A model, and the rows that have it: the same function without a proof."""

    model: Model
    rows: tuple[Row, ...]

    @property
    def name(self) -> str:
        """Its first row's name."""
        return self.rows[0].name


@dataclass(frozen=True)
class Pair:
    """Two units, on a domain; k: length of the dot product to which both are chained, None: their own K."""

    left: DistinctUnit
    right: DistinctUnit
    domain: Domain
    k: int | None = None

    @cached_property
    def key(self) -> str:
        """By content: what both sides compute, and on which inputs they are compared."""
        first, second = self.left.model, self.right.model
        if self.k is None:
            digests, where = (
                [first.digest, second.digest],
                self.domain.holds(first.input_formats, first.trace),
            )
        else:
            inputs = self.given()
            digests = [digest_of_graph(side.trace.output) for side in inputs.sides]
            where = self.domain.holds(inputs.input_formats, inputs.sides[0].trace)
        return digest_of_texts([*digests, digest_of_graph(where)])

    def given(self) -> SharedInputs:
        """Both units on the same words."""
        sides = (self.left.name, self.left.model), (self.right.name, self.right.model)
        return shared(*sides, self.k, finite=self.domain.finite)


def record_of(decision: Decision) -> dict[str, Any]:
    """A comparison as the data that is kept."""
    left, right = (side.label for side in decision.question.sides)
    steps = [step.as_json() for step in decision.steps]
    return {
        "left": left,
        "right": right,
        **finding_of(decision).as_json(),
        "steps": steps,
        "sure": decision.sure,
    }


def explained_again(record: dict[str, Any], pair: Pair) -> dict[str, Any]:
    """A kept record of a witness, explained by today's code: its values, where the units differ, and why.

    The witness itself is replayed elsewhere; only the explanation may come from code that was different.
    """
    inputs = pair.given()
    question = difference_of_sides(record["question"], inputs.sides, inputs.input_formats, pair.domain)
    found_by = {name: record[name] for name in ("solver", "version", "seconds")}
    verdict = Distinguished(values=witness_of(record), **found_by)
    kept = {name: value for name, value in record.items() if name in _KEPT}
    names = {"left": pair.left.name, "right": pair.right.name}
    return {**names, **Finding(question, verdict).as_json(), **kept}


#: What a record of a witness has besides its finding: how it was found, and the stamps of :class:`.Task`.
_KEPT = ("steps", "sure", "models", "asked", "code")


def witnessed(pair: Pair, values: dict[str, int]) -> dict[str, Any]:
    """Return the record of a pair that a known input tells apart; the input is made short."""
    inputs = pair.given()
    title = f"{pair.left.name} against {pair.right.name}"
    question = difference_of_sides(title, inputs.sides, inputs.input_formats, pair.domain)
    replay = replayed(question, Answer("sat", "evaluator", __version__, values=values))
    if replay is None:
        raise AssertionError(f"{title}: the witness does not replay")
    return record_of(Decision(question, witness(question, replay, 0.0)))


def proved_by(record: dict[str, Any]) -> str:
    """Who proved a pair equal, by its record, and whether in an earlier run."""
    by = said_by(record) or "same graph"
    return f"{by}, kept from an earlier run" if record.get("earlier") else by


def verdict_on(pair: Pair, options: SolvingOptions) -> dict[str, Any]:
    """Ask the engine, in this process."""
    sides = (pair.left.name, pair.left.model), (pair.right.name, pair.right.model)
    solving = Solving(options)
    return record_of(_smaller(compare_models(*sides, pair.domain, solving, k=pair.k), solving))


def _smaller(decision: Decision, solving: Solving) -> Decision:
    """With a witness of fewer products, where a solver finds one in the first lanes, or of two halves."""
    question, verdict = decision.question, decision.verdict
    k = len([name for name in question.formats if name[0] == "a"])
    few: tuple[Lanes, ...] = (1, 2, (0, k // 2), 4)
    if not isinstance(verdict, Distinguished):
        return decision
    used = sum(any(verdict.values[f"{side}{lane}"] for side in "ab") for lane in range(k))
    few = tuple(lanes for lanes in few if (lanes if isinstance(lanes, int) else len(lanes)) < used)
    limit = solving.options.timeout / 4
    smaller = narrowed(
        question, replace(question, lanes=few).smaller(), lambda goal: solving.ask(goal, limit)
    )
    return (
        decision
        if smaller is None
        else replace(decision, verdict=witness(question, smaller, verdict.seconds))
    )


def without_verdict(pair: Pair, reason: str) -> dict[str, Any]:
    """Return the record of a pair that could not be asked to the end."""
    domain = pair.domain.in_words(pair.left.model.input_names)
    return {
        "left": pair.left.name, "right": pair.right.name, "question": "", "domain": domain,
        "verdict": "unknown", "reason": reason, "seconds": 0.0, "steps": [], "sure": False,
    }  # fmt: skip
