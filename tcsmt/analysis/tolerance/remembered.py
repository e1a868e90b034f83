"""A proof in steps whose lemmas are those of earlier runs where these are kept."""

from __future__ import annotations

from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.language.terms import Term
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.proof_steps import Lemmas
from tcsmt.prove.engine.solving import Disagreement, Solving, proof_of
from tcsmt.prove.statements.verdict import Equivalent, Unknown


class RememberedProof(StepwiseProof):
    """Goals that were proved to have no model in an earlier run are not asked again: what was proved is in
    the user's cache, by the goal's script and the solver (:class:`.Lemmas`).
    """

    def __init__(self, options: SolvingOptions) -> None:
        super().__init__(Solving(options))
        self._lemmas = Lemmas(self.solving, lasting=True)

    def _asked(self, goal: Term) -> Equivalent | Unknown:
        try:
            answer = self._lemmas.prove(goal, self.solving.options.timeout).answer
        except Disagreement as why:
            return Unknown(reason=str(why), seconds=0.0)
        self.refuted = answer.answer == "sat"
        if answer.answer == "unsat":
            return proof_of("", answer, answer.seconds)
        reason = "not so for all words" if self.refuted else answer.reason
        return Unknown(reason=reason, seconds=answer.seconds)
