"""Proofs that rest on what other tests of this process have proved: of a unit, lemmas are asked once."""

from __future__ import annotations

from functools import cache

from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving


@cache
def shared_solving(options: SolvingOptions = SolvingOptions()) -> Solving:
    """Return the door to solvers that all tests with these options share."""
    return Solving(options)


def shared_proof(options: SolvingOptions = SolvingOptions()) -> StepwiseProof:
    """Return a proof that takes over what has been proved."""
    return StepwiseProof(shared_solving(options))
