"""The rules of operations on words of one element: what exact ones would have given, and what each loses.

Where an operation is no sum of products, a value has a part of its argument's error: the mean slope on the
straight way from the computed number to the exact one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from tcsmt.language.terms import Term, const
from tcsmt.matrix_units.arithmetic.conversion import NanWords
from tcsmt.matrix_units.arithmetic.formats import FORMATS, AnyFormat, Format
from tcsmt.matrix_units.arithmetic.ieee import Operation
from tcsmt.matrix_units.arithmetic.rounding import Rounding
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.models import Kind
from tcsmt.matrix_units.models.stages import Where
from tcsmt.programs.steps.digits import remainder_format
from tcsmt.programs.steps.functions import EXACT, FUNCTIONS, exact_power_of_two
from tcsmt.programs.steps.on_terms import TermRules, each
from tcsmt.programs.steps.program import TRUTH
from tcsmt.programs.steps.traced import (
    ONE,
    Parts,
    Product,
    TracedStep,
    TracedWord,
    minus,
    number_of,
    step_outside,
    sum_of,
)
from tcsmt.programs.steps.trees import SumOrder, summed


class OperationTraces:
    """The rules of operations; of what has axes, on lists of words.

    steps: those that were made, in order. nans: which words NaN results have.
    """

    def __init__(self, nans: NanWords) -> None:
        self.terms = _ConstantRules([], nans)
        self.steps: list[TracedStep] = []

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
            return self._done(self.terms.step(fmt, term), *sum_of([(ONE, (x, y))]), x.place)

        return each(multiplied, x, y)

    def multiply_add(self, x: Any, y: Any, z: Any, *, fmt: Format) -> Any:
        """x·y + z."""

        def multiplied(x: TracedWord, y: TracedWord, z: TracedWord) -> TracedWord:
            term = self.terms.multiply_add(x.term, y.term, z.term, fmt=fmt)
            return self._done(self.terms.step(fmt, term), *sum_of([(ONE, (x, y)), (ONE, (z,))]), x.place)

        return each(multiplied, x, y, z)

    def divide(self, x: Any, y: Any, *, fmt: Format, rounding: Rounding) -> Any:
        """x / y; where x/y - x'/y' = (x - x')/y' - x/(y·y')·(y - y')."""

        def divided(x: TracedWord, y: TracedWord) -> TracedWord:
            term = self.terms.divide(x.term, y.term, fmt=fmt, rounding=rounding)
            step = self.terms.step(fmt, term)
            if x.value is None or x.exact is None or not y.value or not y.exact:
                return self._done(step, None, None, ())
            made_of = (x, 1 / y.value), (y, -x.exact / (y.exact * y.value))
            return self._done(step, x.value / y.value, x.exact / y.exact, made_of, x.place)

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

    def scale(self, x: Any, *exponents: Any, fmt: Format, shift: int, **formats: Any) -> Any:
        """x·2^(Σ exponents - shift), of exponents as they are."""

        def scaled(x: TracedWord, *exponents: TracedWord) -> TracedWord:
            words = (x.term, *(power.term for power in exponents))
            step = self.terms.step(fmt, self.terms.scale(*words, fmt=fmt, shift=shift, **formats))
            power = sum((int(power.value or 0) for power in exponents), -shift)
            return self._done(step, *sum_of([(Fraction(2) ** power, (x,))]))

        return each(scaled, x, *exponents)

    def absolute(self, x: Any, *, fmt: Format) -> Any:
        """|x|, of which nothing is lost."""

        def found(x: TracedWord) -> TracedWord:
            term = self.terms.absolute(x.term, fmt=fmt)
            return self._of_one(x, step_outside(x.place, Kind.COMPUTED, None, fmt, term), abs)

        return each(found, x)

    def power_of_two(self, x: Any, *, shift: int, up: bool) -> Any:
        """Return powers of two next to |x|; exactly, that of the exact number."""
        fmt = FORMATS["ue8m0"]

        def found(x: TracedWord) -> TracedWord:
            term = self.terms.power_of_two(x.term, shift=shift, up=up)
            step = step_outside(x.place, Kind.COMPUTED, self.terms.counted(), fmt, term)
            return self._of_one(x, step, lambda number: exact_power_of_two(number, shift, up=up))

        return each(found, x)

    def function(self, x: Any, *, name: str, fmt: Format) -> Any:
        """Return a function's nearest number; exactly, the function to sixty digits."""

        def found(x: TracedWord) -> TracedWord:
            (word,) = FUNCTIONS[name](fmt, np.array([x.word], unsigned(fmt)), self.terms.nans)
            term = const(int(word), fmt.width)
            step = step_outside(x.place, Kind.COMPUTED, self.terms.counted(), fmt, term)
            return self._of_one(x, step, EXACT[name])

        return each(found, x)

    def exact_sum(
        self, *values: TracedWord, sources: Sequence[AnyFormat], weights: Sequence[int], modulus: int
    ) -> TracedWord:
        """Return the remainder of a sum of integers; exactly, that of the exact ones."""
        fmt = remainder_format(modulus)

        def remainder(numbers: Sequence[Fraction | None]) -> Fraction:
            whole = sum(w * int(n or 0) for w, n in zip(weights, numbers, strict=True)) % modulus
            return Fraction(whole - modulus if 2 * whole > modulus else whole)

        word = fmt.word(remainder([x.value for x in values]))
        step = step_outside(None, Kind.COMPUTED, self.terms.counted(), fmt, const(word, fmt.width))
        exact = None if any(x.exact is None for x in values) else remainder([x.exact for x in values])
        return self._done(step, exact, exact, ())

    def _of_one(
        self, x: TracedWord, step: TracedStep, exactly: Callable[[Fraction], Fraction | None]
    ) -> TracedWord:
        """Return a function of one number, which loses what its word is off."""
        if x.value is None or x.exact is None:
            return self._done(step, None, None, (), x.place)
        value, exact = exactly(x.value), exactly(x.exact)
        if value is None or exact is None:
            return self._done(step, None, None, (), x.place)
        apart = x.exact - x.value
        made_of = ((x, (exact - value) / apart),) if apart else ()
        return self._done(step, value, exact, made_of, x.place)

    def _kept(self, fmt: AnyFormat, term: Term, products: Sequence[Product], place: Where) -> TracedWord:
        """Return what an operation gives that is a step only where it loses something."""
        value, exact, made_of = sum_of(products)
        step = step_outside(None, Kind.COMPUTED, None, fmt, term)
        if minus(value, number_of(fmt, step.word)):
            return self._done(step, value, exact, made_of)
        return TracedWord(fmt, step.word, exact, made_of, place=place)

    def _done(
        self,
        step: TracedStep,
        value: Fraction | None,
        exact: Fraction | None,
        made_of: Parts,
        place: Where = None,
    ) -> TracedWord:
        """Return what a step gives. value, exact: what it would give, were it exact, of the words that it
        took, and of exact ones. place: which lane of an operand it still is.
        """
        self.steps.append(replace(step, lost=minus(value, number_of(step.format, step.word))))
        return TracedWord(step.format, step.word, exact, made_of, len(self.steps) - 1, place)


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

    def counted(self) -> int:
        """Return the number of an operation of which terms say nothing."""
        self.count += 1
        return self.count
