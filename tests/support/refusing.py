"""Solvers and proofs in which one lemma is refused."""

from __future__ import annotations

from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.language.terms import Term
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solvers.answer import Answer
from tcsmt.prove.engine.solving import Solving

__all__ = ["Refusing", "Without"]


class Refusing(Solving):
    """Solves goals, but says something else of one of them."""

    def __init__(self, said: str, refused: Term | None = None) -> None:
        super().__init__(SolvingOptions())
        self.said, self.refused = said, refused
        self.goals: list[Term] = []

    def ask(self, goal: Term, timeout: float | None = None, text: str = "") -> Answer:
        self.goals.append(goal)
        if goal is self.refused:
            return Answer(self.said, "refusing", reason="" if self.said == "sat" else "refused")
        return super().ask(goal, timeout, text)


class Without(StepwiseProof):
    """What an earlier proof has shown is known; but the lemma of this title is refused."""

    def __init__(self, proof: StepwiseProof, refused: str) -> None:
        super().__init__(Solving())
        self.solving.proved.update(proof.solving.proved)
        self.refused = refused

    def prove(self, what: str, goal: Term) -> bool:
        return what != self.refused and super().prove(what, goal)
