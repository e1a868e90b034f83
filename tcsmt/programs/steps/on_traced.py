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
from tcsmt.language.terms import Term, var
from tcsmt.matrix_units.arithmetic.conversion import NanWords
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format
from tcsmt.matrix_units.arithmetic.rounding import Rounding
from tcsmt.matrix_units.models import Kind, Model
from tcsmt.matrix_units.models.stages import OperandPlace, Where
from tcsmt.programs.steps.builder import Builder
from tcsmt.programs.steps.digits import exponent_format, residue_digit
from tcsmt.programs.steps.on_terms import each, instruction_place
from tcsmt.programs.steps.program import Indices, ProductRun, UnitProgram, read, scaled_blocks
from tcsmt.programs.steps.running_sum import COMPENSATIONS, Outside
from tcsmt.programs.steps.slicing import Slicing
from tcsmt.programs.steps.split import Split
from tcsmt.programs.steps.traced import (
    ONE,
    Product,
    TracedInstruction,
    TracedStep,
    TracedWord,
    minus,
    stage_of,
    step_outside,
    sum_of,
    weighed,
)
from tcsmt.programs.steps.traced_operations import OperationTraces


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


class TraceRules(OperationTraces):
    """The rules of each step on words of one element; of what has axes, on lists of them.

    steps: those that were made, in order. nans: which words NaN results of other steps than the unit's have.
    """

    def __init__(self, nans: NanWords) -> None:
        super().__init__(nans)
        self.chains = 0
        self.noted: set[int] = set()

    # --- operands and chains

    def split(self, x: Sequence[TracedWord], *, split: Split, side: str) -> list[tuple[TracedWord, ...]]:
        """Return the words of each number, which begin anew; the last one loses what none of them has."""
        terms = _splitter(split, x[0].format.width)
        of_word = {one.word: list(evaluate(terms, {"x": one.word})) for one in x}
        return [tuple(self._split(one, of_word[one.word], split)) for one in x]

    def _split(self, x: TracedWord, words: Sequence[int], split: Split) -> Iterator[TracedWord]:
        return self._cut(
            x, split.format, words, [Fraction(1, 2 ** (split.scale * n)) for n in range(len(words))]
        )

    def _cut(
        self, x: TracedWord, fmt: AnyFormat, words: Sequence[int], weights: Sequence[Fraction]
    ) -> Iterator[TracedWord]:
        """Yield words that a number is cut into. weights: how often each counts in it."""
        rest = x.value
        for number, (word, weight) in enumerate(zip(words, weights, strict=True)):
            part = TracedWord.given(fmt, word, x.place)
            rest = None if rest is None or part.value is None else rest - part.value * weight
            lost = rest if number == len(words) - 1 else Fraction(0)
            stage = stage_of(x.place, Kind.WORD, number, fmt, word)
            self.steps.append(TracedStep(stage, "split", fmt, word, lost, weight))
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

    # --- digits and scales of operands

    def exponent(self, x: Any, *, fmt: Format) -> Any:
        """Return exponents, which begin anew, and are no step."""

        def found(x: TracedWord) -> TracedWord:
            (word,) = evaluate([self.terms.exponent(x.term, fmt=fmt)], {})
            return TracedWord.given(exponent_format(fmt), word)

        return each(found, x)

    def digits(self, x: Any, top: Any, *, slicing: Slicing, fmt: AnyFormat) -> Any:
        """Return the digits of numbers, which begin anew; the last one loses what none of them has."""

        def cut(x: TracedWord, top: TracedWord) -> tuple[TracedWord, ...]:
            words = evaluate(self.terms.digits(x.term, top.term, slicing=slicing, fmt=fmt), {})
            above = int(top.value or 0) + slicing.above
            places = (above - slicing.bits * (number + 1) for number in range(slicing.count))
            return tuple(self._cut(x, fmt, words, [Fraction(2) ** place for place in places]))

        return each(cut, x, top)

    def residue(
        self, x: Sequence[Any], *, source: AnyFormat, fmt: AnyFormat, modulus: int, base: int, place: int
    ) -> list[TracedWord]:
        """Return the residues of first digits, which are integers and lose nothing: no steps."""
        return [
            TracedWord.given(
                fmt,
                fmt.word(Fraction(residue_digit(int(first.value or 0), modulus, base, place))),
                first.place,
            )
            for first, *_ in x
        ]

    def block_maximum(
        self, x: Sequence[TracedWord], *, fmt: AnyFormat, nan: str, side: str, every: int
    ) -> list[TracedWord]:
        """Return the largest words of blocks of a list."""
        return [self.maximum(x[at : at + every], fmt=fmt, nan=nan) for at in range(0, len(x), every)]

    def spread(self, x: Sequence[TracedWord], *, side: str, every: int, length: int) -> list[TracedWord]:
        """Return the word of each number's block."""
        return [x[at // every] for at in range(length)]

    # --- compensated sums and notes

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
