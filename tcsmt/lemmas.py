"""Queries that proofs are made of: each script is asked once, in this run or an earlier one."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field

from tcsmt import cache
from tcsmt.interpret.smtlib import script
from tcsmt.query import Solving, disagreement
from tcsmt.solvers.run import SOLVERS, Answer
from tcsmt.terms import Term

__all__ = ["Disagreement", "Lemma", "Lemmas"]


class Disagreement(Exception):
    """Two solvers contradict each other on one script: nothing is proved."""


@dataclass(frozen=True)
class Lemma:
    """An answer; the second solver that agrees with ``unsat``; the script's SHA-256; if an earlier run's."""

    answer: Answer
    confirmed: str = ""
    script: str = ""
    earlier: bool = False

    @property
    def holds(self) -> bool:
        """Whether the goal was proved to have no solution."""
        return self.answer.answer == "unsat"


@dataclass
class Lemmas:
    """Asks solvers, each script once; with a second solver for what is proved where asked to.

    lasting: what was proved is read from and kept in the user's cache (:mod:`tcsmt.cache`), by the
    script's SHA-256, where it comes from a solver that was asked for.
    """

    solving: Solving
    lasting: bool = False
    known: dict[str, Lemma] = field(default_factory=dict)
    seconds: float = 0.0

    def ask(self, goal: Term, timeout: float) -> Lemma:
        """Whether the goal has a solution. Raises :class:`Disagreement`."""
        if goal.value is not None:
            return Lemma(Answer("sat" if goal.value else "unsat", "simplifier"), "simplifier")
        text = script(goal)
        digest = hashlib.sha256(text.encode()).hexdigest()
        found = self.known.get(digest) or self._earlier(digest)
        if found is None:
            answer = self.solving.ask(goal, timeout)
            self.seconds += answer.seconds
            if answer.answer == "unknown":  # the next one may have more time
                return Lemma(answer, script=digest)
            found = Lemma(answer, self._second(text, answer), digest)
            self._keep(found)
        self.known[digest] = found
        return found

    def _second(self, text: str, first: Answer) -> str:
        if not self.solving.confirm or first.answer != "unsat":
            return ""
        second = self.solving.second(text, first)
        self.seconds += second.seconds
        if second.answer == "sat":
            raise Disagreement(disagreement(first, second))
        return second.by

    def _earlier(self, digest: str) -> Lemma | None:
        content = cache.kept(_name(digest)) if self.lasting and self.solving.dump is None else None
        if content is None:
            return None
        record = json.loads(content)
        wanted = self.solving.settings.solver
        if wanted in SOLVERS and wanted != record["solver"]:
            return None
        if self.solving.confirm and not record["confirmed"]:
            return None
        answer = Answer("unsat", record["solver"], record["version"], record["seconds"])
        return Lemma(answer, record["confirmed"] if self.solving.confirm else "", digest, earlier=True)

    def _keep(self, lemma: Lemma) -> None:
        if self.lasting and lemma.holds:
            answer = lemma.answer
            record = {
                "solver": answer.solver, "version": answer.version, "seconds": answer.seconds,
                "confirmed": lemma.confirmed,
            }  # fmt: skip
            cache.keep(_name(lemma.script), json.dumps(record).encode())


def _name(digest: str) -> str:
    return f"lemmas/{digest}.json"
