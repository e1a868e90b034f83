"""Proofs in which one lemma is refused."""

from __future__ import annotations

from tcsmt.algorithms.proof import StepwiseProof
from tcsmt.prove.solving import Solving
from tcsmt.terms import Term

__all__ = ["Without"]


class Without(StepwiseProof):
    """What an earlier proof has shown is known; but the lemma of this title is refused."""

    def __init__(self, proof: StepwiseProof, refused: str) -> None:
        super().__init__(Solving())
        self.solving.proved.update(proof.solving.proved)
        self.refused = refused

    def prove(self, what: str, goal: Term) -> bool:
        return what != self.refused and super().prove(what, goal)
