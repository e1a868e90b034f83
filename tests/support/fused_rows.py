"""Values of a tiny unit's fused sum on all inputs, and such units with planted faults."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from random import Random
from typing import Any

import numpy as np

from tcsmt.analysis.bounds.fused_loss import C, FusedSum
from tcsmt.language.terms import Term
from tcsmt.matrix_units.arithmetic.datapath import Exponent, Fixed, Number, decode
from tcsmt.matrix_units.arithmetic.formats import Format, Specials
from tcsmt.matrix_units.models import Kind, Model
from tests.oracles import terms, tiny
from tests.support.planted import put, rare, wrong_where

Array = np.ndarray[Any, np.dtype[Any]]

#: The format of operands.
NARROW = tiny.described(exponent_bits=2, fraction_bits=1, bias=1, specials=Specials.NONE)


def with_planted_stage(rng: Random, unit: Model) -> Model:
    """The unit with a stage that is wrong on few inputs."""
    trace = unit.trace
    stage = rng.choice([*trace.of(Kind.ALIGNED_PRODUCT, Kind.ALIGNED_C), *trace.of(Kind.RESULT) * 2])
    row = {str(x.data): rng.getrandbits(x.width) for x in trace.inputs}
    where = rare(rng, trace, row)
    if stage.kind is Kind.RESULT and rng.random() < 0.8:
        (total,) = trace.of(Kind.SUM)
        given = {name: np.array([word]) for name, word in row.items()}
        where = total.term.eq(int(np.broadcast_to(terms.values([total.term], given)[0], 1)[0]))
    found = replace(unit)
    found.__dict__["trace"] = put(trace, stage, wrong_where(rng, stage, where))
    return found


@dataclass(frozen=True)
class Rows:
    """A fused sum's values on all inputs of one product and a finite c."""

    sum: FusedSum
    c: Format

    @cached_property
    def columns(self) -> dict[str, Array]:
        if len(self.sum.lanes) > 1:
            return self.some
        words = [np.arange(1 << fmt.width) for fmt in (NARROW, NARROW, self.c)]
        columns = {n: w.ravel() for n, w in zip(("a0", "b0", "c"), np.meshgrid(*words), strict=True)}
        c = self.sum.numbers[C]
        finite = ~(terms.values([c.infinite | c.nan], columns)[0].astype(bool))
        return {name: words[finite] for name, words in columns.items()}

    @property
    def some(self) -> dict[str, Array]:
        """Random words of several products and a finite c; in half of the rows c is small, or zero."""
        random, size = np.random.default_rng(7), 60_000
        lanes = [f"{side}{n}" for side in "ab" for n in range(len(self.sum.lanes))]
        columns = {name: random.integers(0, 1 << NARROW.width, size) for name in lanes}
        c = random.integers(0, 1 << self.c.width, size)
        c[: size // 4] &= 1 << self.c.sign_bit | (1 << self.c.fraction_bits + 1) - 1
        columns["c"] = np.where(random.random(size) < 0.1, 0, c)
        number = self.sum.numbers[C]
        finite = ~(terms.values([number.infinite | number.nan], columns)[0].astype(bool))
        return {name: words[finite] for name, words in columns.items()}

    def word(self, term: Term) -> Array:
        found = terms.values([term], self.columns)[0].astype(np.int64)
        return np.broadcast_to(found, len(self.columns["c"]))

    def flag(self, term: Term) -> Array:
        return self.word(term).astype(bool)

    def exponent(self, x: Exponent) -> Array:
        return self.word(x.term) + x.low

    def number(self, x: Number) -> Array:
        size = np.ldexp(self.word(x.significand).astype(float), self.exponent(x.exponent) - x.fraction_bits)
        return np.where(self.flag(x.sign), -size, size)

    def fixed(self, x: Fixed) -> Array:
        word, width = self.word(x.word), x.word.width
        word = word - (word >> (width - 1) << width)
        return np.ldexp(word.astype(float), self.exponent(x.exponent) - x.fraction_bits)

    @cached_property
    def top(self) -> Array:
        return self.exponent(self.sum.sum.exponent)

    @cached_property
    def total(self) -> Array:
        return self.fixed(self.sum.sum)

    @cached_property
    def exact(self) -> Array:
        return sum((self.number(x) for x in self.sum.numbers.values()), np.zeros(len(self.columns["c"])))

    @cached_property
    def result(self) -> Array:
        """The result, NaN where it is not finite."""
        x = decode(self.sum.format, self.sum.result)
        return np.where(self.flag(x.infinite | x.nan), np.nan, self.number(x))

    def alone(self, place: int) -> Array:
        """Whether all numbers but one are zero."""
        others = [self.flag(x.zero) for n, x in self.sum.numbers.items() if n != place]
        return np.logical_and.reduce(others)
