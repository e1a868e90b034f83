"""Pairs of models put to the engine: verdicts that are kept, several at a time, here or on a cluster."""

from __future__ import annotations

import hashlib
import multiprocessing as mp
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any

from tcsmt import __version__
from tcsmt.catalogue import Row
from tcsmt.engine import ENGINE, Comparison, compare_models, finding_of
from tcsmt.interpret.exact import evaluate
from tcsmt.models import Model
from tcsmt.query import Distinguished, Domain, Lanes, Solving
from tcsmt.shorten import shorten
from tcsmt.solvers.answer import by_whom, ended
from tcsmt.solvers.run import Settings
from tcsmt.store import Store
from tcsmt.terms import substitute
from tcsmt.trust import Trust

__all__ = ["Asking", "Pair", "Unit", "proved_by", "record_of", "settle", "verdict_on", "without_verdict"]


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


def record_of(found: Comparison) -> dict[str, Any]:
    """A comparison as the data that is kept."""
    left, right = (side.label for side in found.question.sides)
    steps = [step.as_json() for step in found.steps]
    return {
        "left": left, "right": right, **finding_of(found).as_json(), "steps": steps,
        "sure": found.sure,
    }  # fmt: skip


def proved_by(record: dict[str, Any]) -> str:
    """Who proved a pair equal, by its record, and whether in an earlier run."""
    by = f"{record['solver']} {record['version']}".strip()
    said = by_whom(by, record["confirmed"]) if record["scripts"] else by or "same graph"
    return f"{said}, kept from an earlier run" if record.get("earlier") else said


@dataclass(frozen=True)
class Asking:
    """How pairs are asked.

    settings: of solvers. confirm: whether another solver has to confirm every proof. jobs: pairs at a time,
    on this machine. scheduler: the address of a Dask scheduler, whose workers ask instead; empty: none.
    kept: whether proofs that are in the store count (:class:`tcsmt.trust.Trust`).
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
        from tcsmt.cluster import answers_of

        answers = answers_of(asking.scheduler, missing, asking.settings, asking.confirm)
    else:
        answers = _answers(missing, asking)
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


def verdict_on(pair: Pair, settings: Settings, confirm: bool) -> dict[str, Any]:
    """Ask the engine, in this process."""
    sides = (pair.left.name, pair.left.model), (pair.right.name, pair.right.model)
    solving = Solving(settings, confirm=confirm)
    return record_of(_smaller(compare_models(*sides, pair.domain, solving), solving))


def _smaller(found: Comparison, solving: Solving) -> Comparison:
    """With a witness of fewer products, where a solver finds one in the first lanes, or of two halves."""
    question, verdict = found.question, found.verdict
    k = len([name for name in question.formats if name[0] == "a"])
    few: tuple[Lanes, ...] = (1, 2, (0, k // 2), 4)
    if not isinstance(verdict, Distinguished):
        return found
    used = sum(any(verdict.values[f"{side}{lane}"] for side in "ab") for lane in range(k))
    few = tuple(lanes for lanes in few if (lanes if isinstance(lanes, int) else len(lanes)) < used)
    for given in replace(question, lanes=few).fewer_lanes():
        goal = substitute([question.goal], given)[0]
        answer = solving.ask(goal, solving.settings.timeout / 4)
        if answer.answer == "sat":
            values = {name: answer.values.get(name, 0) for name in question.formats}
            values |= dict.fromkeys((str(variable.data) for variable in given), 0)
            if evaluate([question.goal], values)[0]:
                short = shorten(question.goal, question.formats, values)
                smaller = replace(verdict, values=short, solver=answer.solver, version=answer.version)
                return replace(found, verdict=smaller)
    return found


def without_verdict(pair: Pair, reason: str) -> dict[str, Any]:
    """The record of a pair that could not be asked to the end."""
    return {
        "left": pair.left.name, "right": pair.right.name, "question": "", "domain": str(pair.domain),
        "verdict": "unknown", "reason": reason, "seconds": 0.0, "steps": [], "sure": False,
    }  # fmt: skip


def _answers(pairs: Sequence[Pair], asking: Asking) -> Iterator[tuple[Pair, dict[str, Any]]]:
    """Each pair in a process of its own, ``jobs`` at a time; all are ended on the way out."""
    context = mp.get_context("forkserver")
    context.set_forkserver_preload(["tcsmt.pairs"])
    resource_tracker.ensure_running()  # it unblocks signals where it starts
    waiting = list(reversed(pairs))
    running: dict[Connection, tuple[Pair, Any]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < asking.jobs:
                pair = waiting.pop()
                with _undisturbed():
                    ours, theirs = context.Pipe(duplex=False)
                    given = theirs, pair, asking.settings, asking.confirm
                    process = context.Process(target=_work, args=given)
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
                    record = without_verdict(pair, f"the process died ({ended(process.exitcode)})")
                process.join()
                ready.close()
                del running[ready]
                yield pair, record
    finally:
        for _, process in running.values():
            process.kill()
            process.join()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Signals wait, so that no process is started and then forgotten. What is started inherits that."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(answer: Connection, pair: Pair, settings: Settings, confirm: bool) -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])  # Ctrl-C is the parent's
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with suppress(BrokenPipeError):  # the parent is gone
        answer.send(verdict_on(pair, settings, confirm))
    answer.close()
