"""The steps of a proof on the way to a verdict, in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tcsmt.prove.certificates.derivation import Step
from tcsmt.prove.engine.asked_lemmas import CountedAnswer, Lemmas
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.question import Question
from tcsmt.prove.statements.verdict import Answered, Equivalent

__all__ = ["ProofStep", "Proving"]


@dataclass(frozen=True, kw_only=True)
class ProofStep(Answered):
    """What one query, or no query, proved on the way.

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
        """Seconds for a query."""
        return self.solving.options.timeout

    def proved(self, what: str, how: str, lemma: CountedAnswer) -> None:
        """Record a proved step."""
        answer = lemma.answer
        step = ProofStep(
            what=what, how=how, solver=answer.solver, version=answer.version, seconds=answer.seconds,
            script=answer.script, confirmed=answer.confirmed, earlier=lemma.earlier,
        )  # fmt: skip
        self.steps.append(step)
