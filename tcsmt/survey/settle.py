"""Many pairs of models: verdicts that are kept, several at a time, here or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tcsmt.interpret.exact import evaluate
from tcsmt.prove.solvers.run import Settings
from tcsmt.statements.trust import Trust
from tcsmt.survey import cluster, processes
from tcsmt.survey.pairs import Pair
from tcsmt.survey.store import Store

__all__ = ["Asking", "settle"]


@dataclass(frozen=True)
class Asking:
    """How pairs are asked.

    settings: of solvers. confirm: whether another solver has to confirm every proof. jobs: pairs at a time,
    on this machine. scheduler: the address of a Dask scheduler, whose workers ask instead; empty: none.
    kept: whether proofs that are in the store count (:class:`.Trust`).
    """

    settings: Settings = field(default_factory=Settings)
    confirm: bool = True
    jobs: int = 1
    scheduler: str = ""
    kept: bool | None = None


def settle(
    pairs: Sequence[Pair],
    store: Store,
    asking: Asking,
    progress: Callable[[int, int, str], None] = lambda done, count, what: None,
) -> dict[str, dict[str, Any]]:
    """The record of every pair, by its key; each verdict is kept in the store as soon as it is there.

    A pair that stayed unknown, or whose process died, is asked again in the next run; so is one whose witness
    does not replay, or whose proof does not count. A proof of an earlier run is marked as ``earlier``.
    """
    wanted = {pair.key: pair for pair in pairs}
    trust = Trust(asking.confirm, asking.kept)
    records = {
        key: record | ({"earlier": True} if record["verdict"] == "equivalent" else {})
        for key, record in store.records()
        if key in wanted and _counts(record, wanted[key], trust)
    }
    missing = [pair for key, pair in wanted.items() if key not in records]
    done = len(records)
    progress(done, len(wanted), "kept from before" if done else "")
    if asking.scheduler and missing:
        answers = cluster.answers_of(asking.scheduler, missing, asking.settings, asking.confirm)
    else:
        answers = processes.answers_of(asking.jobs, missing, asking.settings, asking.confirm)
    for pair, record in answers:
        store.keep(pair.key, record)
        records[pair.key] = record
        done += 1
        progress(done, len(wanted), f"{record['left']} | {record['right']}: {record['verdict']}")
    return records


def _counts(record: dict[str, Any], pair: Pair, trust: Trust) -> bool:
    """Whether a record of an earlier run is a verdict still."""
    try:
        if record["verdict"] == "equivalent":
            return trust.takes(sure=record["sure"])
        return record["verdict"] == "distinguished" and _replays(record, pair)
    except (ValueError, TypeError, KeyError):  # no record of ours
        return False


def _replays(record: dict[str, Any], pair: Pair) -> bool:
    """Whether the models differ on the witness, which lies in the domain, and give what is recorded."""
    values = {name: int(value["word"], 16) for name, value in record["inputs"].items()}
    one, two = pair.left.model, pair.right.model
    goals = [pair.domain.holds(one, one.trace), one.trace.output, two.trace.output]
    inside, *results = evaluate(goals, values)
    words = [int(result["word"], 16) for result in record["results"]]
    return bool(inside) and words == results and results[0] != results[1]
