"""Exactness of an algorithm on a unit: what its words hold of integers, and what becomes of their products.

The integers are binary32 numbers, all of them up to a limit; that the words hold them is tried for every one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.exactness.lattice import ZERO, Inexact, Lattice
from tcsmt.analysis.exactness.on_lattices import LatticeRules
from tcsmt.analysis.exactness.search import Subject, chained, in_instructions
from tcsmt.analysis.exactness.units import ExactUnit
from tcsmt.compose.programs.on_arrays import split_words
from tcsmt.compose.programs.operations import scaled_sum
from tcsmt.compose.programs.split import Split
from tcsmt.compose.programs.steps import ProductRun, read
from tcsmt.compose.recipes.algorithm import Algorithm
from tcsmt.compose.recipes.arrays import multiply
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import const
from tcsmt.matrix_units.arithmetic.any_format import AnyFormat
from tcsmt.matrix_units.arithmetic.conversion import floats
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.nan_words import QUIET
from tcsmt.matrix_units.arithmetic.rounding import Rounding
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.models import Model
from tcsmt.support.errors import InternalError

__all__ = ["AlgorithmSubject", "word_lattices"]

Array = np.ndarray[Any, np.dtype[Any]]
#: All integers up to a limit are split; larger limits are refused.
_TRIED = 1 << 20
#: Words are counted in units of 2^-_FINEST.
_FINEST = 34


@lru_cache(maxsize=256)
def word_lattices(split: Split, limit: int) -> tuple[Lattice, ...]:
    """Where the words lie of all integers up to a limit, each word as it is used: with its scale.

    Raises :class:`.Inexact` where the words of some integer do not add up to it.
    """
    if limit > _TRIED:
        raise Inexact(f"integers up to {limit}: the split is tried for all integers up to {_TRIED}")
    numbers = np.arange(-limit, limit + 1)
    wide = numbers.astype(np.float32).view(unsigned(split.wide))
    residue = numbers.astype(np.int64) << _FINEST
    lattices = []
    for place, word in enumerate(split_words(split, wide)):
        values = floats(split.format, word) * 2.0 ** (_FINEST - split.scale * place)
        if (
            not np.isfinite(values).all()
            or (np.abs(values) >= 2.0**62).any()
            or (values != np.rint(values)).any()
        ):
            raise Inexact(
                f"word {place} of an integer up to {limit} is infinite, or has a bit below 2^-{_FINEST}"
            )
        units = values.astype(np.int64)
        residue = residue - units
        last = int((units & -units)[units != 0].min(initial=1 << 62)).bit_length() - 1 - _FINEST
        low, high = (Fraction(int(end), 1 << _FINEST) for end in (units.min(), units.max()))
        lattices.append(Lattice(low, high, last) if units.any() else ZERO)
    if residue.any():
        number = int(numbers[np.flatnonzero(residue)[0]])
        raise Inexact(f"the words of {abs(number)} do not add up to it")
    return tuple(lattices)


@dataclass(frozen=True)
class AlgorithmSubject(Subject):
    """An algorithm on a unit; its own K does not matter. chain: of the proof."""

    chain: StepwiseProof
    algorithm: Algorithm
    _units: dict[tuple[int, int], ExactUnit] = field(default_factory=dict)

    @property
    def step(self) -> int:
        """Products of an instruction."""
        return self.algorithm.unit.k

    @property
    def longest(self) -> int:
        """Return the largest K."""
        return Algorithm.longest

    @property
    def formats(self) -> tuple[AnyFormat, AnyFormat, AnyFormat]:
        """Binary32, of a, of b and of the result."""
        return (self.algorithm.wide,) * 3

    def prove(self, limit: int, k: int) -> None:
        """Step by step."""
        held = word_lattices(self.algorithm.split, limit)
        self.chain.know(f"the words of every integer up to {limit} add up to it (all of them tried)")
        scale = self.algorithm.split.scale
        plain = tuple(x if x.zero else x.shifted(scale * place) for place, x in enumerate(held))
        rules = LatticeRules(self.chain, self._unit, lambda split, words: plain)
        result = read(self.algorithm.program(k), rules, {"A": (), "B": (), "c": {}})
        rules.require_all(result, plain, plain, k)

    def _unit(self, low: int, high: int) -> ExactUnit:
        if (low, high) not in self._units:
            self._units[low, high] = ExactUnit(self.chain, self.algorithm.unit, low, high)
        return self._units[low, high]

    def results(self, a: Array, b: Array) -> Array:
        """By the simulator, on words: a (m, k) and b (n, k) give (m, n), unsigned integers."""
        return multiply(self.algorithm, a, b.T).view(unsigned(self.algorithm.wide))

    def replayed(self, a: Array, b: Array) -> int:
        """Chain by chain, on the unit's terms, and those of the additions outside.

        a, b: words (k,), unsigned integers of the wide format.
        """
        given = {"A": a, "B": b, "c": 0}
        word: int = read(self.algorithm.program(len(a)), _NumberRules(), given)
        return word


@dataclass(frozen=True)
class _NumberRules:
    """The rules of each step on words as integers: chains by their graph, one instruction after the other."""

    def split(self, x: Array, *, split: Split) -> list[Array]:
        return split_words(split, x)

    def constant(self, *, fmt: AnyFormat, word: int) -> int:
        return word

    def chain(
        self, c: int | None, *operands: Sequence[Array], unit: Model, runs: Sequence[ProductRun]
    ) -> int:
        if c:
            raise InternalError("a chain of integers begins with c")
        rows = (
            np.concatenate(
                [
                    in_instructions(unit, operand[(run.words or (0, 0))[side]][run.indices], fmt)
                    for run in runs
                ]
            )
            for side, (operand, fmt) in enumerate(zip(operands, (unit.a_format, unit.b_format), strict=True))
        )
        return chained(unit, *rows)

    def add(self, x: int, y: int, *, fmt: Format, shift: int, rounding: Rounding) -> int:
        words = const(x, fmt.width), const(y, fmt.width)
        operation = scaled_sum(fmt, words[0], shift, words[1], rounding, QUIET.computed(fmt))
        (word,) = evaluate([operation.word()], {})
        return word

    def negate(self, x: int, *, fmt: Format) -> int:
        return x ^ 1 << fmt.sign_bit
