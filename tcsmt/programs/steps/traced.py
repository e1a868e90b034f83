"""What a traced program is made of: steps with the words that come out of them, and what they lose.

What a step loses is carried to the result by weights under which the sum of all losses is the exact result
minus the computed one. Of a product, the error of x counts y's number, and that of y counts x's exact value:
xy - x'y' = (x - x')y' + x(y - y').
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import TypeAlias

import numpy as np

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, const
from tcsmt.matrix_units.arithmetic.formats import AnyFormat
from tcsmt.matrix_units.models import Kind, Model, Stage
from tcsmt.matrix_units.models.stages import InstructionPlace, Where
from tcsmt.programs.steps.program import Indices
from tcsmt.prove.statements.explain import signed_text

ONE = Fraction(1)


@dataclass(frozen=True)
class TracedStep:
    """One step: the word that comes out, and what an exact step would have added.

    lost: exact minus computed, for the words that the step took; of a choice, for the one that exact numbers
    would have made (None: not finite). kind: ``split`` (of an operand), ``unit`` or ``outside``. weight: how
    often what it loses counts in the result; of a word of a split, how often it counts in the number.
    """

    stage: Stage
    kind: str
    format: AnyFormat
    word: int
    lost: Fraction | None = None
    weight: Fraction = ONE

    @property
    def name(self) -> str:
        """Return the stage's name."""
        return self.stage.name

    @property
    def share(self) -> Fraction:
        """Return what it loses of the result."""
        return (self.lost or Fraction(0)) * self.weight

    @property
    def shown(self) -> bool:
        """Return whether there is anything to see: a number that is not zero, or a loss."""
        return bool(self.lost) or self.format.is_special(self.word) or bool(self.format.value(self.word))

    def as_json(self) -> dict[str, str | None]:
        """Return the step as plain data."""
        return {
            "step": self.name,
            "kind": self.kind,
            "word": self.format.hex(self.word),
            "value": self.format.describe(self.word),
            "lost": None if self.lost is None else signed_text(self.lost),
        }


@dataclass(frozen=True)
class TracedInstruction(TracedStep):
    """One instruction of a chain.

    unit: whose instruction it is. inputs: the words that it takes, by the unit's names. chain: indices of K
    that the chain has added when the instruction ends, in order. count: how many of them are this
    instruction's. from_c: whether the chain began with a value.
    """

    unit: Model = field(kw_only=True)
    inputs: Mapping[str, int] = field(kw_only=True)
    chain: Indices = field(kw_only=True)
    count: int = field(kw_only=True)
    from_c: bool = field(kw_only=True)

    @property
    def indices(self) -> Indices:
        """Return the indices of K that this instruction adds: integers of shape (count,)."""
        return self.chain[len(self.chain) - self.count :]

    @property
    def key(self) -> tuple[bool, tuple[int, int] | None, bytes]:
        """Return what the sum so far is made of, whatever the instructions; and the words multiplied last."""
        place = self.stage.block
        words = (place.a, place.b) if isinstance(place, InstructionPlace) else None
        return self.from_c, words, np.sort(self.chain).tobytes()


@dataclass(frozen=True, eq=False)
class TracedWord:
    """A word of the element.

    exact: what exact steps would have given (None: not finite). made_of: values whose errors it has, each
    times a factor, besides what its own step loses. step: that step's number. place: of which lane of an
    operand it is. error: of a compensated sum's total, what it carries along.
    """

    format: AnyFormat
    word: int
    exact: Fraction | None
    made_of: tuple[tuple[TracedWord, Fraction], ...] = ()
    step: int | None = None
    place: Where = None
    error: TracedWord | None = None

    @classmethod
    def given(cls, fmt: AnyFormat, word: int, place: Where = None) -> TracedWord:
        """Return a word that has no error."""
        return cls(fmt, word, number_of(fmt, word), place=place)

    @cached_property
    def value(self) -> Fraction | None:
        """Return the number; None for infinities and NaNs."""
        return number_of(self.format, self.word)

    @property
    def term(self) -> Term:
        """Return the word as a constant."""
        return const(self.word, self.format.width)


#: Values that are multiplied, and by which constant; values whose errors a value has, and how often.
Product: TypeAlias = tuple[Fraction, tuple[TracedWord, ...]]
Parts: TypeAlias = tuple[tuple[TracedWord, Fraction], ...]


def sum_of(products: Sequence[Product]) -> tuple[Fraction | None, Fraction | None, Parts]:
    """Return a sum of products of computed numbers, of exact ones, and whose errors it has how often."""
    value: Fraction | None = Fraction(0)
    exact: Fraction | None = Fraction(0)
    parts = []
    for factor, xs in products:
        values, exacts = [x.value for x in xs], [x.exact for x in xs]
        value, exact = (
            None if total is None or None in numbers else total + factor * _product(numbers)
            for total, numbers in ((value, values), (exact, exacts))
        )
        for at, x in enumerate(xs):
            if x.step is not None or x.made_of:
                parts.append((x, factor * _product([*exacts[:at], *values[at + 1 :]])))
    return value, exact, tuple(parts)


def _product(numbers: Sequence[Fraction | None]) -> Fraction:
    """Return the product, where what is not finite counts nothing."""
    return prod((number or Fraction(0) for number in numbers), start=ONE)


def weighed(steps: Sequence[TracedStep], output: TracedWord) -> list[TracedStep]:
    """Return the steps, each with how often what it loses counts in the result."""
    weights: dict[int, Fraction] = {id(output): ONE}
    of_step = [Fraction(0)] * len(steps)
    for value in reversed(_in_order(output)):
        weight = weights[id(value)]
        for other, factor in value.made_of:
            weights[id(other)] = weights.get(id(other), Fraction(0)) + weight * factor
        if value.step is not None and value.error is None:
            of_step[value.step] = weight
    return [
        step if step.kind == "split" else replace(step, weight=weight)
        for step, weight in zip(steps, of_step, strict=True)
    ]


def _in_order(output: TracedWord) -> list[TracedWord]:
    """Return the values that one is made of, each after those that it is made of."""
    order: dict[int, TracedWord] = {}
    stack: list[tuple[TracedWord, bool]] = [(output, False)]
    while stack:
        value, ready = stack.pop()
        if ready:
            order[id(value)] = value
        elif id(value) not in order:
            stack.append((value, True))
            stack.extend((other, False) for other, _ in value.made_of)
    return list(order.values())


def step_outside(place: Where, kind: Kind, number: int | None, fmt: AnyFormat, term: Term) -> TracedStep:
    """Return a step outside of the unit."""
    (word,) = evaluate([term], {})
    return TracedStep(stage_of(place, kind, number, fmt, word), "outside", fmt, word)


def stage_of(place: Where, kind: Kind, number: int | None, fmt: AnyFormat, word: int) -> Stage:
    """Return the stage of a word."""
    return Stage(place, kind, number, fmt, const(word, fmt.width))


def number_of(fmt: AnyFormat, word: int) -> Fraction | None:
    """Return the number of a word; None for infinities and NaNs."""
    return None if fmt.is_special(word) else fmt.value(word)


def minus(x: Fraction | None, y: Fraction | None) -> Fraction | None:
    """Return x - y; None where one is not finite."""
    return None if x is None or y is None else x - y
