"""What solvers answer to goals, each asked once."""

from __future__ import annotations

from collections.abc import Callable, Container
from functools import cache

from form_proofs.deduction import FormDerivation, ProofFailed

from tcsmt.language.terms import Term
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving

__all__ = ["answer", "refused", "refuted"]


@cache
def answer(goal: Term, options: SolvingOptions = SolvingOptions()) -> str:
    """A solver's answer; most goals about a faulty form are those about the right one."""
    return Solving(options).ask(goal).answer


def refuted(goal: Term) -> bool:
    """Whether a solver refutes a goal."""
    return answer(goal) == "unsat"


def refused(argument: Callable[[], FormDerivation], usual: Container[Term]) -> bool:
    """Whether an argument stops, or one of its lemmas has a solution: first those that are not usual ones."""
    try:
        lemmas = argument().lemmas
    except ProofFailed:
        return True
    return not all(refuted(goal) for goal in sorted(lemmas, key=lambda goal: goal in usual))
