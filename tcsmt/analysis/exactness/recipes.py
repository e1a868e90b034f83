"""Exactness of an algorithm on a unit: what its words hold of integers, and what becomes of their products.

The integers are binary32 numbers, all of them up to a limit; that the words hold them is tried for every one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.exactness.lattice import ZERO, Inexact, Lattice
from tcsmt.analysis.exactness.search import Subject, chained, in_instructions
from tcsmt.analysis.exactness.units import IEEE, ExactUnit, require_held
from tcsmt.compose.recipes.algorithm import Algorithm, Step
from tcsmt.compose.recipes.arrays import multiply, words
from tcsmt.compose.recipes.running_sum import PLAIN
from tcsmt.compose.recipes.split import Split
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import const
from tcsmt.matrix_units.arithmetic.any_format import AnyFormat
from tcsmt.matrix_units.arithmetic.conversion import floats
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.models import Kind

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
    for place, word in enumerate(words(split, wide)):
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
        """Chain by chain, the sums of the chains by IEEE operations."""
        algorithm = self.algorithm
        if algorithm.compensated != PLAIN:
            raise Inexact(f"compensated = {algorithm.compensated}: no lemma covers a compensated sum")
        held = word_lattices(algorithm.split, limit)
        self.chain.know(f"the words of every integer up to {limit} add up to it (all of them tried)")
        computed = {product for summand in algorithm.sums for product in summand.products}
        for i, summand in enumerate(held):
            for j, two in enumerate(held):
                if (i, j) not in computed and not summand.zero and not two.zero:
                    raise Inexact(f"the product of words {i} and {j} is left out")
        scale = algorithm.split.scale
        plain = [x if x.zero else x.shifted(scale * place) for place, x in enumerate(held)]
        live = [x for x in plain if not x.zero]
        unit = self._unit(min((x.last for x in live), default=0), max((x.leading for x in live), default=0))
        outside: Lattice | None = ZERO if algorithm.c_enters == "first" else None
        for shift, steps in algorithm.chains(k):
            inside = ZERO
            # of steps that are alike, the last one's partial sum is the largest
            last: dict[tuple[int, int, int], Lattice] = {}
            for i, j, part in steps:
                last[i, j, len(part)] = inside
                inside += (plain[i] * plain[j]).times(len(part))
            for (i, j, count), before in last.items():
                unit.result(before, [plain[i] * plain[j]] * count)
            part_sum = inside if inside.zero else inside.shifted(-shift)
            if outside is None:
                outside = part_sum
                continue
            outside += part_sum
            require_held(algorithm.wide, outside, "a sum outside the unit")
        self.chain.know(IEEE)

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
        algorithm = self.algorithm
        left, right = (words(algorithm.split, row) for row in (a, b))

        def chain(steps: list[Step], inside: int) -> int:
            """From +0, as c and the sums outside leave every chain."""
            rows = [
                (_lanes(algorithm, left[i], part), _lanes(algorithm, right[j], part)) for i, j, part in steps
            ]
            a_words, b_words = (np.concatenate([row[side] for row in rows]) for side in (0, 1))
            return chained(algorithm.unit, a_words, b_words)

        return algorithm.scheduled(len(a), 0, 0, chain, _OutsideNumbers(algorithm))


def _lanes(algorithm: Algorithm, row: Array, part: range) -> Array:
    return in_instructions(algorithm.unit, row[part.start : part.stop], algorithm.split.format)


@dataclass(frozen=True)
class _OutsideNumbers:
    """Additions outside, of words as integers."""

    algorithm: Algorithm

    def plus(self, x: int, shift: int, y: int) -> int:
        width = self.algorithm.wide.width
        (word,) = evaluate([self.algorithm.plus(const(x, width), shift, const(y, width))], {})
        return word

    def negated(self, x: int) -> int:
        return x ^ 1 << self.algorithm.wide.sign_bit

    def seen(self, kind: Kind, number: int | None, word: int) -> int:
        return word
