"""All pairs of catalogue rows with the same words: verdicts that are kept, and what they add up to."""

from __future__ import annotations

import hashlib
import multiprocessing as mp
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from multiprocessing.connection import Connection, wait
from typing import Any

from tcsmt import __version__
from tcsmt.catalogue import Row
from tcsmt.engine import ENGINE, Comparison, compare_models, finding_of
from tcsmt.models import Model
from tcsmt.query import Domain, Solving
from tcsmt.solvers.run import Settings
from tcsmt.store import Store

__all__ = ["Atlas", "Group", "Pair", "Unit", "groups", "run"]


@dataclass(frozen=True)
class Unit:
    """A model, and the rows that have it: the same function without a proof."""

    model: Model
    rows: tuple[Row, ...]

    @property
    def name(self) -> str:
        """Its first row's name."""
        return self.rows[0].name


@dataclass(frozen=True)
class Group:
    """Units that take and give the same words: ``types`` (d.a.b.c and scales) and k."""

    types: str
    k: int
    units: tuple[Unit, ...]

    @property
    def title(self) -> str:
        """Types and K."""
        return f"{self.types}, K = {self.k}"


@dataclass(frozen=True)
class Pair:
    """Two units of a group, on a domain."""

    left: Unit
    right: Unit
    domain: Domain

    @property
    def key(self) -> str:
        """By content: both models' parameters, the domain, the engine's version."""
        parts = [repr(self.left.model), repr(self.right.model), repr(self.domain), __version__, str(ENGINE)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def groups(rows: Iterable[Row]) -> list[Group]:
    """The rows, by the words that they take and give; groups of one are there too."""
    table: dict[tuple[str, int], dict[Model, list[Row]]] = {}
    for row in rows:
        m = row.model
        types = ".".join(f.name for f in (m.d_format, m.a_format, m.b_format, m.c_format))
        if m.scale_format is not None:
            types += f".{m.scale_format.name}x{m.scales}"
        table.setdefault((types, m.k), {}).setdefault(m, []).append(row)
    return [
        Group(types, k, tuple(Unit(model, tuple(having)) for model, having in units.items()))
        for (types, k), units in table.items()
    ]


@dataclass(frozen=True)
class Atlas:
    """Groups, the domain, and the record of each pair that has one, by key."""

    groups: tuple[Group, ...]
    domain: Domain
    records: dict[str, dict[str, Any]]

    def record(self, left: Unit, right: Unit) -> dict[str, Any] | None:
        """What is known of a pair."""
        return self.records.get(Pair(left, right, self.domain).key)

    def classes(self, group: Group) -> list[list[Unit]]:
        """Units of a group that are proved equal, together; a proof needs a second solver to count."""
        classes: list[list[Unit]] = []
        for unit in group.units:
            for known in classes:
                if any(_proved(self.record(other, unit)) for other in known):
                    known.append(unit)
                    break
            else:
                classes.append([unit])
        return classes

    def between(self, one: Sequence[Unit], two: Sequence[Unit]) -> dict[str, Any] | None:
        """The record of two classes: the smallest witness between them; else any record."""
        found = [
            r for x in one for y in two for r in (self.record(x, y) or self.record(y, x),) if r is not None
        ]
        return min(found, key=_size, default=None)

    def as_json(self) -> dict[str, Any]:
        """Groups with classes, and a record for each pair of classes."""
        return {
            "tcsmt": __version__,
            "engine": ENGINE,
            "domain": str(self.domain),
            "groups": [self._group(group) for group in self.groups],
        }

    def _group(self, group: Group) -> dict[str, Any]:
        classes = self.classes(group)
        pairs = [
            {"classes": [i, j], "record": self.between(classes[i], classes[j])}
            for i, j in combinations(range(len(classes)), 2)
        ]
        proofs = [
            record
            for units in classes
            for x, y in combinations(units, 2)
            if (record := self.record(x, y)) is not None
        ]
        names = [[[row.name for row in unit.rows] for unit in units] for units in classes]
        return {
            "types": group.types, "k": group.k, "classes": names, "pairs": pairs, "proofs": proofs
        }  # fmt: skip


def _proved(record: dict[str, Any] | None) -> bool:
    return record is not None and record["verdict"] == "equivalent" and record["sure"]


def _size(record: dict[str, Any]) -> tuple[int, int, int]:
    """How large a record's witness is: non-zero inputs, digits; no witness is larger."""
    if record["verdict"] != "distinguished":
        return (1, 0, 0)
    used = [value for value in record["inputs"].values() if int(value["word"], 16)]
    return (0, len(used), sum(len(value["value"]) for value in used))


def record_of(found: Comparison) -> dict[str, Any]:
    """A comparison as the data that is kept."""
    left, right = (side.label for side in found.question.sides)
    steps = [step.as_json() for step in found.steps]
    return {
        "left": left, "right": right, **finding_of(found).as_json(), "steps": steps,
        "sure": found.confirmed,
    }  # fmt: skip


def run(
    chosen: Sequence[Group],
    domain: Domain,
    store: Store,
    settings: Settings,
    *,
    confirm: bool = True,
    jobs: int = 1,
    progress: Callable[[int, int, str], None] = lambda done, count, what: None,
) -> Atlas:
    """Ask every pair that the store has no verdict on; each verdict is kept as soon as it is there.

    A pair that stayed unknown, or whose process died, is asked again in the next run.
    """
    pairs = [Pair(x, y, domain) for group in chosen for x, y in combinations(group.units, 2)]
    records = {key: record for key, record in store.records() if record["verdict"] != "unknown"}
    missing = [pair for pair in pairs if pair.key not in records]
    done = len(pairs) - len(missing)
    progress(done, len(pairs), "kept from before" if done else "")
    for pair, record in _answers(missing, settings, confirm, jobs):
        store.keep(pair.key, record)
        records[pair.key] = record
        done += 1
        progress(done, len(pairs), f"{record['left']} | {record['right']}: {record['verdict']}")
    wanted = {pair.key for pair in pairs}
    return Atlas(tuple(chosen), domain, {k: r for k, r in records.items() if k in wanted})


def _answers(
    pairs: Sequence[Pair], settings: Settings, confirm: bool, jobs: int
) -> Iterator[tuple[Pair, dict[str, Any]]]:
    """Each pair in a process of its own, ``jobs`` at a time; all are ended on the way out."""
    context = mp.get_context("forkserver")
    context.set_forkserver_preload(["tcsmt.atlas"])
    waiting = list(reversed(pairs))
    running: dict[Connection, tuple[Pair, Any]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                pair = waiting.pop()
                ours, theirs = context.Pipe(duplex=False)
                process = context.Process(target=_work, args=(theirs, pair, settings, confirm))
                process.start()
                theirs.close()
                running[ours] = pair, process
            for ready in wait(list(running)):
                assert isinstance(ready, Connection)
                pair, process = running[ready]
                try:
                    record = ready.recv()
                except EOFError:
                    process.join()
                    record = _died(pair, process.exitcode)
                process.join()
                ready.close()
                del running[ready]
                yield pair, record
    finally:
        for _, process in running.values():
            process.kill()
            process.join()


def _work(answer: Connection, pair: Pair, settings: Settings, confirm: bool) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, which ends this process
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    sides = (pair.left.name, pair.left.model), (pair.right.name, pair.right.model)
    answer.send(record_of(compare_models(*sides, pair.domain, Solving(settings, confirm=confirm))))
    answer.close()


def _died(pair: Pair, code: int | None) -> dict[str, Any]:
    why = signal.Signals(-code).name if code is not None and code < 0 else f"exit code {code}"
    return {
        "left": pair.left.name, "right": pair.right.name, "question": "", "domain": str(pair.domain),
        "verdict": "unknown", "reason": f"the process died ({why})", "seconds": 0.0, "steps": [],
        "sure": False,
    }  # fmt: skip
