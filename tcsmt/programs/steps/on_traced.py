"""The reading of programs on one element: the word that each step gives, what an exact step would have
added, and what the step is called.

Words are computed by the graphs that solvers are asked about; the simulator takes no part. What is exact is
computed in fractions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, const, var
from tcsmt.matrix_units.arithmetic.conversion import NanWords
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format
from tcsmt.matrix_units.arithmetic.ieee import Operation
from tcsmt.matrix_units.arithmetic.rounding import Rounding
from tcsmt.matrix_units.models import Kind, Model
from tcsmt.matrix_units.models.stages import OperandPlace, Where
from tcsmt.programs.steps.builder import Builder
from tcsmt.programs.steps.digits import exponent_format
from tcsmt.programs.steps.on_terms import TermRules, each, instruction_place
from tcsmt.programs.steps.program import TRUTH, Indices, ProductRun, UnitProgram, read, scaled_blocks
from tcsmt.programs.steps.running_sum import COMPENSATIONS, Outside
from tcsmt.programs.steps.split import Split
from tcsmt.programs.steps.traced import (
    ONE,
    Parts,
    Product,
    TracedInstruction,
    TracedStep,
    TracedWord,
    minus,
    number_of,
    stage_of,
    step_outside,
    sum_of,
    weighed,
)
from tcsmt.programs.steps.trees import SumOrder, summed


def traced_inputs(program: UnitProgram, words: Mapping[str, Any]) -> dict[str, Any]:
    """Return what stands for a program's inputs. words: by the inputs' names; lists along axes."""
    known = {name: step for name, step in program.inputs.items() if name in words}
    return {name: _given(step.format, step.axes, words[name]) for name, step in known.items()}


def _given(fmt: AnyFormat, axes: str, words: Any, lane: int = 0) -> Any:
    if isinstance(words, (list, tuple, np.ndarray)):
        return [_given(fmt, axes, word, lane) for lane, word in enumerate(words)]
    place = OperandPlace(axes.lower(), lane) if axes in ("A", "B") else None
    return TracedWord.given(fmt, int(words), place)


def trace(program: UnitProgram, words: Mapping[str, Any], nans: NanWords) -> list[TracedStep]:
    """Return all steps of a program on the words of its inputs; the last one is called the result."""
    rules = TraceRules(nans)
    output: TracedWord = read(program, rules, traced_inputs(program, words))
    named = any(step.kind == "note" for step in program.steps)
    return rules.finished(output, named=named)


class TraceRules:
    """The rules of each step on words of one element; of what has axes, on lists of them.

    steps: those that were made, in order. nans: which words NaN results of other steps than the unit's have.
    """

    def __init__(self, nans: NanWords) -> None:
        self.terms = _ConstantRules([], nans)
        self.steps: list[TracedStep] = []
        self.chains = 0
        self.noted: set[int] = set()

    # --- operands and chains

    def split(self, x: Sequence[TracedWord], *, split: Split, side: str) -> list[tuple[TracedWord, ...]]:
        """Return the words of each number, which begin anew; the last one loses what none of them has."""
        terms = _splitter(split, x[0].format.width)
        of_word = {one.word: list(evaluate(terms, {"x": one.word})) for one in x}
        return [tuple(self._split(one, of_word[one.word], split)) for one in x]

    def _split(self, x: TracedWord, words: Sequence[int], split: Split) -> Iterator[TracedWord]:
        rest = x.value
        for number, word in enumerate(words):
            weight = Fraction(1, 2 ** (split.scale * number))
            part = TracedWord.given(split.format, word)
            rest = None if rest is None or part.value is None else rest - part.value * weight
            lost = rest if number == split.words - 1 else Fraction(0)
            stage = stage_of(x.place, Kind.WORD, number, split.format, word)
            self.steps.append(TracedStep(stage, "split", split.format, word, lost, weight))
            yield part

    def chain(
        self, c: TracedWord | None, *operands: Sequence[Any], unit: Model, runs: Sequence[ProductRun]
    ) -> TracedWord:
        """Return instructions one after the other."""
        number, count = self.chains, 0
        self.chains += 1
        held = TracedWord.given(unit.c_format, 0) if c is None else c
        done, from_c = self._sum_before(c)
        for run in runs:
            for first in range(0, len(run.indices), unit.k):
                part = run.indices[first : first + unit.k]
                done = np.concatenate([done, part])
                lanes = [
                    [side[k] if run.words is None else side[k][word] for k in part.tolist()]
                    for side, word in zip(operands[:2], run.words or (0, 0), strict=True)
                ]
                blocks = scaled_blocks(unit, part).tolist() if operands[2:] else []
                scales = [[side[block] for block in blocks] for side in operands[2:]]
                place = instruction_place(number, count, part, run.words)
                held = self._instruction(held, lanes, scales, unit, place, (done, len(part), from_c))
                count += 1
        return held

    def padding(self, c: TracedWord, *, unit: Model) -> TracedWord:
        """Return an instruction of zeros alone."""
        place = instruction_place(self.chains, 0, np.arange(0), None)
        self.chains += 1
        done, from_c = self._sum_before(c)
        return self._instruction(c, ((), ()), (), unit, place, (done, 0, from_c))

    def _sum_before(self, c: TracedWord | None) -> tuple[Indices, bool]:
        """Return what a chain's c has of the sum: of an instruction's result, what that chain had added."""
        step = None if c is None or c.step is None else self.steps[c.step]
        if isinstance(step, TracedInstruction):
            return step.chain, step.from_c
        return np.arange(0), c is not None

    def _instruction(
        self, c: TracedWord, lanes: Sequence[Sequence[TracedWord]], scales: Sequence[Sequence[TracedWord]],
        unit: Model, place: Where, chain: tuple[Indices, int, bool],
    ) -> TracedWord:  # fmt: skip
        named = zip(("a", "b", "sa", "sb"), (*lanes, *scales), strict=False)
        words = {f"{side}{at}": x.word for side, row in named for at, x in enumerate(row)}
        inputs = dict.fromkeys(unit.input_formats, 0) | words | {"c": c.word}
        every = unit.k // max(unit.scales, 1)
        products: list[Product] = [(ONE, (c,))]
        for lane, factors in enumerate(zip(*lanes, strict=True)):
            products.append((ONE, (*factors, *(row[lane // every] for row in scales))))
        (word,) = evaluate([unit.trace.output], inputs)
        stage = stage_of(place, Kind.INSTRUCTION, None, unit.d_format, word)
        step = TracedInstruction(
            stage, "unit", unit.d_format, word,
            unit=unit, inputs=inputs, chain=chain[0], count=chain[1], from_c=chain[2],
        )  # fmt: skip
        return self._done(step, *sum_of(products))

    def chain_each(
        self,
        c: None,
        a: Sequence[Any],
        b: Sequence[Any],
        *,
        unit: Model,
        runs: Sequence[ProductRun],
    ) -> list[TracedWord]:
        """Return a chain for each member of a tile."""
        return [self.chain(c, a, member, unit=unit, runs=runs) for member in b]

    # --- operations

    def constant(self, *, fmt: AnyFormat, word: int) -> TracedWord:
        """A constant, which is no step."""
        return TracedWord.given(fmt, word)

    def add(self, x: Any, y: Any, *, fmt: AnyFormat, shift: int, rounding: Rounding) -> Any:
        """x·2^-shift + y."""

        def added(x: TracedWord, y: TracedWord) -> TracedWord:
            term = self.terms.add(x.term, y.term, fmt=fmt, shift=shift, rounding=rounding)
            return self._done(
                self.terms.step(fmt, term), *sum_of([(Fraction(1, 2**shift), (x,)), (ONE, (y,))])
            )

        return each(added, x, y)

    def multiply(self, x: Any, y: Any, *, fmt: AnyFormat, rounding: Rounding) -> Any:
        """x·y."""

        def multiplied(x: TracedWord, y: TracedWord) -> TracedWord:
            term = self.terms.multiply(x.term, y.term, fmt=fmt, rounding=rounding)
            return self._done(self.terms.step(fmt, term), *sum_of([(ONE, (x, y))]))

        return each(multiplied, x, y)

    def multiply_add(self, x: Any, y: Any, z: Any, *, fmt: Format) -> Any:
        """x·y + z."""

        def multiplied(x: TracedWord, y: TracedWord, z: TracedWord) -> TracedWord:
            term = self.terms.multiply_add(x.term, y.term, z.term, fmt=fmt)
            return self._done(self.terms.step(fmt, term), *sum_of([(ONE, (x, y)), (ONE, (z,))]))

        return each(multiplied, x, y, z)

    def divide(self, x: Any, y: Any, *, fmt: Format, rounding: Rounding) -> Any:
        """x / y; where x/y - x'/y' = (x - x')/y' - x/(y·y')·(y - y')."""

        def divided(x: TracedWord, y: TracedWord) -> TracedWord:
            term = self.terms.divide(x.term, y.term, fmt=fmt, rounding=rounding)
            step = self.terms.step(fmt, term)
            if x.value is None or x.exact is None or not y.value or not y.exact:
                return self._done(step, None, None, ())
            made_of = (x, 1 / y.value), (y, -x.exact / (y.exact * y.value))
            return self._done(step, x.value / y.value, x.exact / y.exact, made_of)

        return each(divided, x, y)

    def negate(self, x: Any, *, fmt: AnyFormat) -> Any:
        """-x: a step where an integer wraps."""
        return each(lambda x: self._kept(fmt, self.terms.negate(x.term, fmt=fmt), [(-ONE, (x,))], x.place), x)

    def maximum(self, x: Any, y: Any = None, *, fmt: AnyFormat, nan: str, side: str = "") -> Any:
        """Return the larger word of two, or the largest of a list.

        Where exact numbers have the other one as the larger one, it has a part of the error of both: the
        mean slope on the straight way from the computed numbers to the exact ones.
        """

        def larger(x: TracedWord, y: TracedWord) -> TracedWord:
            step = self.terms.step(fmt, self.terms.maximum(x.term, y.term, fmt=fmt, nan=nan))
            if x.value is None or y.value is None or x.exact is None or y.exact is None:
                return self._done(step, None, None, ())
            before, after = x.value - y.value, x.exact - y.exact
            of_x = Fraction(before > 0 or (before == 0 and after > 0))
            if before * after < 0:
                of_x = (before if before > 0 else after) / abs(before - after)
            value, exact = max(x.value, y.value), max(x.exact, y.exact)
            return self._done(step, value, exact, ((x, of_x), (y, 1 - of_x)))

        return summed("pairs", x, larger) if y is None else each(larger, x, y)

    def compare(self, x: Any, y: Any, *, fmt: AnyFormat, relation: str) -> Any:
        """Return the truth value of x compared with y: a step where that of exact numbers is another one."""

        def compared(x: TracedWord, y: TracedWord) -> TracedWord:
            term = self.terms.compare(x.term, y.term, fmt=fmt, relation=relation)
            step = step_outside(None, Kind.COMPUTED, None, TRUTH, term)
            if x.exact is None or y.exact is None:
                return self._done(step, None, None, ())
            less, equal = x.exact < y.exact, x.exact == y.exact
            truth = {"equal": equal, "less": less, "less_equal": less or equal}[relation]
            if truth == step.word:
                return TracedWord.given(TRUTH, step.word)
            return self._done(step, Fraction(truth), Fraction(truth), ())

        return each(compared, x, y)

    def select(self, condition: Any, x: Any, y: Any, *, fmt: AnyFormat) -> Any:
        """Return x where the condition holds, else y; what exact numbers choose otherwise is lost."""

        def selected(condition: TracedWord, x: TracedWord, y: TracedWord) -> TracedWord:
            step = self.terms.step(fmt, self.terms.select(condition.term, x.term, y.term, fmt=fmt))
            if condition.exact is None:
                return self._done(step, None, None, ())
            wanted = x if condition.exact else y
            return self._done(step, wanted.value, wanted.exact, ((wanted, ONE),))

        return each(selected, condition, x, y)

    def sum(
        self, x: Sequence[TracedWord], *, fmt: AnyFormat, tree: SumOrder, rounding: Rounding, side: str
    ) -> TracedWord:
        """Return the sum of a list, each addition a step."""
        return tree.sum(x, lambda x, y: self.add(x, y, fmt=fmt, shift=0, rounding=rounding))

    def pick(self, x: Sequence[TracedWord], *, at: int, side: str) -> TracedWord:
        """Return one word of a list."""
        return x[at]

    def convert(
        self, x: Any, *, source: AnyFormat, target: AnyFormat, rounding: Rounding, saturate: bool
    ) -> Any:
        """x in another format; of an operand, each of its numbers."""
        how: dict[str, Any] = {
            "source": source, "target": target, "rounding": rounding, "saturate": saturate,
        }  # fmt: skip

        def converted(x: TracedWord) -> TracedWord:
            (term,) = self.terms.convert([x.term], **how)
            if not isinstance(target, Format):  # an integer that holds it
                return self._kept(target, term, [(ONE, (x,))], x.place)
            step = step_outside(x.place, Kind.CONVERTED, None, target, term)
            return self._done(step, *sum_of([(ONE, (x,))]))

        if not isinstance(x, TracedWord) or not isinstance(target, Format):
            return each(converted, x)
        step = self.terms.step(target, self.terms.convert(x.term, **how))
        return self._done(step, *sum_of([(ONE, (x,))]))

    def convert_randomly(
        self, x: Any, random: Any, *, source: Format, target: Format, bits: int, saturate: bool
    ) -> Any:
        """x in another format, by random bits."""

        def converted(x: TracedWord, random: TracedWord) -> TracedWord:
            term = self.terms.convert_randomly(
                x.term, const(random.word, bits), source=source, target=target, bits=bits, saturate=saturate
            )
            return self._done(self.terms.step(target, term), *sum_of([(ONE, (x,))]))

        return each(converted, x, random)

    def accumulate(self, x: Any, y: Any, *, source: AnyFormat, fmt: Format, shift: int) -> Any:
        """x·2^-shift + y, of two formats."""

        def accumulated(x: TracedWord, y: TracedWord) -> TracedWord:
            term = self.terms.accumulate(x.term, y.term, source=source, fmt=fmt, shift=shift)
            scaled = Fraction(1, 2**shift), (x,)
            return self._done(self.terms.step(fmt, term), *sum_of([scaled, (ONE, (y,))]))

        return each(accumulated, x, y)

    def exponent(self, x: Any, *, fmt: Format) -> Any:
        """Return exponents, which begin anew, and are no step."""

        def found(x: TracedWord) -> TracedWord:
            (word,) = evaluate([self.terms.exponent(x.term, fmt=fmt)], {})
            return TracedWord.given(exponent_format(fmt), word)

        return each(found, x)

    def scale(self, x: Any, *exponents: Any, fmt: Format, shift: int, **formats: Any) -> Any:
        """x·2^(Σ exponents - shift), of exponents as they are."""

        def scaled(x: TracedWord, *exponents: TracedWord) -> TracedWord:
            words = (x.term, *(power.term for power in exponents))
            step = self.terms.step(fmt, self.terms.scale(*words, fmt=fmt, shift=shift, **formats))
            power = sum((int(power.value or 0) for power in exponents), -shift)
            return self._done(step, *sum_of([(Fraction(2) ** power, (x,))]))

        return each(scaled, x, *exponents)

    def compensated(
        self, total: TracedWord, error: TracedWord, x: TracedWord, *, scheme: str, fmt: Format, shift: int,
        rounding: Rounding,
    ) -> tuple[TracedWord, TracedWord]:  # fmt: skip
        """Return the next total and error, as one step: what the error still holds is not lost."""
        inputs = {"total": total.term, "error": error.term, "x": x.term}
        words, numbers, before = [], [], self.terms.count
        for program in _compensation(scheme, fmt, shift, rounding):
            self.terms.count = before
            words += evaluate([read(program, self.terms, inputs)], {})
            additions = [at for at, step in enumerate(program.steps) if step.kind == "add"]
            numbers.append(before + 1 + additions.index(program.output))
        after, carried = (TracedWord.given(fmt, word) for word in words)
        value, exact, made_of = sum_of([(ONE, (total,)), (ONE, (error,)), (Fraction(1, 2**shift), (x,))])
        step = step_outside(None, Kind.SUM_OUTSIDE, numbers[0], fmt, after.term)
        both = self._done(step, minus(value, carried.value), exact, made_of)
        # In exact sums there is no error to carry: the total has the sum of both without it.
        step = step_outside(None, Kind.ERROR_OUTSIDE, numbers[1], fmt, carried.term)
        left = self._done(step, Fraction(0), Fraction(0), ())
        return replace(both, made_of=((both, ONE), (left, -ONE)), error=left), left

    def note(self, x: Any, *, kind: Kind, number: int | None, fmt: AnyFormat) -> Any:
        """Return x, whose step outside of the unit is called so."""
        if isinstance(x, TracedWord) and x.step is not None and self.steps[x.step].kind == "outside":
            self.noted.add(x.step)
            self.steps[x.step] = replace(self.steps[x.step], stage=stage_of(None, kind, number, fmt, x.word))
        return x

    def _kept(self, fmt: AnyFormat, term: Term, products: Sequence[Product], place: Where) -> TracedWord:
        """Return what an operation gives that is a step only where it loses something."""
        value, exact, made_of = sum_of(products)
        step = step_outside(None, Kind.COMPUTED, None, fmt, term)
        if minus(value, number_of(fmt, step.word)):
            return self._done(step, value, exact, made_of)
        return TracedWord(fmt, step.word, exact, made_of, place=place)

    def _done(
        self, step: TracedStep, value: Fraction | None, exact: Fraction | None, made_of: Parts
    ) -> TracedWord:
        """Return what a step gives. value, exact: what it would give, were it exact, of the words that it
        took, and of exact ones.
        """
        self.steps.append(replace(step, lost=minus(value, number_of(step.format, step.word))))
        return TracedWord(step.format, step.word, exact, made_of, len(self.steps) - 1)

    # --- the result

    def finished(self, output: TracedWord, *, named: bool) -> list[TracedStep]:
        """Return all steps with their weights, and the result last.

        named: whether steps that have no name given by a note are parts of the result.
        """
        steps = weighed(self.steps, output)
        last = None if output.step is None else steps[output.step]
        result = step_outside(None, Kind.RESULT, None, output.format, output.term)
        lost = None if output.value is None else Fraction(0)
        if output.error is not None and output.error.step is not None:
            lost = output.error.value
            steps[output.error.step] = replace(steps[output.error.step], weight=Fraction(0))
        unnamed = last is not None and last.kind == "outside" and output.step not in self.noted
        if named and unnamed and output.error is None:
            assert output.step is not None
            steps[output.step] = replace(steps[output.step], stage=result.stage)
        elif last is None or last.stage.kind is not Kind.RESULT:
            steps.append(replace(result, lost=lost))
        return [step for step in steps if step.stage.kind is not Kind.ERROR_OUTSIDE or step.share]


class _ConstantRules(TermRules):
    """The rules of steps on constants, which count operations as a program's model does. count: so far."""

    count = 0
    kind = Kind.COMPUTED

    def seen(self, kind: Kind, fmt: AnyFormat, word: Term, operation: Operation | None = None) -> Term:
        """Return the word, and keep what kind of operation gave it."""
        self.kind = kind
        self.count += 1
        return word

    def step(self, fmt: AnyFormat, term: Term) -> TracedStep:
        """Return the step that the last operation is."""
        return step_outside(None, self.kind, self.count, fmt, term)


@lru_cache(maxsize=64)
def _splitter(split: Split, width: int) -> tuple[Term, ...]:
    return split.apply(var("x", width))


@lru_cache(maxsize=64)
def _compensation(
    scheme: str, fmt: Format, shift: int, rounding: Rounding
) -> tuple[UnitProgram, UnitProgram]:
    """Return the programs of the next total and of the next error."""
    build = Builder()
    total, error, x = (build.input(name, fmt) for name in ("total", "error", "x"))
    given = COMPENSATIONS[scheme].step(Outside(build, fmt, rounding), total, error, x, shift)
    return build.program(given[0]), build.program(given[1])
