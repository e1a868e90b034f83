"""Two flaws of a whole algorithm: a result that falls where the sum grows, and one of the wrong sign.

*Not monotone*: two inputs that differ in one word, where the exact c + Σ a·b grows and the result
falls. If it falls between any two words, it falls between two neighbours, or differs between the two
zeros; so a proof looks at the next word of the domain only, and at the zeros.

*Wrong sign*: the exact sum is not zero, and the result is zero or has the other sign.

The simulator looks first, then a solver; a witness is replayed without any of the solver's terms.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np

from tcsmt.analysis.bounds.monotone import keeps_sign, never_falls, successor
from tcsmt.analysis.bounds.proof import StepwiseProof, Words, free_products, split_steps, words_needed
from tcsmt.analysis.error import ErrorGrid, exact_dot, require_normal, ulp, value
from tcsmt.analysis.search.search import Array, Rows, climb, errors, random_rows, searched, short_witness
from tcsmt.language.run.arrays import Program
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, const, substitute, var
from tcsmt.matrix_units.arithmetic.datapath import ordered
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.programs.recipes.algorithm import Algorithm
from tcsmt.prove.engine.solvers.answer import Answer
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.verdict import Distinguished, Unknown, Verdict
from tcsmt.support.invariants import not_none

#: A longer dot product with a 24-bit product in each lane is not given to a solver whole.
_LONGEST = 4
#: An input shows the flaw for sure where it scores above this, binary64's rounding included.
_SURE = 2.0
#: Digits of a number that the split keeps at least, for proofs about its sign.
_DIGITS = 10
#: Rows with the same product in every lane that a search begins with.
_ALIKE = 16384


@dataclass(frozen=True)
class Case:
    """One input that shows the flaw, in fractions.

    exact, result: of the input. moved, word: the word that becomes the next one, and what it becomes
    (none for a sign); after, exact_after: the result and the sum then. size: how bad it is, in the
    flaw's own measure (``ResultFlaw.measure``); ulps: in units in the last place of the result (of the
    exact sum for a sign).
    """

    values: Mapping[str, int]
    exact: Fraction
    result: int
    size: Fraction
    ulps: Fraction
    moved: str = ""
    word: int = 0
    after: int = 0
    exact_after: Fraction = Fraction(0)


@dataclass(frozen=True)
class ResultFlaw(ABC):
    """A flaw that an algorithm may have on a domain."""

    title: ClassVar[str]
    absent: ClassVar[str]
    name: str
    algorithm: Algorithm
    domain: Domain

    def __post_init__(self) -> None:
        require_normal(self.domain, self.wide)

    @property
    def k(self) -> int:
        """Products."""
        return self.algorithm.k

    @property
    def wide(self) -> Format:
        """Return the format of the inputs and of the result."""
        return self.algorithm.wide

    @property
    @abstractmethod
    def measure(self) -> str:
        """Return what ``Case.size`` is counted in."""

    @abstractmethod
    def score(self, rows: Rows) -> Array:
        """Of each row: over 2 where it shows the flaw, the more the worse; -inf never counts.

        Returns float64 (rows,).
        """

    @abstractmethod
    def examine(self, inputs: Sequence[Mapping[str, int]]) -> list[Case | None]:
        """Return what each input shows, from the compiled units' results and fractions."""

    @abstractmethod
    def goals(self) -> Iterator[tuple[str, Term]]:
        """Truth values, in words and as terms: the flaw is absent where none has a model."""

    def prove(self, chain: StepwiseProof) -> bool:
        """Return whether the flaw is proved to be absent by parts; no, where there is no such way."""
        return False

    def rows(self, inputs: Sequence[Mapping[str, int]]) -> Rows:
        """Return the inputs as arrays."""
        return Rows.of(inputs, self.k, self.wide)

    def results(self, inputs: Sequence[Mapping[str, int]]) -> list[int]:
        """Return the results' words."""
        if not inputs:
            return []
        return [int(word) for word in self.rows(inputs).words(self.algorithm)]


@lru_cache(maxsize=64)
def _stepper(domain: Domain, wide: Format, bits: int) -> Program:
    after = successor(var("x", wide.width), domain, wide, bits)
    return Program([after, domain.within(after, wide, bits)])


class Monotone(ResultFlaw):
    """The result falls where one word, and with it the exact sum, grows."""

    title = "NOT MONOTONE"
    absent = "MONOTONE"

    @property
    def measure(self) -> str:
        """Return what ``Case.size`` is counted in."""
        return f"2^-{self.wide.precision} of |c| + Σ|a·b|"

    @cached_property
    def moves(self) -> tuple[tuple[str, int, str], ...]:
        """Return the words that are moved, their bits, and the word that they are multiplied with (c:
        none).
        """
        of_a, of_b = self.domain.bits_in(self.wide)
        moves = [] if self.domain.c_zero else [("c", self.wide.precision, "")]
        for i in range(self.k):
            moves += [(f"a{i}", of_a, f"b{i}"), (f"b{i}", of_b, f"a{i}")]
        return tuple(moves)

    @cached_property
    def steps(self) -> tuple[tuple[str, int, str], ...]:
        """Where a search looks: the moves, and steps as large as the first word of a split can see."""
        seen = min(self.algorithm.split.format.precision, *self.domain.bits_in(self.wide))
        coarse = [(moved, seen, factor) for moved, _, factor in self.moves if factor]
        return tuple(dict.fromkeys([*self.moves, *coarse]))

    def score(self, rows: Rows) -> Array:
        """2 and the largest fall relative to |c| + Σ |a·b|. Returns float64 (rows,)."""
        before, best = rows.run(self.algorithm), np.zeros(len(rows))
        _, _, size = errors(rows)
        for moved, bits, factor in self.steps:
            columns = {"a": rows.a.copy(), "b": rows.b.copy(), "c": rows.c.copy()}
            place = columns[moved[0]] if moved == "c" else columns[moved[0]][:, int(moved[1:])]
            after, inside = _stepper(self.domain, self.wide, bits).run({"x": place})
            place[:] = after
            grows = np.ones(len(rows))
            if factor:
                grows = np.sign(rows.numbers(columns[factor[0]][:, int(factor[1:])]))
            fall = (before - Rows(**columns, wide=rows.wide).run(self.algorithm)) * grows
            best = np.maximum(best, np.where(inside.astype(bool) & (fall > 0), fall, 0))
        with np.errstate(all="ignore"):
            return np.where(best > 0, _SURE + best / size, 0)

    def examine(self, inputs: Sequence[Mapping[str, int]]) -> list[Case | None]:
        """Return the largest fall from each input by a step; None where there is none."""
        cases: list[Case | None] = [None] * len(inputs)
        tries: list[tuple[int, str, dict[str, int]]] = []
        for number, values in enumerate(inputs):
            for moved, bits, _ in self.steps:
                after, inside = (int(w[0]) for w in self._next(values[moved], bits))
                if inside:
                    tries.append((number, moved, {**values, moved: after}))
        before, results = self.results(inputs), self.results([t for _, _, t in tries])
        for (number, moved, changed), result in zip(tries, results, strict=True):
            case = self._case(inputs[number], before[number], moved, changed, result)
            worst = cases[number]
            if case is not None and (worst is None or case.size > worst.size):
                cases[number] = case
        return cases

    def _next(self, word: int, bits: int) -> list[Array]:
        return _stepper(self.domain, self.wide, bits).run({"x": np.array([word], np.uint32)})

    def _case(
        self, values: Mapping[str, int], result: int, moved: str, changed: Mapping[str, int], after: int
    ) -> Case | None:
        wide = self.wide
        before, later = value(result, wide), value(after, wide)
        exact, grown = exact_dot(values, wide=wide), exact_dot(changed, wide=wide)
        if before is None or later is None or not (later - before) * (grown - exact) < 0:
            return None
        fall = abs(later - before)
        share = fall / exact_dot(values, absolute=True, wide=wide) * (1 << wide.precision)
        return Case(
            values, exact, result, share, fall / ulp(before, wide), moved, changed[moved], after, grown
        )

    def goals(self) -> Iterator[tuple[str, Term]]:
        """For each word that can move: does the result fall, or depend on a zero's sign, or is it a NaN?"""
        trace, wide = self.algorithm.trace, self.wide
        words = {str(word.data): word for word in trace.inputs}
        for moved, bits, factor in self.moves:
            after = successor(words[moved], self.domain, wide, bits)
            (changed,) = substitute([trace.output], {words[moved]: after})
            before, later = ordered(trace.output), ordered(changed)
            falls, rises = later.slt(before), before.slt(later)
            if factor:
                sign = words[factor][wide.sign_bit]
                falls = words[factor][wide.sign_bit - 1 : 0].ne(0) & sign.ite(rises, falls)
            (negated,) = substitute([trace.output], {words[moved]: words[moved] ^ (1 << wide.sign_bit)})
            zero = words[moved][wide.sign_bit - 1 : 0].eq(0)
            apart = zero & ordered(negated).ne(before)
            nan = const(wide.infinity_word, wide.sign_bit).ult(trace.output[wide.sign_bit - 1 : 0])
            doubt = (self.domain.within(after, wide, bits) & falls) | apart | nan
            yield (
                f"no step of {moved} the wrong way",
                self.domain.holds(self.algorithm.input_formats, trace) & doubt,
            )

    def prove(self, chain: StepwiseProof) -> bool:
        """Number by number, where the algorithm is one fused sum or IEEE operations."""
        return never_falls(chain, self.algorithm, self.domain)


class Sign(ResultFlaw):
    """The result is zero or of the other sign where the exact sum is not zero."""

    title = "WRONG SIGN"
    absent = "NEVER A WRONG SIGN"

    @property
    def measure(self) -> str:
        """Return what ``Case.size`` is counted in."""
        return "of the exact sum"

    def score(self, rows: Rows) -> Array:
        """Return the error relative to the exact sum, and 1; 1 at most where the sign is right.

        Returns float64 (rows,).
        """
        result = rows.run(self.algorithm)
        (error, other), exact, _ = errors(rows, result, -result)
        with np.errstate(all="ignore"):
            relative = error / exact
        wrong = np.where(result == 0, exact > 0, error > other)
        score = np.where(wrong, 1 + relative, np.minimum(relative, 1))
        return np.where((exact > 0) & np.isfinite(result), score, -np.inf)

    def examine(self, inputs: Sequence[Mapping[str, int]]) -> list[Case | None]:
        """Return the error of each input where the sign is wrong."""
        return [self._case(v, r) for v, r in zip(inputs, self.results(inputs), strict=True)]

    def _case(self, values: Mapping[str, int], word: int) -> Case | None:
        wide = self.wide
        exact, result = exact_dot(values, wide=wide), value(word, wide)
        if not exact or result is None or result * exact > 0:
            return None
        error = abs(result - exact)
        return Case(values, exact, word, error / abs(exact), error / ulp(exact, wide))

    def goals(self) -> Iterator[tuple[str, Term]]:
        """Is the sign wrong?"""
        trace, grid = self.algorithm.trace, ErrorGrid.of(self.domain, self.k, self.wide)
        exact = grid.dot(self.domain, trace)
        yield (
            "no result of the wrong sign",
            self.domain.holds(self.algorithm.input_formats, trace) & _wrong(trace.output, exact),
        )

    def prove(self, chain: StepwiseProof) -> bool:
        """On free words. A product of one a and b has the sign of its words' sums, whatever is left over."""
        algorithm, domain = self.algorithm, self.domain
        if chain.attempt(lambda: keeps_sign(chain, algorithm, domain)):
            return True
        words = Words(algorithm, domain, words_needed(algorithm, domain))
        alone = self.k == 1 and domain.c_zero
        if not (split_steps(chain, words) or (alone and split_steps(chain, words, _DIGITS))):
            return False
        goal = words.holds & _wrong(words.stages[-1].term, words.exact)
        return chain.prove(
            "no words and products give a result of the wrong sign", free_products(goal, sharp=True)
        )


def _wrong(result: Term, exact: Term) -> Term:
    zero = result[result.width - 2 : 0].eq(0)
    return exact.ne(0) & (zero | result[result.width - 1].ne(exact[exact.width - 1]))


#: The flaws by their names on the command line.
FLAWS: dict[str, type[ResultFlaw]] = {"monotone": Monotone, "sign": Sign}


def alike(domain: Domain, wide: Format, k: int, rng: np.random.Generator) -> Rows:
    """Rows of the domain with the same product in every lane, and c the last number of a binade."""
    rows = random_rows(domain, wide, 1, _ALIKE, rng).repeated(k)
    exponent = rng.integers(domain.low, domain.high, _ALIKE, endpoint=True) + wide.bias
    c = (exponent << wide.fraction_bits | (1 << wide.fraction_bits) - 1).astype(np.uint32)
    return rows if domain.c_zero else replace(rows, c=c)


@dataclass(frozen=True)
class FlawFinding:
    """A flaw and its verdict: the short witness and the worst that was found."""

    flaw: ResultFlaw
    verdict: Verdict
    short: Case | None = None
    worst: Case | None = None


def find(flaw: ResultFlaw, solving: Solving, *, search: float = 5.0) -> FlawFinding:
    """Does the algorithm have the flaw? ``search``: seconds for the simulator."""
    start = time.monotonic()
    begin = alike(flaw.domain, flaw.wide, flaw.k, np.random.default_rng(1))
    single = replace(flaw, algorithm=flaw.algorithm.replace(k=1))
    row, first = climb(flaw.domain, flaw.wide, 1, single.score, seconds=search / 4)
    begin = Rows.joined([begin, row[first > -np.inf].padded(flaw.k)])
    rows, scores = climb(flaw.domain, flaw.wide, flaw.k, flaw.score, seconds=search * 3 / 4, start=begin)
    if scores[0] >= _SURE:
        return replayed(flaw, rows.values(0), Answer("sat", "simulator"), start)
    result = decide(flaw, solving, start)
    return replace(result, verdict=searched(result.verdict, search))


def decide(flaw: ResultFlaw, solving: Solving, start: float) -> FlawFinding:
    """Return what solvers say, without any search; start: since when seconds count (``time.monotonic()``)."""
    chain = StepwiseProof(solving)
    if flaw.prove(chain):
        return FlawFinding(flaw, chain.verdict(time.monotonic() - start))
    reason = f"dot products of over {_LONGEST} are not given to a solver"
    chain = StepwiseProof(solving)
    for what, goal in flaw.goals() if flaw.k <= _LONGEST else ():
        if chain.prove(what, free_products(goal, sharp=True)):
            continue
        answer = solving.ask(goal)
        if answer.answer == "sat":
            values = dict.fromkeys(flaw.algorithm.input_formats, 0) | answer.values
            return replayed(flaw, values, answer, start)
        if answer.answer != "unsat":
            reason = f"{what}: {answer.reason}"
            break
        if not chain.prove(what, goal):
            reason = chain.stopped
            break
    else:
        if chain.steps:
            return FlawFinding(flaw, chain.verdict(time.monotonic() - start))
    return FlawFinding(flaw, Unknown(reason=reason, seconds=time.monotonic() - start))


def proved_absent(chain: StepwiseProof, flaw: ResultFlaw) -> bool:
    """Return whether the flaw was proved to be absent: by parts, or goal by goal."""
    if chain.attempt(lambda: flaw.prove(chain)):
        return True
    if flaw.k > _LONGEST:
        chain.stopped = chain.stopped or f"dot products of over {_LONGEST} are not given to a solver"
        return False
    return all(
        chain.prove(what, free_products(goal, sharp=True)) or chain.prove(what, goal)
        for what, goal in flaw.goals()
    )


def replayed(flaw: ResultFlaw, values: dict[str, int], answer: Answer, start: float) -> FlawFinding:
    """Return the witness replayed, and a short one that is made from it."""

    def flawed(tries: Sequence[Mapping[str, int]]) -> list[bool]:
        return [case is not None for case in flaw.examine(tries)]

    simple = short_witness(flawed, flaw.algorithm.input_formats, flaw.domain, values)
    if simple is None:
        reason = f"{answer.by} gave an input that does not replay"
        return FlawFinding(flaw, Unknown(reason=reason, seconds=time.monotonic() - start))
    short, worst = map(not_none, flaw.examine([simple, values]))
    for case in (short, worst):
        inputs = [(case.values, case.result)]
        if case.moved:
            inputs.append(({**case.values, case.moved: case.word}, case.after))
        for words, result in inputs:
            if evaluate([flaw.algorithm.trace.output], words) != [result]:
                raise AssertionError(f"the simulator gives {result}, the terms something else at {words}")
    verdict = Distinguished(
        values=short.values, solver=answer.solver, version=answer.version, seconds=time.monotonic() - start
    )
    if worst.size < short.size:  # fewer bits may be further off
        worst = short
    return FlawFinding(flaw, verdict, short, worst)
