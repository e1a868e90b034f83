"""Is one algorithm ever less accurate than another? An input, a proof that there is none, or neither.

The simulator looks for an input first; then a solver, on one product and on all of them. A witness
is replayed without any of the solver's terms: results from the compiled units, errors in fractions.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from tcsmt.analysis.bounds.proof import StepwiseProof, prove_not_less_accurate
from tcsmt.analysis.error import ErrorGrid, exact_dot, nearer, require_normal, ulp, value
from tcsmt.analysis.search.search import Array, Rows, climb, errors, searched, short_witness
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, any_of
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.programs.recipes.algorithm import Algorithm
from tcsmt.programs.steps.split import F32
from tcsmt.prove.engine.solvers.answer import Answer
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import ComparedModel, Question
from tcsmt.prove.statements.verdict import Distinguished, Equivalent, Unknown, Verdict
from tcsmt.support.errors import TcsmtError

#: An error that is larger by this share of Σ|a·b| is larger for sure, binary64's rounding included.
_SURE = 2.0**-60
#: A longer dot product with a 24-bit product in each lane is not given to a solver whole.
_LONGEST = 8


@dataclass(frozen=True)
class BothErrors:
    """One input: the exact dot product, |c| + Σ |a·b|, both results, and their errors (None: infinite)."""

    exact: Fraction
    size: Fraction
    words: tuple[int, int]
    errors: tuple[Fraction | None, Fraction | None]
    wide: Format = F32

    @property
    def worse(self) -> bool:
        """Return whether the first error is strictly larger."""
        first, second = self.errors
        return second is not None and (first is None or first > second)

    @property
    def excess(self) -> Fraction | None:
        """By how much, in units in the last place of the exact result."""
        first, second = self.errors
        return None if first is None or second is None else (first - second) / ulp(self.exact, self.wide)

    @property
    def relative(self) -> Fraction | None:
        """By how much, relative to |c| + Σ |a·b|, in units of 2^-24 (2^-precision)."""
        first, second = self.errors
        if first is None or second is None or not self.size:
            return None
        return (first - second) / self.size * (1 << self.wide.precision)


@dataclass(frozen=True)
class AlgorithmPair:
    """Two algorithms by their names, for dot products of the same length, and the inputs that count."""

    names: tuple[str, str]
    algorithms: tuple[Algorithm, Algorithm]
    domain: Domain

    def __post_init__(self) -> None:
        first, second = self.algorithms
        if first.k != second.k:
            raise TcsmtError(
                f"{self.names[0]} takes {first.k} products, but {self.names[1]} takes {second.k}"
            )
        if first.wide != second.wide:
            raise TcsmtError(
                f"{self.names[0]} takes {first.wide.name}, but {self.names[1]} takes {second.wide.name}"
            )
        require_normal(self.domain, self.wide)

    @property
    def k(self) -> int:
        """Products."""
        return self.algorithms[0].k

    @property
    def wide(self) -> Format:
        """Return the format of the inputs and of the results."""
        return self.algorithms[0].wide

    def with_k(self, k: int) -> AlgorithmPair:
        """Return the same algorithms on dot products of k."""
        first, second = (algorithm.replace(k=k) for algorithm in self.algorithms)
        return replace(self, algorithms=(first, second))

    @cached_property
    def doubts(self) -> tuple[Term, Term]:
        """Two truth values: a result does not fit the fixed-point words; the first one's error is larger."""
        grid = ErrorGrid.of(self.domain, self.k, self.wide)
        words = [a.trace.output for a in self.algorithms]
        numbers = [grid.number(word) for word in words]
        exact = grid.dot(self.domain, self.algorithms[0].trace)
        return any_of([~grid.holds(word) for word in words]), nearer(numbers[1], numbers[0], exact)

    @cached_property
    def question(self) -> Question:
        """Is there an input of the domain at which the first one's error is larger?

        Where a result does not fit the fixed-point words, the answer is yes: such a witness may
        fail to replay, and a proof covers every input.
        """
        first, second = self.algorithms
        where = self.domain.holds(first.input_formats, first.trace)
        return Question(
            title=f"is {self.names[0]} less accurate than {self.names[1]}",
            sides=(
                ComparedModel(self.names[0], first, first.trace),
                ComparedModel(self.names[1], second, second.trace),
            ),
            goal=where & any_of(self.doubts),
            formats=first.input_formats,
            domain=where,
            domain_text=str(self.domain),
        )

    def score(self, rows: Rows) -> Array:
        """By how much the first one's error is larger, relative to |c| + Σ |a·b|; -inf where not.

        Returns float64 (rows,).
        """
        results = [rows.run(algorithm) for algorithm in self.algorithms]
        (first, second), _, size = errors(rows, *results)
        with np.errstate(all="ignore"):
            excess = (first - second) / size
        return np.where((size > 0) & np.isfinite(second) & (excess > _SURE), excess, -np.inf)


@dataclass(frozen=True)
class ErrorComparison:
    """A comparison and its verdict; ``judgement`` belongs to a witness."""

    pair: AlgorithmPair
    verdict: Verdict
    judgement: BothErrors | None = None


def judge(pair: AlgorithmPair, inputs: Sequence[Mapping[str, int]]) -> list[BothErrors]:
    """Both algorithms on some inputs: the compiled units' results, and fractions for the rest."""
    if not inputs:
        return []
    wide, rows = pair.wide, Rows.of(inputs, pair.k, pair.wide)
    results = [rows.words(algorithm) for algorithm in pair.algorithms]
    judgements = []
    for values, first, second in zip(inputs, *results, strict=True):
        exact, size = (exact_dot(values, absolute=a, wide=wide) for a in (False, True))
        wrong = [None if (v := value(int(w), wide)) is None else abs(v - exact) for w in (first, second)]
        judgements.append(BothErrors(exact, size, (int(first), int(second)), (wrong[0], wrong[1]), wide))
    return judgements


def compare(pair: AlgorithmPair, solving: Solving, *, search: float = 5.0) -> ErrorComparison:
    """Is the first algorithm ever less accurate? ``search``: seconds for the simulator."""
    start = time.monotonic()
    same = _same(pair)
    if same:
        proof = Equivalent(stage=same, scripts=(), solver="", version="", seconds=time.monotonic() - start)
        return ErrorComparison(pair, proof)
    rows, scores = climb(pair.domain, pair.wide, pair.k, pair.score, seconds=search, enough=_SURE)
    if scores[0] > _SURE:
        return replayed(pair, rows.values(0), Answer("sat", "simulator"), start)
    result = decide(pair, solving, start)
    return replace(result, verdict=searched(result.verdict, search))


def proved_never_worse(chain: StepwiseProof, pair: AlgorithmPair) -> bool:
    """Return whether the first algorithm's error was proved never to be larger: in steps, or as one goal."""
    if _same(pair):
        return True
    whole = pair.k <= _LONGEST
    return prove_not_less_accurate(chain, *pair.algorithms, pair.domain) or (
        whole and chain.prove("no input gives it a larger error", pair.question.goal)
    )


def _same(pair: AlgorithmPair) -> str:
    """Why neither algorithm can be less accurate, where nothing needs to be asked; else empty."""
    first, second = pair.algorithms
    if first == second:
        return "both are the same algorithm on the same unit"
    return "both are the same graph" if first.trace.output is second.trace.output else ""


def decide(pair: AlgorithmPair, solving: Solving, start: float) -> ErrorComparison:
    """Return what solvers say, without any search; start: since when seconds count (``time.monotonic()``)."""
    first, second = pair.algorithms
    chain = StepwiseProof(solving)
    if prove_not_less_accurate(chain, first, second, pair.domain):
        return ErrorComparison(pair, chain.verdict(time.monotonic() - start))
    for k in sorted({1, pair.k} if pair.k <= _LONGEST else {1}):
        goal = pair.with_k(k).question.goal
        answer = solving.ask(goal, solving.options.timeout / (1 if k == pair.k else 2))
        if answer.answer == "sat":
            values = dict.fromkeys(first.input_formats, 0) | answer.values
            return replayed(pair, values, answer, start)
        if answer.answer == "unsat" and k == pair.k:
            return ErrorComparison(pair, solving.proof("", goal, answer, time.monotonic() - start))
    reason = answer.reason or f"dot products of over {_LONGEST} are not given to a solver"
    return ErrorComparison(pair, Unknown(reason=reason, seconds=time.monotonic() - start))


def replayed(pair: AlgorithmPair, values: dict[str, int], answer: Answer, start: float) -> ErrorComparison:
    """Return the witness made short and replayed."""

    def worse(tries: Sequence[Mapping[str, int]]) -> list[bool]:
        return [judgement.worse for judgement in judge(pair, tries)]

    short = short_witness(worse, pair.algorithms[0].input_formats, pair.domain, values)
    if short is None:
        reason = f"{answer.by} gave a model that does not replay"
        return ErrorComparison(pair, Unknown(reason=reason, seconds=time.monotonic() - start))
    (judgement,) = judge(pair, [short])
    words = tuple(evaluate([a.trace.output for a in pair.algorithms], short))
    if words != judgement.words:
        raise AssertionError(f"the simulator gives {judgement.words}, the terms {words} at {short}")
    verdict = Distinguished(
        values=short, solver=answer.solver, version=answer.version, seconds=time.monotonic() - start
    )
    return ErrorComparison(pair, verdict, judgement)
