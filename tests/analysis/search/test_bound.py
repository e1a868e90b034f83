"""Bounds of errors: which limits are asked about, and what is asked, against all inputs of tiny formats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import pytest

from tcsmt.analysis.bounds.budget import ErrorBudget
from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.error import ErrorGrid, exact_dot
from tcsmt.analysis.search import bound as bounds
from tcsmt.analysis.search.bound import Bound, Extreme, bound, error_goal, prove, unit
from tcsmt.language.terms import var
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.programs.recipes.named import algorithm_named
from tcsmt.prove.engine import solving as asking
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solvers.answer import Answer, digest
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.verdict import Equivalent
from tcsmt.support.errors import Contradiction
from tests.oracles import recipes
from tests.oracles.numbers import truth
from tests.oracles.tiny_recipes import Drawn
from tests.support.refusing import Refusing
from tests.support.sampling import mostly_long
from tests.support.words_of_inputs import Tried, sums


class Saying(Solving):
    """Gives these answers in turn, and no others."""

    def __init__(self, answers: Sequence[str]) -> None:
        super().__init__(SolvingOptions(steps=200_000))
        self.answers = list(answers)

    def ask(self, goal: object, timeout: float | None = None, text: str = "") -> Answer:
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
    chain = StepwiseProof(solver)
    domain = Domain(exponents=(0, 0), bits=(11, 11))
    assert prove(chain, algorithm, domain, Fraction(9, 8), None) == limit
    assert not solver.answers
    assert chain.stopped.endswith({"unknown": "timeout", "sat": "not so for all words"}.get(answers[-1], ""))


@pytest.mark.parametrize(
    ("k", "domain", "alone"),
    [
        (1, Domain(exponents=(0, 0), bits=(11, 11), c_zero=True), True),
        (2, Domain(exponents=(0, 0), bits=(11, 11), c_zero=True), False),
        (1, Domain(exponents=(0, 0), bits=(11, 11)), False),
        (1, Domain(exponents=(-64, -64), bits=(11, 11), c_zero=True), False),
    ],
)
def test_a_bound_in_ulps_is_of_one_normal_product_alone(
    k: int, domain: Domain, *, alone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of more, or of a product below the normal numbers, an ulp of the result says nothing of the terms."""

    def budget(chain: StepwiseProof, *_: object) -> ErrorBudget:
        assert chain.prove("said", var("x", 1))
        return ErrorBudget({"all": Fraction(1)})

    monkeypatch.setattr(bounds, "budget", budget)
    algorithm, _ = algorithm_named("fp32-fma", "hopper", k)
    found = bound(algorithm, domain, Saying(["unsat", *["unknown"] * 9]), seconds=0.01, alternate=False)
    assert found.proved is not None
    assert found.in_ulps == (found.proved if alone else None)


def test_limits_below_what_is_known() -> None:
    algorithm, _ = algorithm_named("single-f16", "hopper", 1)
    solver = Saying(["unsat", "sat", "sat"])
    domain = Domain(exponents=(0, 0), bits=(11, 11))
    assert prove(StepwiseProof(solver), algorithm, domain, Fraction(9, 8), Fraction(81, 64)) is None
    assert not solver.answers


def test_a_limit_that_is_not_confirmed_is_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def solve(text: str, settings: SolvingOptions) -> Answer:
        asked.append(settings.solver)
        timeout = len(asked) > 2 and settings.solver != "bitwuzla"
        if timeout:
            return Answer(
                "unknown", settings.solver, reason=f"{settings.solver}: timeout", script=digest(text)
            )
        return Answer("unsat", settings.solver, script=digest(text))

    monkeypatch.setattr(asking, "solve", solve)
    algorithm, _ = algorithm_named("single-f16", "hopper", 1)
    chain = StepwiseProof(Solving(SolvingOptions("bitwuzla", 1, confirm=True)))
    domain = Domain(exponents=(0, 0), bits=(11, 11))
    assert prove(chain, algorithm, domain, Fraction(9, 8), None) is None
    assert asked == ["bitwuzla", "z3", "bitwuzla", "z3", "cvc5"]
    assert "not confirmed" in chain.stopped


@pytest.mark.slow
def test_the_goal_holds_exactly_where_the_error_is_larger() -> None:
    """It holds on exactly the inputs with such an error, or an infinite one, if the result can be counted."""
    counts: Counter[bool] = Counter()
    for seed in range(5):
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
    assert counts[True] > 10 and counts[False] > 10


# --- a bound as a whole --------------------------------------------------------------------------------


def test_the_limit_is_about_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """If goals are decided on all inputs: no error is over the limit, and one is over the limit before it."""
    monkeypatch.setattr(bounds, "free_products", lambda goal: goal)
    steps = Counter[int]()
    for one in sums("limits", 6):
        algorithm, domain = one.drawn.algorithm, one.drawn.domain
        most, _ = recipes.largest_error(algorithm, one.drawn.everything)
        if most is None or not most:
            continue
        most /= unit(algorithm.wide)
        limit = prove(Tried(one.columns), algorithm, domain, Fraction(0), None)
        if limit is None:  # some result is not on the grid, or the error is too large
            assert not truth(one.words.grid.holds(algorithm.trace.output), one.inputs).all() or most > 4
            continue
        before = [tried for tried in bounds._limits(Fraction(0)) if tried < limit]
        assert most <= limit, one.drawn
        assert not before or before[-1] < most, (one.drawn, most, limit)
        steps[len(one.words.stages)] += 1
    assert sum(steps.values()) >= 2 and max(steps) > 1, steps


TOTAL, LIMIT = Fraction(3), Fraction(2)


@pytest.mark.parametrize("total", [TOTAL, None])
@pytest.mark.parametrize("of_kernel", [LIMIT, TOTAL + 1, None])
@pytest.mark.parametrize("limit", [LIMIT / 2, None])
def test_the_smaller_bound_counts(
    total: Fraction | None,
    of_kernel: Fraction | None,
    limit: Fraction | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The budget's, that of the kernel, or that of the whole; none where none is proved."""
    algorithm, _ = algorithm_named("fp32-fma", "hopper", 1)
    before = min((x for x in (total, of_kernel) if x is not None), default=None)

    def spent(chain: StepwiseProof, *_: object) -> ErrorBudget:
        if total is None:
            raise Unbounded("no reason")
        chain.know("the budget")
        return ErrorBudget({"additions": total * unit(algorithm.wide)})

    def proved(chain: StepwiseProof, *given: object) -> Fraction | None:
        assert given[-1] == before
        chain.know("the whole")
        return limit

    def kernel(chain: StepwiseProof, *_: object) -> Fraction:
        if of_kernel is None:
            raise Unbounded("no reason")
        chain.know("the kernel")
        return of_kernel * unit(algorithm.wide)

    monkeypatch.setattr(bounds, "algorithm_bound", kernel)
    monkeypatch.setattr(bounds, "budget", spent)
    monkeypatch.setattr(bounds, "prove", proved)
    found = bound(
        algorithm,
        Domain(exponents=(0, 0)),
        Solving(SolvingOptions(steps=200_000)),
        seconds=0.1,
        alternate=False,
    )
    assert found.proved == (limit or before)
    assert (found.proof is None) == (found.proved is None)
    if found.proof is not None:
        budgeted = "the budget" if before == total else "the kernel"
        assert found.proof.stage == ("the whole" if limit else budgeted)
    assert found.shares == ({"additions": TOTAL} if total and before == total and not limit else {})


@pytest.mark.parametrize("measure", ["relative", "ulps", None])
def test_evidence_counts_in_its_own_measure(measure: str | None) -> None:
    """An error that is larger than its bound is one whatever the other measure says."""
    algorithm, _ = algorithm_named("fp32-fma", "hopper", 1)
    domain = Domain(exponents=(0, 0))

    def one(relative: int, ulps: int) -> Extreme:
        return Extreme({"c": 1}, 1, Fraction(1), Fraction(1), Fraction(relative), Fraction(ulps))

    found = Bound(
        one(9 if measure == "relative" else 4, 9), one(9, 9 if measure == "ulps" else 4),
        Fraction(5), Fraction(5), None, {}, "", 0.0,
    )  # fmt: skip
    if measure is None:
        bounds.check_consistent(algorithm, domain, found)
        return
    with pytest.raises(Contradiction, match="an error of 9 " + ("ulp" if measure == "ulps" else "2")):
        bounds.check_consistent(algorithm, domain, found)


#: Seeds of algorithms whose bound needs lemmas of both kinds.
BOUNDED = (1, 28, 31)


@pytest.mark.long
@pytest.mark.usefixtures("no_luck")
@pytest.mark.parametrize("said", ["sat", pytest.param("unknown", marks=pytest.mark.long)])
@pytest.mark.parametrize("seed", mostly_long(BOUNDED, BOUNDED[:1]))
def test_every_lemma_of_a_bound_is_needed(seed: int, said: str) -> None:
    """Without any one of them the bound is larger, or there is none."""
    drawn = Drawn.of(f"whole {seed}", 1 << 9)
    most, _ = recipes.largest_error(drawn.algorithm, drawn.everything)
    assert most is not None

    def found(solver: Refusing) -> Bound:
        return bound(drawn.algorithm, drawn.domain, solver, seconds=0.05, alternate=False)

    every = Refusing(said)
    whole = found(every)
    assert whole.proved is not None and whole.proof is not None
    assert most <= whole.proved * unit(drawn.algorithm.wide)
    needed = 0
    for goal in dict.fromkeys(every.goals):
        solver = Refusing(said, goal)
        other = found(solver)
        assert goal not in solver.proved
        assert other.proved is None or other.proved >= whole.proved
        proof = every.proved.get(goal)
        if isinstance(proof, Equivalent) and set(proof.scripts) <= set(whole.proof.scripts):
            assert other.proved is None or other.proved > whole.proved
            needed += 1
    assert needed


F32 = FORMATS["f32"]


def value(word: int) -> Fraction:
    return F32.value(word)


@pytest.mark.long
def test_bound_of_the_rounding_inside() -> None:
    algorithm, _ = algorithm_named("single-f16", "volta", 1)
    domain = Domain(exponents=(0, 0), bits=(11, 11), positive=True)
    found = bound(algorithm, domain, Solving(), seconds=0.5, alternate=False)
    assert found.relative is not None
    assert found.proved is not None
    assert found.relative.relative is not None
    assert found.relative.relative <= found.proved <= 8
    assert found.relative.error == abs(value(found.relative.result) - exact_dot(found.relative.values))
