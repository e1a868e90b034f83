"""Up to which integers, or which K, an emulation's result is exactly the dot product.

Integers up to q are multiples of 1 below 2^n, n being their number of bits. So a row's exponent E is n plus
``above`` - 1 at most, and the first E/bits digits, rounded up, are the number: a lemma about all numbers of
the wide format (``cut_lemmas.py``). Each product of these digits, and each partial sum, is a multiple of 1,
too, in its place: the sums are exact while they have no more bits than the format.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.emulation.budget import exact_in_unit, require_condition
from tcsmt.analysis.emulation.cut_lemmas import prove
from tcsmt.analysis.emulation.replay import replayed
from tcsmt.analysis.exactness.lattice import Inexact
from tcsmt.analysis.exactness.search import Subject
from tcsmt.matrix_units.arithmetic.formats import AnyFormat
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.programs.recipes.arrays import multiply
from tcsmt.programs.recipes.emulation.schemes import Emulation, Residues, Slices

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class EmulationSubject(Subject):
    """An emulation on integers of its wide format. chain: of the proof."""

    chain: StepwiseProof
    emulation: Emulation

    @property
    def step(self) -> int:
        """Products of an instruction."""
        return self.emulation.unit.k

    @property
    def longest(self) -> int:
        """Return the largest K."""
        return 1 << 16

    @property
    def formats(self) -> tuple[AnyFormat, AnyFormat, AnyFormat]:
        """Of a, of b and of the result."""
        return (self.emulation.wide,) * 3

    def prove(self, limit: int, k: int) -> None:
        """By lemmas about the cut and the unit, and by what the formats hold."""
        emulation, wide = self.emulation, self.emulation.wide
        if isinstance(emulation, Residues) and not emulation.bits and not emulation.most_bits(k):
            raise Unbounded(f"the moduli's product {emulation.product} is too small for K = {k}")
        slicing = emulation.slicing(k)
        if limit.bit_length() > wide.precision:
            raise Inexact(f"{wide.name} does not have all integers up to {limit}")
        exponent = limit.bit_length() - 1 + slicing.above
        needed = -(-exponent // slicing.bits)
        if needed > slicing.count:
            held = slicing.total - slicing.above + 1
            raise Inexact(f"integers up to {limit} have {limit.bit_length()} bits: the digits hold {held}")
        # the format must have the integers and their sums, and what is below them before the scaling
        most = k * limit * limit
        if isinstance(emulation, Slices):
            missing = {(i, j) for i in range(needed) for j in range(needed)} - {*emulation.products}
            if missing:
                i, j = min(missing)
                raise Inexact(f"the product of slices {i} and {j} is left out")
            most *= 16 if slicing.nearest else 1  # digits to nearest may be larger than what they add up to
            last = max(emulation.shift(product) for product in emulation.products)
            if last > wide.fraction_bits - wide.e_min:
                raise Inexact(f"sums have bits from 2^-{last}")
        if most > 1 << wide.precision or most > wide.largest_finite:
            raise Inexact(f"a sum may reach {most}: {wide.name} has {wide.precision} significant bits")
        prove(self.chain, slicing)
        exact_in_unit(self.chain, emulation, k)
        if isinstance(emulation, Residues):
            require_condition(self.chain, emulation, k)
        self.chain.know("integers of n bits are the first digits of theirs that have n bits or more")

    def results(self, a: Array, b: Array) -> Array:
        """By the simulator, on words: a (m, k) and b (n, k) give (m, n), unsigned integers."""
        wide = self.emulation.wide
        return np.asarray(multiply(self.emulation, a, b.T).view(unsigned(wide)))

    def replayed(self, a: Array, b: Array) -> int:
        """On terms. a, b: words (k,), unsigned integers of the wide format."""
        return replayed(self.emulation, a.tolist(), b.tolist(), 0)
