"""Solvers that do not prove one of the lemmas."""

from __future__ import annotations

from tcsmt.prove.solvers.answer import Answer
from tcsmt.prove.solvers.run import Settings
from tcsmt.prove.solving import Solving
from tcsmt.terms import Term

__all__ = ["Refusing"]


class Refusing(Solving):
    """Solves goals, but says something else of one of them."""

    def __init__(self, said: str, refused: Term | None = None) -> None:
        super().__init__(Settings(timeout=60))
        self.said, self.refused = said, refused
        self.goals: list[Term] = []

    def ask(self, goal: Term, timeout: float | None = None, text: str = "") -> Answer:
        self.goals.append(goal)
        if goal is self.refused:
            return Answer(self.said, "refusing", reason="" if self.said == "sat" else "refused")
        return super().ask(goal, timeout, text)
