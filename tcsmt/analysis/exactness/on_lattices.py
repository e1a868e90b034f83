"""The reading of programs on lattices: whether sums of products of integers are exact, step by step.

While every step is exact, each value is a sum of the chains' own sums, each times a power of two. So that is
what a value is here: the error that a compensated sum keeps, for example, is a sum of nothing. That a step is
exact follows from the lattice of its exact result, which is that of this sum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.exactness.lattice import ZERO, Inexact, Lattice
from tcsmt.analysis.exactness.units import IEEE, ExactUnit, require_held
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, IntegerFormat, float_format
from tcsmt.matrix_units.arithmetic.rounding import Rounding
from tcsmt.matrix_units.models import Model
from tcsmt.programs.steps.program import ProductRun
from tcsmt.programs.steps.split import Split

#: Where the words of an operand's numbers lie, each word as the unit takes it.
Words: TypeAlias = tuple[Lattice, ...]
#: The chains whose sums make up a value, by their numbers, and what each is multiplied by.
Chains: TypeAlias = Mapping[int, Fraction]


@dataclass
class LatticeRules:
    """The rules of each step on what its value is a sum of. C is zero.

    proof: has the lemmas. unit_for: a unit whose operands have exponents from and to these. words_of: where
    the words of an operand lie. Raises :class:`.Inexact` where a step is not proved to be exact.
    """

    proof: StepwiseProof
    unit_for: Callable[[Model, int, int], ExactUnit]
    words_of: Callable[[Split, Words], Words] = lambda split, words: words
    splits: dict[str, Split] = field(default_factory=dict)
    sums: list[Lattice] = field(default_factory=list)
    runs: list[Sequence[ProductRun]] = field(default_factory=list)
    operands: dict[int, tuple[Words, Words]] = field(default_factory=dict)

    def split(self, x: Words, *, split: Split, side: str) -> Words:
        """Return where each word lies."""
        if self.splits.setdefault(side, split) != split:
            raise Inexact(f"{side} is split in two ways")
        return self.words_of(split, x)

    def chain(
        self, c: Chains | None, a: Words, b: Words, *, unit: Model, runs: Sequence[ProductRun]
    ) -> Chains:
        """Return the exact sum. Of instructions that are alike, the last one's partial sum is the largest."""
        live = [x for x in (*a, *b) if not x.zero]
        low = min((x.last for x in live), default=0)
        exact = self.unit_for(unit, low, max((x.leading for x in live), default=0))
        self.operands[len(self.sums)] = a, b
        start = self.lattice(c or {})
        own, last = ZERO, dict[tuple[tuple[int, int], int], Lattice]()
        for run in runs:
            i, j = words = run.words or (0, 0)
            for first in range(0, len(run.indices), unit.k):
                count = min(unit.k, len(run.indices) - first)
                last[words, count] = own
                own += (a[i] * b[j]).times(count)
        for ((i, j), count), before in last.items():
            exact.result(start + before, [a[i] * b[j]] * count)
        self.sums.append(own)
        self.runs.append(runs)
        return {**(c or {}), len(self.sums) - 1: Fraction(1)}

    def lattice(self, value: Chains) -> Lattice:
        """Return where the numbers of a value lie."""
        whole = ZERO
        for number, factor in value.items():
            whole += self.sums[number].multiplied(factor)
        return whole

    def constant(self, *, fmt: AnyFormat, word: int) -> Chains:
        """+0 alone."""
        if word:
            raise Inexact(f"the constant {fmt.hex(word)} in {fmt.name} is looked at by no rule")
        return {}

    def add(self, x: Chains, y: Chains, *, fmt: AnyFormat, shift: int, rounding: Rounding) -> Chains:
        """x·2^-shift + y, of which nothing is lost where the format has it."""
        factors = dict(y)
        for number, factor in x.items():
            factors[number] = factors.get(number, Fraction(0)) + factor / 2**shift
        total = {number: factor for number, factor in factors.items() if factor}
        self._require(fmt, total)
        self.proof.know(IEEE)
        return total

    def negate(self, x: Chains, *, fmt: Format) -> Chains:
        """-x, which every format with a sign has."""
        opposite = {number: -factor for number, factor in x.items()}
        self._require(fmt, opposite)
        return opposite

    def convert(
        self, x: Chains | Words, *, source: Format, target: Format, rounding: Rounding, saturate: bool
    ) -> Chains | Words:
        """x, where the format has it; of an operand, each of its numbers."""
        if isinstance(x, tuple):
            for lattice in x:
                require_held(target, lattice, "an operand")
            return x
        self._require(target, x)
        return x

    def _require(self, fmt: AnyFormat, value: Chains) -> None:
        whole = self.lattice(value)
        if isinstance(fmt, IntegerFormat):
            if not fmt.low <= whole.low <= whole.high <= fmt.high:
                raise Inexact(f"a sum outside the unit may leave {fmt.name}")
        else:
            require_held(float_format(fmt), whole, "a sum outside the unit")

    def require_all(self, result: Chains, length: int) -> None:
        """Refuse a result that is not the sum of all products, each of them once. length: K."""
        if len({self.operands[number] for number in result}) > 1:
            raise Inexact("chains take operands in more than one way")
        scales = [self.splits[side].scale if side in self.splits else 0 for side in "AB"]
        counts: dict[tuple[int, int], np.ndarray[tuple[int], np.dtype[np.int64]]] = {}
        live: set[tuple[int, int]] = {(0, 0)}
        for number, factor in result.items():
            a, b = self.operands[number]
            live |= {(i, j) for i, x in enumerate(a) for j, y in enumerate(b) if not (x.zero or y.zero)}
            for run in self.runs[number]:
                i, j = words = run.words or (0, 0)
                if factor != Fraction(1, 2 ** (scales[0] * i + scales[1] * j)):
                    raise Inexact(f"the product of words {i} and {j} is multiplied by {factor}")
                found = counts.setdefault(words, np.zeros(length, np.int64))
                np.add.at(found, np.asarray(run.indices), 1)
        for i, j in sorted(live):
            if (i, j) not in counts:
                raise Inexact(f"the product of words {i} and {j} is left out")
            if (wrong := np.flatnonzero(counts[i, j] != 1)).size:
                at = int(wrong[0])
                raise Inexact(f"of words {i} and {j}, product {at} is added {counts[i, j][at]} times")
