"""Bounds of errors: which limits are asked about, and what is asked, against all inputs of tiny formats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import pytest

from tcsmt.algorithms.bound import error_goal, prove, unit
from tcsmt.algorithms.error import ErrorGrid
from tcsmt.algorithms.proof import Chain
from tcsmt.prove import solving as asking
from tcsmt.prove.solvers.answer import Answer, digest
from tcsmt.prove.solvers.run import Settings
from tcsmt.prove.solving import Solving
from tcsmt.recipes.named import algorithm_named
from tcsmt.statements.domain import Domain
from tests.oracles import recipes
from tests.oracles.numbers import truth
from tests.oracles.tiny_recipes import Drawn


class Saying(Solving):
    """Gives these answers in turn, and no others."""

    def __init__(self, answers: Sequence[str]) -> None:
        super().__init__(Settings(timeout=1))
        self.answers = list(answers)

    def ask(self, goal: object, timeout: float | None = None) -> Answer:
        answer = self.answers.pop(0)
        return Answer(answer, "says", reason="timeout" if answer == "unknown" else "")

    def checked(self, text: str, answer: Answer) -> Answer:
        return answer


#: Answers to the lemma about the split and then about limits, and the limit that is proved.
LADDER = [
    (["unknown"], None),
    (["sat"], None),
    (["unsat", "unsat"], Fraction(74, 64)),
    (["unsat", "sat", "sat", "unsat"], Fraction(81, 64)),
    (["unsat", "unknown"], None),
    (["unsat", "sat", "unknown"], None),
    (["unsat", *["sat"] * 9], None),
]


@pytest.mark.parametrize(("answers", "limit"), LADDER)
def test_limits_are_asked_about_until_time_runs_out(answers: list[str], limit: Fraction | None) -> None:
    """A limit that is too small is followed by a larger one; one that takes too long is the last."""
    algorithm, _ = algorithm_named("single-f16", "hopper", 1)
    solver = Saying(answers)
    chain = Chain(solver)
    domain = Domain(exponents=(0, 0), bits=(11, 11))
    assert prove(chain, algorithm, domain, Fraction(9, 8), None) == limit
    assert not solver.answers
    assert chain.stopped.endswith({"unknown": "timeout", "sat": "not so for all words"}.get(answers[-1], ""))


def test_limits_below_what_is_known() -> None:
    algorithm, _ = algorithm_named("single-f16", "hopper", 1)
    solver = Saying(["unsat", "sat", "sat"])
    domain = Domain(exponents=(0, 0), bits=(11, 11))
    assert prove(Chain(solver), algorithm, domain, Fraction(9, 8), Fraction(81, 64)) is None
    assert not solver.answers


def test_a_limit_that_is_not_confirmed_is_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def solve(text: str, settings: Settings) -> Answer:
        asked.append(settings.solver)
        timeout = len(asked) > 2 and settings.solver != "bitwuzla"
        if timeout:
            return Answer(
                "unknown", settings.solver, reason=f"{settings.solver}: timeout", script=digest(text)
            )
        return Answer("unsat", settings.solver, script=digest(text))

    monkeypatch.setattr(asking, "solve", solve)
    algorithm, _ = algorithm_named("single-f16", "hopper", 1)
    chain = Chain(Solving(Settings("bitwuzla", 1), confirm=True))
    domain = Domain(exponents=(0, 0), bits=(11, 11))
    assert prove(chain, algorithm, domain, Fraction(9, 8), None) is None
    assert asked == ["bitwuzla", "z3", "bitwuzla", "z3", "cvc5"]
    assert "not confirmed" in chain.stopped


def test_the_goal_of_a_larger_error() -> None:
    """It holds on exactly the inputs with such an error, or an infinite one, if the result can be counted."""
    counts: Counter[bool] = Counter()
    for seed in range(10):
        drawn = Drawn.of(f"larger error {seed}", 1 << 9)
        algorithm, domain = drawn.algorithm, drawn.domain
        (columns,) = drawn.everything
        error, fits = recipes.errors(algorithm, columns)
        grid = ErrorGrid.of(domain, algorithm.k, algorithm.wide)
        there = truth(grid.holds(algorithm.trace.output), columns)
        _, size = recipes.sums(recipes.Format.of(algorithm.wide), columns)
        for limit in (Fraction(0), Fraction(3, 64), Fraction(3, 2), Fraction(9)):
            goal = truth(error_goal(algorithm, domain, limit * unit(algorithm.wide)), columns)
            for row, holds in enumerate(goal.tolist()):
                most = limit * unit(algorithm.wide) * recipes.fraction(size, row)
                over = there[row] and recipes.fraction(error, row) > most
                assert holds == (not fits[row] or over), (drawn, limit, row)
                counts[holds] += 1
    assert counts[True] > 50 and counts[False] > 50
