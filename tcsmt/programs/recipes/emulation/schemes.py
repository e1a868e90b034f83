"""Two ways to multiply binary64 matrices by exact products of small integers on a matrix unit.

* *Slices* (Ozaki et al. 2012; on integer units Ootomo, Ozaki and Yokota 2024): both operands are cut into
  digits (:mod:`.slicing`). A product of the i-th digits of A and the j-th of B is one matrix product of
  integers. The products are added in the wide format, each multiplied by its power of two.
* *Residues* (Ozaki, Uchino and Imamura 2025): both operands are cut to integers of one number of bits. Modulo
  each of several numbers without a common divisor, their product is one matrix product of small integers (or
  four, where a residue needs two digits). The Chinese remainder theorem gives the integer product, as long as
  it is less than half of the moduli's product in magnitude. It is rounded once.

In both, the result is then multiplied by 2 to the power of the exponents of its row and its column, which
rounds where it is subnormal, and c is added, rounded once more. Where a row or a column has a NaN or an
infinity, results are NaNs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, reduce
from math import gcd, prod

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import INTEGERS, Format
from tcsmt.matrix_units.models import Model
from tcsmt.programs.steps.builder import Builder
from tcsmt.programs.steps.digits import residue_range
from tcsmt.programs.steps.program import ProductRun, UnitProgram, Value
from tcsmt.programs.steps.slicing import F64, Slicing, require_integers
from tcsmt.support.errors import TcsmtError

#: Integers of more bits are not cut out of a number.
_MOST_BITS = 60


@dataclass(frozen=True, kw_only=True)
class Emulation:
    """The fields of both schemes.

    unit: the instruction, with operands of one format and results that can be its next c. every: products
    of a chain of instructions, which begins with +0 (0: one chain over all of K). wide: the format of a, b, c
    and the result, binary64 or a smaller one that stands for it.
    """

    unit: Model
    every: int = 0
    wide: Format = F64

    def __post_init__(self) -> None:
        unit = self.unit
        if unit.a_format != unit.b_format or unit.scale_format is not None or unit.c_format != unit.d_format:
            raise TcsmtError(
                "the unit must take operands of one format, without block scales, and give what it takes as c"
            )
        if self.every < 0:
            raise TcsmtError(f"every = {self.every}: must be 0 or more")
        require_integers("integers", unit.a_format, *self.reach)

    @property
    def reach(self) -> tuple[int, int]:
        """Return the smallest and the largest integer that the unit multiplies."""
        raise NotImplementedError

    def slicing(self, k: int) -> Slicing:
        """Return how the operands of a dot product of k are cut."""
        raise NotImplementedError

    def blocks(self, k: int) -> list[range]:
        """Return the products of each chain of instructions."""
        length = self.every or k
        return [range(start, min(start + length, k)) for start in range(0, k, length)]

    def program(self, k: int) -> UnitProgram:
        """Return a dot product of k as a program, with inputs ``A``, ``B`` and ``c``."""
        return _program(self, k)

    def scaled(self, build: Builder, sides: Sequence[Value], tops: Sequence[Value], k: int) -> Value:
        """Write the product of a row and a column, both as numbers. tops: the largest exponents."""
        raise NotImplementedError


@lru_cache(maxsize=16)
def _program(emulation: Emulation, k: int) -> UnitProgram:
    build, wide = Builder(), emulation.wide
    sides = [build.input(side, wide, side) for side in "AB"]
    tops = [build.maximum(x.format, x, nan="ignored") for x in map(build.exponent, sides)]
    result = build.add(wide, emulation.scaled(build, sides, tops, k), build.input("c", wide))
    for top in tops:
        largest = build.constant(top.format, top.format.word(Fraction(wide.e_max)))
        finite = build.compare(top.format, top, largest, "less_equal")
        result = build.select(wide, finite, result, build.constant(wide, wide.nan_word or 0))
    return build.program(result)


@dataclass(frozen=True, kw_only=True)
class Slices(Emulation):
    """Ozaki's scheme I on a unit.

    cut: how both operands are sliced. products: (digit of a, digit of b), both from 0, in the order in which
    they are computed and added.
    """

    cut: Slicing
    products: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        places = [place for product in self.products for place in product]
        if not places or len(set(self.products)) != len(self.products):
            raise TcsmtError("products: must be one or more, each one once")
        if not all(0 <= place < self.cut.count for place in places):
            raise TcsmtError(f"products: slices are 0 to {self.cut.count - 1}")
        if self.wide != self.cut.wide:
            raise TcsmtError(f"wide = {self.wide.name}: the slices are of {self.cut.wide.name}")

    @property
    def reach(self) -> tuple[int, int]:
        """Return the ends of digits."""
        return -self.cut.largest, self.cut.largest

    def slicing(self, k: int) -> Slicing:
        """Return the cut, whatever the length is."""
        return self.cut

    def shift(self, product: tuple[int, int]) -> int:
        """A product of digits counts 2^-shift, times 2 to the power of both exponents."""
        return self.cut.bits * (sum(product) + 2)

    def scaled(self, build: Builder, sides: Sequence[Value], tops: Sequence[Value], k: int) -> Value:
        """Write the sum of the products of digits, in order, times 2 to the power of both exponents."""
        fmt = self.unit.a_format
        left, right = (build.digits(x, top, self.cut, fmt) for x, top in zip(sides, tops, strict=True))
        total = build.constant(self.wide, 0)
        for product in self.products:
            for part in self.blocks(k):
                run = ProductRun(np.arange(part.start, part.stop), product)
                inside = build.chain(self.unit, (left, right), [run], None)
                total = build.accumulate(self.wide, inside, total, self.shift(product))
        return build.scale(self.wide, total, tops, -2 * self.cut.above)


@dataclass(frozen=True, kw_only=True)
class Residues(Emulation):
    """Ozaki's scheme II on a unit.

    moduli: numbers without a common divisor, each pair of them. base: 0, or residues are written as
    h·base + l and multiplied in four parts. bits: of the integers that a and b are cut to (0: as many as K
    allows).
    """

    moduli: tuple[int, ...]
    base: int = 0
    bits: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        for place, modulus in enumerate(self.moduli):
            for two in self.moduli[:place]:
                if gcd(modulus, two) != 1:
                    raise TcsmtError(
                        f"moduli {two} and {modulus} have the common divisor {gcd(modulus, two)}"
                    )
        if not self.moduli or min(self.moduli) < 2:
            raise TcsmtError("moduli: must be one or more, of 2 or more")
        if not 0 <= self.bits <= _MOST_BITS:
            raise TcsmtError(f"bits = {self.bits}: must be from 1 to {_MOST_BITS}, or 0")
        if self.base and (self.base < 2 or self.base % 2):
            raise TcsmtError(f"base = {self.base}: must be 0, or even")

    @property
    def reach(self) -> tuple[int, int]:
        """Return the ends of residues, or of their digits."""
        return residue_range(max(self.moduli), self.base)

    @cached_property
    def product(self) -> int:
        """Return the product of all moduli."""
        return prod(self.moduli)

    def most_bits(self, k: int) -> int:
        """Integers of so many bits have dot products of less than half of the moduli's product."""
        bits = 0
        while bits < _MOST_BITS and self.holds(k, bits + 1):
            bits += 1
        return bits

    def holds(self, k: int, bits: int) -> bool:
        """Return the condition of exactness: 2·K·(2^bits - 1)^2 < P."""
        return 2 * k * ((1 << bits) - 1) ** 2 < self.product

    def slicing(self, k: int) -> Slicing:
        """One digit: of the given bits, or as many as K allows. Raises :class:`.TcsmtError` for none."""
        bits = self.bits or self.most_bits(k)
        if not bits:
            raise TcsmtError(f"K = {k}: the moduli's product {self.product} is too small for one bit")
        return Slicing(bits=bits, count=1, wide=self.wide)

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """Return what each residue of the product is multiplied by: 1 modulo its own number, 0 modulo the
        others.
        """
        weights = []
        for modulus in self.moduli:
            others = self.product // modulus
            weights.append(others * pow(others, -1, modulus))
        return tuple(weights)

    def scaled(self, build: Builder, sides: Sequence[Value], tops: Sequence[Value], k: int) -> Value:
        """Write the integer product by its residues, times 2 to the power of both exponents."""
        cut = self.slicing(k)
        integers = [build.digits(x, top, cut, INTEGERS["s64"]) for x, top in zip(sides, tops, strict=True)]
        found = [self._residue(build, integers, modulus, k) for modulus in self.moduli]
        product = build.exact_sum(found, self.weights, self.product)
        return build.scale(self.wide, product, tops, 2 * (cut.bits - cut.above))

    def _residue(self, build: Builder, integers: Sequence[Value], modulus: int, k: int) -> Value:
        """Write the product modulo one number."""
        places, fmt = range(2 if self.base else 1), self.unit.a_format
        left, right = (
            [build.residue(x, fmt, modulus, self.base, place) for place in places] for x in integers
        )
        parts, weights = [], []
        for i, x in enumerate(left):
            for j, y in enumerate(right):
                for part in self.blocks(k):
                    run = ProductRun(np.arange(part.start, part.stop))
                    parts.append(build.chain(self.unit, (x, y), [run], None))
                    weights.append((self.base or 1) ** (i + j))
        return build.exact_sum(parts, weights, modulus)


def moduli(count: int, most: int) -> tuple[int, ...]:
    """Return the largest numbers up to ``most`` of which no two have a common divisor, from the largest on.

    Raises :class:`.TcsmtError` where there are not so many.
    """
    chosen: list[int] = []
    for number in range(most, 1, -1):
        if len(chosen) == count:
            break
        if reduce(lambda fine, other: fine and gcd(number, other) == 1, chosen, True):
            chosen.append(number)
    if len(chosen) < count:
        raise TcsmtError(f"moduli = {count}: there are {len(chosen)} up to {most} without a common divisor")
    return tuple(chosen)
