"""Many pairs of models: verdicts that are kept, several at a time, here or on a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tcsmt.language.run.exact import evaluate
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.statements.finding import witness_of
from tcsmt.prove.statements.verdict import engine_digest, has_certificate
from tcsmt.study.survey.model_pairs import Pair, explained_again, verdict_on, without_verdict
from tcsmt.support.checkpoint import Checkpoint, Layout
from tcsmt.support.jobs.processes import Task
from tcsmt.support.jobs.tasks import Workers, computed, counting
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.support.version import __version__

__all__ = ["settle", "settled", "verdicts_in"]


def verdicts_in(path: str | os.PathLike[str] | None) -> Checkpoint:
    """Return the verdicts of a store, by the content of what was asked; None: kept nowhere.

    Raises :class:`.TcsmtError`.
    """
    return Checkpoint(
        None if path is None else Path(path),
        Layout("verdicts", head=lambda records: {"tcsmt": __version__}),
        "--store",
    )


def settle(
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


def settled(pairs: Sequence[Pair], store: Checkpoint, options: SolvingOptions) -> dict[str, dict[str, Any]]:
    """Return what :func:`settle` has come to where it was stopped: the store's records; nothing is asked.

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
