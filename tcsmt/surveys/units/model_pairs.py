"""Pairs of models put to the engine, and verdicts that are kept: several at a time, here or on a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from tcsmt.language.graphs.digest import digest_of_graph, digest_of_texts
from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import Model
from tcsmt.matrix_units.models.base import role_of
from tcsmt.prove.engine.engine import Decision, compare_models, finding_of
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solvers.answer import Answer
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.engine.witnesses import narrowed, replayed, witness
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.finding import Finding, witness_of
from tcsmt.prove.statements.question import Lanes, difference_of_sides
from tcsmt.prove.statements.shared_inputs import SharedInputs, shared
from tcsmt.prove.statements.verdict import Distinguished, engine_digest, has_certificate, said_by
from tcsmt.support.checkpoint import Checkpoint, Layout
from tcsmt.support.jobs.processes import Task
from tcsmt.support.jobs.tasks import Workers, computed, counting
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.support.version import __version__

# --- Pairs and their records ---------------------------------------------------------------------


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
        """Return the key by content: what both sides compute, and on which inputs they are compared."""
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
    unchanged = {name: value for name, value in record.items() if name in _KEPT}
    names = {"left": pair.left.name, "right": pair.right.name}
    return {**names, **Finding(question, verdict).as_json(), **unchanged}


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
    """Return who proved a pair equal, by its record, and whether in an earlier run."""
    by = said_by(record) or "same graph"
    return f"{by}, kept from an earlier run" if record.get("earlier") else by


def verdict_on(pair: Pair, options: SolvingOptions) -> dict[str, Any]:
    """Ask the engine, in this process."""
    sides = (pair.left.name, pair.left.model), (pair.right.name, pair.right.model)
    solving = Solving(options)
    return record_of(_smaller(compare_models(*sides, pair.domain, solving, k=pair.k), solving))


def _smaller(decision: Decision, solving: Solving) -> Decision:
    """Return it with a witness of fewer products, if a solver finds one in the first lanes or two halves."""
    question, verdict = decision.question, decision.verdict
    k = sum(role_of(name).factor == 0 for name in question.formats)
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


# --- The store -----------------------------------------------------------------------------------


def verdicts_in(path: str | os.PathLike[str] | None) -> Checkpoint:
    """Return the verdicts of a store, by the content of what was asked; None: kept nowhere.

    Raises :class:`.TcsmtError`.
    """
    return Checkpoint(
        None if path is None else Path(path),
        Layout("verdicts", head=lambda records: {"tcsmt": __version__}),
        "--store",
    )


def decide_cached(
    pairs: Sequence[Pair],
    store: Checkpoint,
    options: SolvingOptions,
    progress: ProgressCallback = no_progress,
) -> dict[str, dict[str, Any]]:
    """Return the record of every pair, by its key; each verdict is kept in the store as soon as it is there.

    A pair that stayed unknown, or whose process died, is asked again in the next run; so is one whose witness
    does not replay, or whose proof does not count. A proof of an earlier run is marked as ``earlier``.
    """
    wanted = {pair.key: pair for pair in pairs}
    results = computed(
        [_task(pair, options) for pair in wanted.values()],
        store,
        Workers(options.jobs, options.scheduler),
        _counted(wanted, options),
        progress,
    )
    records = {
        key: _kept(record, wanted[key]) if key in results.earlier else record
        for key, record in results.records.items()
    }
    return records | {key: without_verdict(wanted[key], why) for key, why in results.failed.items()}


def cached_verdicts(
    pairs: Sequence[Pair], store: Checkpoint, options: SolvingOptions
) -> dict[str, dict[str, Any]]:
    """Return the store's record of every pair, by its key, without asking: for a run that was stopped.

    A pair that has none is unknown.
    """
    wanted = {pair.key: pair for pair in pairs}
    tasks = [_task(pair, options) for pair in wanted.values()]
    results = counting(tasks, store, _counted(wanted, options))
    return {key: results.get(key) or without_verdict(pair, "stopped before") for key, pair in wanted.items()}


def _counted(wanted: Mapping[str, Pair], options: SolvingOptions) -> Callable[[Task, dict[str, Any]], bool]:
    """Return whether a record of a store counts."""
    return lambda task, record: (
        _counts(record, wanted[task.key], task.code, options)
        and has_certificate(record, options.certificates)
    )


def _task(pair: Pair, options: SolvingOptions) -> Task:
    return Task(
        pair.key,
        pair.key,
        verdict_on,
        (pair, options),
        engine_digest(),
        {unit.name: unit.model.digest for unit in (pair.left, pair.right)},
        f"{pair.left.name} | {pair.right.name}",
    )


def _kept(record: dict[str, Any], pair: Pair) -> dict[str, Any]:
    """A record of an earlier run as it is shown: a proof marked, a witness explained by today's code."""
    if record["verdict"] == "equivalent":
        return record | {"earlier": True}
    return record if record.get("code") == engine_digest() else explained_again(record, pair)


def _counts(record: dict[str, Any], pair: Pair, code: str, options: SolvingOptions) -> bool:
    """Return whether a record of an earlier run is a verdict still."""
    try:
        if record["verdict"] == "equivalent":
            return record["code"] == code and options.takes(sure=record["sure"])
        return record["verdict"] == "distinguished" and _replays(record, pair)
    except (ValueError, TypeError, LookupError, AttributeError):  # no record of ours
        return False


def _replays(record: dict[str, Any], pair: Pair) -> bool:
    """Return whether the models differ on the witness, which lies in the domain, and give what is
    recorded.
    """
    inputs = pair.given()
    first, second = (side.trace for side in inputs.sides)
    goals = [pair.domain.holds(inputs.input_formats, first), first.output, second.output]
    inside, *results = evaluate(goals, witness_of(record))
    words = [int(result["word"], 16) for result in record["results"]]
    return bool(inside) and words == results and results[0] != results[1]
