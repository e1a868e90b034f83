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

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from math import gcd, prod

from tcsmt.language.terms import FALSE, Term
from tcsmt.matrix_units.arithmetic import ieee
from tcsmt.matrix_units.arithmetic.datapath import Exponent, Number, decode
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, IntegerFormat, float_format
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.models import Model
from tcsmt.programs.recipes.emulation.slicing import F64, Slicing
from tcsmt.support.errors import TcsmtError

_NEAREST = ROUNDINGS["RNE"]
#: Integers of more bits are not cut out of a number.
_MOST_BITS = 60


def has_integers(fmt: AnyFormat, low: int, high: int) -> bool:
    """Return whether a format has all integers from low to high."""
    if isinstance(fmt, IntegerFormat):
        return not fmt.fraction_bits and fmt.low <= low and high <= fmt.high
    fmt = float_format(fmt)
    most = max(-low, high)
    fine = fmt.e_min - fmt.fraction_bits <= 0 and most <= min(1 << fmt.precision, int(fmt.largest_finite))
    return fine and (fmt.signed or low >= 0)


@dataclass(frozen=True, kw_only=True)
class Emulation:
    """What both schemes have.

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
        if not has_integers(unit.a_format, *self.reach):
            low, high = self.reach
            raise TcsmtError(f"integers from {low} to {high}: {unit.a_format.name} does not have all of them")

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

    def exponents(self, tops: tuple[Term, Term], slicing: Slicing) -> Exponent:
        """Return the sum of the exponents of a row and a column, of which ``tops`` are the words."""
        low = self.wide.e_min + slicing.above
        of_a, of_b = (Exponent(top, low, low + (1 << top.width) - 1) for top in tops)
        return of_a + of_b

    def ended(self, scaled: Term, c: Term) -> Term:
        """Return the result: c added."""
        return ieee.add_words(self.wide, scaled, c)


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
        """Those of digits."""
        return -self.cut.largest, self.cut.largest

    def slicing(self, k: int) -> Slicing:
        """Return the cut, whatever the length is."""
        return self.cut

    def shift(self, product: tuple[int, int]) -> int:
        """A product of digits counts 2^-shift, times 2 to the power of both exponents."""
        return self.cut.bits * (sum(product) + 2)

    def steps(self, k: int) -> Iterator[tuple[int, int, range]]:
        """Every chain of instructions in order: which digits it multiplies, and which lanes."""
        for i, j in self.products:
            for part in self.blocks(k):
                yield i, j, part

    def added(self, part: Term, shift: int, total: Term) -> ieee.RoundedSum:
        """part·2^-shift + total in the wide format, rounded once; part is a result of the unit."""
        fmt = self.unit.d_format
        x = _integer(part) if isinstance(fmt, IntegerFormat) else decode(_float(fmt), part)
        terms = replace(x, exponent=x.exponent.plus(-shift)), decode(self.wide, total)
        return ieee.RoundedSum(terms=terms, format=self.wide, rounding=_NEAREST)

    def scaled(self, total: Term, tops: tuple[Term, Term]) -> Term:
        """Return the sum times 2 to the power of both exponents, rounded where it is subnormal."""
        x = decode(self.wide, total)
        moved = replace(x, exponent=x.exponent + self.exponents(tops, self.cut))
        return ieee.convert(moved, self.wide, _NEAREST)


def _float(fmt: AnyFormat) -> Format:
    return float_format(fmt)


def _integer(word: Term) -> Number:
    """A two's complement word as a number with one bit before the binary point."""
    negative, last = word[word.width - 1], word.width - 1
    size = negative.ite(-word, word)
    return Number(negative, Exponent.constant(last), size, last, size.eq(0), FALSE, FALSE)


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
        """Those of residues, or of their digits."""
        return digits_of_residues(max(self.moduli), self.base)

    @cached_property
    def product(self) -> int:
        """Of all moduli."""
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


def digits_of_residues(modulus: int, base: int) -> tuple[int, int]:
    """Return the smallest and the largest residue nearest to zero, or, with a base, digit of one."""
    low, high = -(modulus // 2), (modulus - 1) // 2
    if not base:
        return low, high
    half = base // 2
    return min(-half, (low + half) // base), max(half - 1, (high + half) // base)


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
