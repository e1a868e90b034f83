"""The steps of a proof on the way to a verdict, and their lemmas: each script is asked once, in any run."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

from tcsmt.language.terms import Term
from tcsmt.language.write.smtlib import script
from tcsmt.prove.certificates.derivation import Step
from tcsmt.prove.engine.solvers.answer import Answer, digest
from tcsmt.prove.engine.solvers.run import installed
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.question import Question
from tcsmt.prove.statements.verdict import Answered, Equivalent
from tcsmt.support import cache


@dataclass(frozen=True)
class LemmaAnswer:
    """An answer as it counts.

    refused: a solver answered ``unsat``, and no other one confirmed it. earlier: an earlier run's.
    """

    answer: Answer
    refused: bool = False
    earlier: bool = False

    @property
    def holds(self) -> bool:
        """Return whether the goal was proved to have no solution."""
        return self.answer.answer == "unsat"


@dataclass
class Lemmas:
    """A door to solvers, which asks each script once; what is proved is confirmed where that is asked for.

    lasting: what was proved is kept in the user's cache (:mod:`tcsmt.support.cache`), by the script, the
    solver and its version, and read from there where it counts (:meth:`.SolvingOptions.takes`). first: what
    was answered to each script, and limits: the seconds that there were; what had no answer is asked again
    with more of them. refused: what no other solver confirmed, in words.
    """

    solving: Solving
    lasting: bool = False
    known: dict[str, LemmaAnswer] = field(default_factory=dict)
    first: dict[str, Answer] = field(default_factory=dict)
    limits: dict[str, float] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def prove(self, goal: Term, timeout: float) -> LemmaAnswer:
        """Prove that the goal has no solution, or return a solution. Raises :class:`.Disagreement`."""
        if goal.value is not None:
            return LemmaAnswer(self.solving.ask(goal))
        text = script(goal)
        name = digest(text)
        answer = self.known.get(name) or self._earlier(name) or self._checked(text, goal, timeout)
        if answer.refused:
            self.refused.append(answer.answer.reason)
        if answer.refused or answer.answer.answer != "unknown":  # else the next one may have more time
            self.known[name] = answer
        return answer

    def find_model(self, goal: Term, timeout: float) -> Answer:
        """Return a solution of the goal, if a solver finds one; ``unsat`` is not confirmed, and no proof."""
        if goal.value is not None:
            return self.solving.ask(goal)
        text = script(goal)
        earlier = self.known.get(digest(text))
        return self._first_answer(text, goal, timeout) if earlier is None else earlier.answer

    def _first_answer(self, text: str, goal: Term, timeout: float) -> Answer:
        name = digest(text)
        answer = self.first.get(name)
        if answer is None or (answer.answer == "unknown" and timeout > self.limits[name]):
            answer = self.solving.ask(goal, timeout, text)
            self.seconds += answer.seconds
            self.first[name], self.limits[name] = answer, timeout
        return answer

    def _checked(self, text: str, goal: Term, timeout: float) -> LemmaAnswer:
        first, before = self._first_answer(text, goal, timeout), self.solving.confirming
        answer = self.solving.checked(text, first)
        self.seconds += self.solving.confirming - before
        counted = LemmaAnswer(answer, refused=answer.answer != first.answer)
        if self.lasting and counted.holds:
            self._keep(answer)
        return counted

    def _earlier(self, name: str) -> LemmaAnswer | None:
        """Return what an earlier run has proved with a solver that would be asked now."""
        options = self.solving.options
        if self.lasting and self.solving.dump is None:
            for solver in options.team:
                content = cache.read(_file(name, solver))
                answer = _kept(name, solver, content) if content is not None else None
                if answer is not None and options.takes(sure=bool(answer.confirmed)):
                    # a file alone confirms nothing, unless the user has said that it does
                    counted = answer if options.confirm else replace(answer, confirmed="")
                    return LemmaAnswer(counted, earlier=True)
        return None

    def _keep(self, answer: Answer) -> None:
        record = {"version": answer.version, "seconds": answer.seconds, "confirmed": answer.confirmed}
        cache.store(_file(answer.script, answer.solver), json.dumps(record).encode())


def _file(script: str, solver: str) -> str:
    return f"lemmas/{script}.{solver}-{installed(solver)}.json"


def _kept(script: str, solver: str, content: bytes) -> Answer | None:
    """Return the answer in a file; None where that is no record of one."""
    try:
        record = json.loads(content)
        version, seconds, confirmed = record["version"], float(record["seconds"]), record["confirmed"]
        return Answer("unsat", solver, str(version), seconds, script=script, confirmed=str(confirmed))
    except (ValueError, TypeError, KeyError):
        return None


@dataclass(frozen=True, kw_only=True)
class ProofStep(Answered):
    """A step of a proof: what one query, or no query, proved on the way.

    what: the statement. how: what was left free, or why no solver was needed. script: SHA-256 of the
    SMT-LIB text. confirmed: the other solver that agreed. seconds: of the first solver. earlier: an
    earlier run proved it.
    """

    what: str
    how: str
    solver: str = ""
    version: str = ""
    seconds: float = 0.0
    script: str = ""
    confirmed: str = ""
    earlier: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the step as plain data."""
        return {**vars(self), "seconds": round(self.seconds, 4)}

    def __str__(self) -> str:
        if not self.solver:
            return f"{self.what}: {self.how}"
        confirmed = f", confirmed by {self.confirmed}" if self.confirmed else ""
        alone = " alone" if self.script and not self.confirmed else ""
        kept = ", in an earlier run" if self.earlier else ""
        return f"{self.what}: {self.by}{alone}, {self.seconds:.3f} s{kept}, {self.how}{confirmed}"

    @property
    def proof(self) -> Equivalent:
        """Return the step as a proof by itself."""
        return Equivalent(
            stage=self.what,
            scripts=(self.script,) if self.script else (),
            solver=self.solver,
            version=self.version,
            seconds=self.seconds,
            confirmed=self.confirmed,
        )


@dataclass
class Proving:
    """A question on its way to a verdict: whom to ask, and what was proved so far.

    steps: for people. derived: the same as a certificate has it.
    """

    question: Question
    solving: Solving
    lemmas: Lemmas
    steps: list[ProofStep] = field(default_factory=list)
    derived: list[Step] = field(default_factory=list)

    @property
    def limit(self) -> float:
        """Return seconds for a query."""
        return self.solving.options.timeout

    def proved(self, what: str, how: str, lemma: LemmaAnswer) -> None:
        """Record a proved step."""
        answer = lemma.answer
        step = ProofStep(
            what=what, how=how, solver=answer.solver, version=answer.version, seconds=answer.seconds,
            script=answer.script, confirmed=answer.confirmed, earlier=lemma.earlier,
        )  # fmt: skip
        self.steps.append(step)
