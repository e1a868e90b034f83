"""The largest error of an algorithm: the largest found, and the smallest bound proved.

Two measures: in units in the last place of the exact result (no bound where the sum cancels), and
relative to |c| + Σ |a·b|, in units of 2^-24. The search alternates the simulator, which climbs, and
a solver, which is asked for an input with an error larger by 1/64 than the best and so leads away from
where the climb ended.

A bound of the relative error is proved in three ways, of which the smallest bound counts. The error budget
(``budget.py``) adds up what each step can lose, for any algorithm and any K. Where the split leaves nothing
over, short dot products are asked about as a whole, too, on free words (``proof.py``). Where the algorithm
is a kernel of the unit, on numbers that its words hold, there is that kernel's bound
(``tolerance/relative.py``).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tcsmt.analysis.bounds.budget import budget
from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.bounds.proof import StepwiseProof, Words, free_products, split_steps, words_needed
from tcsmt.analysis.error import ErrorGrid, exact_dot, magnitude, require_normal, ulp, value
from tcsmt.analysis.search.search import Array, Rows, climb, errors
from tcsmt.analysis.tolerance.relative import algorithm_bound
from tcsmt.language.terms import Term
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.programs.recipes.algorithm import Algorithm
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.verdict import Equivalent
from tcsmt.support.errors import Contradiction, TcsmtError

#: A longer dot product is not given to a solver whole.
_LONGEST = 2
#: The largest K.
LONGEST = Algorithm.longest
#: Products of a dot product that the search changes, at most.
SEARCHED = 1024
#: A bound that is not larger than the error found by more is close enough.
_CLOSE = Fraction(63, 64)
#: Why a budget may lie above every error.
_APART = "the largest losses of the steps may not occur on the same input"
#: Bounds that are tried, as multiples of the error found.
_LADDER = tuple(Fraction(n, 64) for n in (65, 68, 72, 80, 96))


@dataclass(frozen=True)
class Extreme:
    """An input with a large error: the error, relative (in 2^-24) and in ulps of the exact result.

    All three are None where the result is not finite: no error is larger.
    """

    values: dict[str, int]
    result: int
    exact: Fraction
    error: Fraction | None
    relative: Fraction | None
    ulps: Fraction | None

    @classmethod
    def of(cls, values: dict[str, int], word: int, exact: Fraction, size: Fraction, wide: Format) -> Extreme:
        """Of a result's word, the exact one and |c| + Σ|a·b|. Any error is infinite relative to zeros."""
        result = value(word, wide)
        if result is None or (result and not size):
            return cls(values, word, exact, None, None, None)
        error = abs(result - exact)
        relative = error / size / unit(wide) if size else Fraction(0)
        return cls(values, word, exact, error, relative, error / ulp(exact, wide))


@dataclass(frozen=True)
class Bound:
    """What was found and proved.

    relative, ulps: the inputs with the largest error found in each measure (None: no error at all).
    proved: a bound of the relative error, in 2^-24 (None: none proved), with ``proof``; in_ulps: of the
    error in ulps of the exact result. shares: the budget, in 2^-24, by kinds of steps. open: why the
    interval is not closed. of_largest: of an emulation of binary64, a bound relative to
    |c| + K·max|a|·max|b|; all is then in 2^-53.
    """

    relative: Extreme | None
    ulps: Extreme | None
    proved: Fraction | None
    in_ulps: Fraction | None
    proof: Equivalent | None
    shares: dict[str, Fraction]
    open: str
    seconds: float
    of_largest: Fraction | None = None


def unit(wide: Format) -> Fraction:
    """Return what relative errors are counted in: 2^-24 for binary32."""
    return Fraction(1, 1 << wide.precision)


def extreme(algorithm: Algorithm, values: dict[str, int]) -> Extreme:
    """Return the error on one input, in fractions."""
    wide = algorithm.wide
    (word,) = (int(w) for w in Rows.of([values], algorithm.k, wide).words(algorithm))
    exact, size = (exact_dot(values, absolute=absolute, wide=wide) for absolute in (False, True))
    return Extreme.of(values, word, exact, size, wide)


def relative_score(algorithm: Algorithm) -> Callable[[Rows], Array]:
    """Return the errors of rows, relative to |c| + Σ |a·b|."""

    def score(rows: Rows) -> Array:
        (error,), _, size = errors(rows, rows.run(algorithm))
        with np.errstate(all="ignore"):
            return np.where(size > 0, error / size, -np.inf)

    return score


def _in_ulps(algorithm: Algorithm) -> Callable[[Rows], Array]:
    wide = algorithm.wide

    def score(rows: Rows) -> Array:
        (error,), exact, _ = errors(rows, rows.run(algorithm))
        with np.errstate(all="ignore"):
            place = np.maximum(np.frexp(exact)[1] - wide.precision, wide.e_min - wide.fraction_bits)
            return np.where(exact > 0, error / np.ldexp(1.0, place), -np.inf)

    return score


def largest(
    algorithm: Algorithm, domain: Domain, seconds: float, *, solving: Solving | None = None
) -> tuple[Extreme | None, Extreme | None]:
    """Return the inputs with the largest errors found: relative, and in ulps.

    Of many products, all but the first are alike to begin with: what each of them loses adds up. Of very
    many, the search sees the first ones; the others are then zero, or as the last of those.
    solving: asked for a larger relative error after each climb (None: the simulator alone).
    """
    end = time.monotonic() + seconds
    whole, algorithm = algorithm, algorithm.replace(k=min(algorithm.k, SEARCHED))
    score, wide, k, start = relative_score(algorithm), algorithm.wide, algorithm.k, None
    if k > 2:
        alike, _ = climb(domain, wide, 2, lambda rows: score(rows.repeated(k)), seconds=seconds / 2, lanes=k)
        start = alike.repeated(k)
    rows, scores = climb(domain, wide, k, score, seconds=seconds / 4, start=start)
    while solving is not None and k <= 2 and np.isfinite(scores[0]) and time.monotonic() < end:
        better = Fraction(float(max(scores[0], 0.0))).limit_denominator(2**40) * Fraction(65, 64)
        answer = solving.ask(error_goal(algorithm, domain, better), max(1.0, end - time.monotonic()))
        if answer.answer != "sat":
            break
        start = Rows.of([dict.fromkeys(algorithm.input_formats, 0) | answer.values], k, wide)
        rows, scores = climb(domain, wide, k, score, seconds=seconds / 8, start=Rows.joined([start, rows]))
    in_ulps, ulps = climb(domain, wide, k, _in_ulps(algorithm), seconds=seconds / 4, start=rows)
    return (
        _longer(whole, rows[:1], lambda extreme: extreme.relative) if scores[0] > 0 else None,
        _longer(whole, in_ulps[:1], lambda extreme: extreme.ulps) if ulps[0] > 0 else None,
    )


def _longer(algorithm: Algorithm, row: Rows, measure: Callable[[Extreme], Fraction | None]) -> Extreme | None:
    """Return the row as it is; or, for an algorithm that takes more products, the worse of the two ways to go
    on.

    None where neither has an error. What counts is the error of the whole dot product.
    """
    k = algorithm.k
    longer = [row] if row.a.shape[1] == k else [row.repeated(k), row.padded(k)]
    extremes = [extreme(algorithm, rows.values(0)) for rows in longer]
    for example in extremes:
        if measure(example) is None:
            return example
    worst = max(extremes, key=lambda example: measure(example) or Fraction(0))
    return worst if measure(worst) else None


def error_goal(algorithm: Algorithm, domain: Domain, limit: Fraction) -> Term:
    """Is there an input with a larger error than ``limit`` relative to |c| + Σ |a·b|, or an infinite one?"""
    trace, wide = algorithm.trace, algorithm.wide
    grid = ErrorGrid.of(domain, algorithm.k, wide)
    size = grid.dot(domain, trace, absolute=True)
    over = _over(grid, trace.output, grid.dot(domain, trace), size, limit)
    finite = trace.output[wide.sign_bit - 1 : 0].ult(wide.infinity_word)
    return domain.holds(algorithm.input_formats, trace) & (~finite | (grid.holds(trace.output) & over))


def _over(grid: ErrorGrid, result: Term, exact: Term, size: Term, limit: Fraction) -> Term:
    """|result - exact| > limit·size."""
    width = grid.width + max(limit.numerator.bit_length(), limit.denominator.bit_length())
    error = magnitude(grid.number(result) - exact).zext(width)
    return (size.zext(width) * limit.numerator).ult(error * limit.denominator)


def prove(
    chain: StepwiseProof, algorithm: Algorithm, domain: Domain, error: Fraction, below: Fraction | None
) -> Fraction | None:
    """Return the smallest of some bounds of the relative error, in 2^-24, that is proved in time (None:
    none).

    error: the largest error found. below: a bound that is known. The chain holds the steps, or says why
    there are none: the split may leave something over, or a solver's time ran out.
    """
    if not split_steps(chain, Words(algorithm, domain, words_needed(algorithm, domain))):
        return None
    for limit in _limits(error):
        if below is not None and limit >= below:
            break
        if by_words(chain, algorithm, domain, limit):
            return limit
        if not chain.refuted:  # where time ran out for one limit, the others mostly cost as much again
            break
    return None


def by_words(chain: StepwiseProof, algorithm: Algorithm, domain: Domain, limit: Fraction) -> bool:
    """Return whether the relative error was proved to be at most ``limit``, in 2^-24, by the words of a
    split.
    """
    words = Words(algorithm, domain, words_needed(algorithm, domain))
    if not split_steps(chain, words):
        return False
    result = words.stages[-1].term
    over = _over(words.grid, result, words.exact, words.size, limit * unit(algorithm.wide))
    goal = free_products(words.holds & (~words.grid.holds(result) | over))
    return chain.prove(f"the sums err by {float(limit):g}·2^-24 of |c| + Σ|a·b| at most", goal)


def _limits(error: Fraction) -> list[Fraction]:
    """From a little more than the error found up to eight times a power of two above it, from 1/2 on."""
    power = Fraction(1, 2)
    while power < error:
        power *= 2
    closer = [Fraction(int(np.ceil(float(error * factor * 64))), 64) for factor in _LADDER]
    return [*(limit for limit in closer if 0 < limit < power), power, power * 2, power * 4, power * 8]


def _is_one_word(algorithm: Algorithm) -> bool:
    """Return whether products of first words alone are added up, as a kernel does it."""
    return len(algorithm.sums) == 1 and algorithm.sums[0].products == ((0, 0),)


def bound(
    algorithm: Algorithm, domain: Domain, solving: Solving, *, seconds: float = 30.0, alternate: bool = True
) -> Bound:
    """Return the largest errors found in about so many seconds, and the smallest bound proved.

    Raises :class:`.Contradiction` where a larger error is found than is proved.
    """
    start = time.monotonic()
    wide = algorithm.wide
    require_normal(domain, wide)
    relative, ulps = largest(algorithm, domain, seconds, solving=solving if alternate else None)
    worst = relative.relative if relative else Fraction(0)
    chain = StepwiseProof(solving)
    proved: Fraction | None = None
    proof: Equivalent | None = None
    shares: dict[str, Fraction] = {}
    try:
        spent = budget(chain, algorithm, domain)
        proved = spent.total / unit(wide)
        shares = {name: loss / unit(wide) for name, loss in spent.shares.items()}
        proof, stopped = chain.verdict(time.monotonic() - start), _APART if proved != worst else ""
    except Unbounded as why:
        stopped = str(why)
    if _is_one_word(algorithm) and solving.certificates is None:  # no certificate is about shares
        chain = StepwiseProof(solving)
        with suppress(TcsmtError):
            linear = algorithm_bound(chain, algorithm, domain) / unit(wide)
            if proved is None or linear < proved:
                proved, shares, stopped = linear, {}, _APART if linear != worst else ""
                proof = chain.verdict(time.monotonic() - start)
    near = worst is not None and proved is not None and worst >= _CLOSE * proved
    if algorithm.k <= _LONGEST and worst is not None and not near:
        chain = StepwiseProof(solving)
        limit = prove(chain, algorithm, domain, worst, proved)
        if limit is not None:
            proved, shares, stopped = limit, {}, ""
            proof = chain.verdict(time.monotonic() - start)
        stopped = stopped or chain.stopped
    # of one product alone, |exact result| is less than 2^24 of its last places
    alone = algorithm.k == 1 and domain.c_zero and 2 * domain.low >= wide.e_min
    result = Bound(
        relative, ulps, proved, proved if alone else None, proof, shares, stopped, time.monotonic() - start
    )
    check_consistent(algorithm, domain, result)
    return result


def check_consistent(algorithm: Algorithm, domain: Domain, result: Bound) -> None:
    """Raise :class:`.Contradiction` where an error is larger than what was proved."""
    wide = algorithm.wide
    for extreme, proved, measure in (
        (result.relative, result.proved, f"2^-{wide.precision} of |c| + Σ|a·b|"),
        (result.ulps, result.in_ulps, "ulp of the exact result"),
    ):
        if extreme is None or proved is None:
            continue
        size = extreme.relative if extreme is result.relative else extreme.ulps
        if size is None or size > proved:
            inputs = ", ".join(f"{name} = {wide.hex(word)}" for name, word in extreme.values.items() if word)
            evidence = "an infinite error" if size is None else f"an error of {float(size):.9g} {measure}"
            raise Contradiction(
                f"no error is over {float(proved):.9g} {measure} (K = {algorithm.k}, domain: {domain})",
                f"{evidence} at {inputs}",
            )
