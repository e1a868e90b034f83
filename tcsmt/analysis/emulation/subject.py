"""Up to which integers, or which K, the result of a program on digits is exactly the dot product.

Integers up to q are multiples of 1 below 2^n, n being their number of bits. So a row's exponent E is n plus
``above`` - 1 at most, and the first E/bits digits, rounded up, are the number: a lemma about all numbers of
the wide format (``cut_lemmas.py``). Each product of these digits, and each partial sum in which none counts
more than another, is a multiple of 1, too, in its place: the sums are exact while they have no more bits than
the format.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.emulation.on_digits import DigitRules, Digits, DigitSum, Factors, KnownNumber
from tcsmt.analysis.emulation.replay import replayed_program
from tcsmt.analysis.exactness.lattice import Inexact
from tcsmt.analysis.exactness.programs import ProgramSubject
from tcsmt.matrix_units.arithmetic.formats import Format, float_format
from tcsmt.programs.steps.program import UnitProgram
from tcsmt.programs.steps.slicing import Slicing
from tcsmt.support.errors import TcsmtError

Array = np.ndarray[Any, np.dtype[Any]]


class DigitSubject(ProgramSubject):
    """A program that cuts numbers into digits, on integers of its wide format."""

    def prove(self, limit: int, k: int) -> None:
        """By lemmas about the cut and the unit, and by what the formats hold."""
        if k > self.longest:
            raise Inexact(f"the program has {self.longest} products")
        try:
            program = self.program_at(k)
        except Unbounded:
            raise
        except TcsmtError as why:
            raise Unbounded(str(why)) from None
        wide = float_format(self.inputs[0])
        if limit.bit_length() > wide.precision:
            raise Inexact(f"{wide.name} does not have all integers up to {limit}")
        rules = _ExactRules(program, self.longest if self.at_one_k else k, limit, k)
        if rules.result({"c": KnownNumber(Fraction(0))}) is not rules.exact:
            raise Inexact("the result is not the scaled sum of products")
        rules.prove_cuts(self.chain)
        rules.prove_units(self.chain)
        self.chain.know("integers of n bits are the first digits of theirs that have n bits or more")

    def replayed(self, a: Array, b: Array) -> int:
        """On terms. a, b: words (k,), unsigned integers of the wide format."""
        left, right = (self._filled(side[None])[0].tolist() for side in (a, b))
        return replayed_program(self.program_at(len(a)), left, right, 0)


class _ExactRules(DigitRules):
    """The rules of steps that lose nothing of integers up to a limit.

    k: products of the program; asked: those that are not zeros.
    """

    exact = object()

    def __init__(self, program: UnitProgram, k: int, limit: int, asked: int) -> None:
        super().__init__(program, k, limit.bit_length() - 1)
        self.limit, self.most = limit, asked * limit * limit
        self.once: Fraction | None = None

    def needed(self, cut: Slicing) -> int:
        """Return how many digits hold all integers."""
        return -(-(self.high + cut.above) // cut.bits)

    def cut(self, slicing: Slicing) -> None:
        """Look at whether the digits hold the integers."""
        if self.needed(slicing) > slicing.count:
            held, limit = slicing.total - slicing.above + 1, self.limit
            bits = limit.bit_length()
            raise Inexact(f"integers up to {limit} have {bits} bits: the digits hold {held}")

    def size(self, of: tuple[Digits, Digits], factors: Factors) -> int:
        """Return 0 where each product counts once, in units of the first one's; else 1."""
        left, right = (side.slicing.bits for side in of)
        times = {factor * 2 ** (left * i + right * j) for (i, j), factor in factors.items()}
        self.once = min(times) if self.once is None else self.once
        return int(times != {self.once})

    def rounded(self, x: DigitSum, fmt: Format) -> DigitSum:
        """In their places, the products are integers, and so are their sums."""
        if x.reach:
            raise Inexact("a sum is rounded in which some products of digits count more than others")
        self.require_held(fmt, x)
        return x

    def require_held(self, fmt: Format, x: DigitSum) -> None:
        """Refuse sums of integers that a format may not have."""
        # digits to nearest may be larger than what they add up to, four times at most
        most = self.most * 4 ** sum(side.slicing.nearest for side in x.of)
        if most > 1 << fmt.precision or most > fmt.largest_finite or fmt.e_min - fmt.fraction_bits > 0:
            raise Inexact(f"a sum may reach {most}: {fmt.name} has {fmt.precision} significant bits")

    def scaled(self, x: DigitSum, fmt: Format, shift: int) -> object:
        """Every product of digits that are not zero counts once."""
        left, right = (self.needed(side.slicing) for side in x.of)
        for part in self.counts(x, shift):
            for (i, j), times in part.items():
                if times != 1 and i < left and j < right:
                    how = "left out" if not times else f"added {times} times"
                    raise Inexact(f"the product of slices {i} and {j} is {how}")
        self.require_held(fmt, x)
        return self.exact

    def with_c(self, x: Any, fmt: Format) -> Any:
        """C is zero."""
        raise Inexact("c is not zero")
