"""The dot product first, then c."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from tcsmt.language.terms import Term
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic.datapath import Exponent, Fixed, Number
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.matrix_units.models.base import Model, Terms, chained, lane_count, number
from tcsmt.matrix_units.models.stages import Kind, Stage, Value

RTZ, RTN, RNE = ROUNDINGS["RTZ"], ROUNDINGS["RTN"], ROUNDINGS["RNE"]


@dataclass(frozen=True, kw_only=True)
class DotThenAdd(Model):
    """A truncated fused sum of products, to which c is added after a second alignment.

    Decisions where sources differ: a product of magnitude 2^128 or more is infinite, and meets
    the other infinities as such (mmasim; the paper looks at infinite inputs first); a zero product
    takes no part in the maximum exponent, a zero or subnormal c does, with -126; a negative
    result that rounds to zero is -0 and an exact zero sum +0 (mmasim; the paper is silent); the
    words of NaNs are not known, and ours is the quiet NaN that IEEE 754 prefers.

    n_fma: products in one block; divides k. Blocks are chained, each result being the next c.
    lane_groups: 1, or g: lanes i, i + g, ... are summed on a grid of their own, and the groups'
        sums are then aligned with each other.
    fraction_bits: fraction bits F of the products' grid, of c's, and of the groups' alignment.
    alignment: rounding of products at the first alignment; RTZ is truncation of the magnitude.
    product_limit: a product of magnitude 2^product_limit or more is infinite (None: never).
    dot_fraction_bits: fraction bits of the products' sum when it is aligned with c.
    realignment: rounding at every later alignment; RTN is the arithmetic shift.
    c_reach: c is dropped where its exponent lies more than this below the largest (None: never).
    normalised_fraction_bits: bits to which the normalised sum is rounded down before the final
        rounding (None: all are kept).
    rounding: final rounding.
    Sources: MMA-Sim III-F to III-I (FDRDA, CoFDRDA, GFDRDA); mmasim 2.1.1 (MMA_TR_FDPA, MMA_GTR_FDPA).
    """

    kind: ClassVar[str] = "dot-then-add"
    title: ClassVar[str] = "a sum of products to which c is added after a second alignment"
    a_format: Format
    b_format: Format
    c_format: Format
    d_format: Format
    n_fma: int = lane_count()
    lane_groups: int = lane_count(default=1)
    fraction_bits: int = number(1, 1024)
    alignment: Rounding = RTZ
    product_limit: int | None = None
    dot_fraction_bits: int = number(1, 1024)
    realignment: Rounding = RTN
    c_reach: int | None = number(1, 1024, default=None)
    normalised_fraction_bits: int | None = number(1, 1024, default=None)
    rounding: Rounding = RNE

    def validate(self) -> None:
        """Check ranges, and combinations that contradict each other."""
        blocks = self.k // self.n_fma if 1 <= self.n_fma <= self.k else 0
        self.check("n_fma", blocks * self.n_fma == self.k, f"a divisor of k = {self.k}")
        groups = 1 <= self.lane_groups <= self.n_fma and self.n_fma % self.lane_groups == 0
        self.check("lane_groups", groups, f"a divisor of n_fma = {self.n_fma}")
        self.check("dot_fraction_bits", self.dot_fraction_bits >= self.fraction_bits, "fraction_bits or more")
        limit, a, b = self.product_limit, self.a_format, self.b_format
        least = max(a.e_min + b.e_max, a.e_max + b.e_min) + 1
        allowed = f"None or from {least} to 4096, above the exponent of every product with a subnormal number"
        self.check("product_limit", limit is None or least <= limit <= 4096, allowed)
        reaches = self.normalised_fraction_bits is None or self.c_format.e_min >= self.d_format.e_min
        self.check("c_format", reaches, "a format with no smaller exponents than d_format's")
        self.check("d_format", self.d_format.has_infinity, "a format with infinities")

    def result(self, x: Terms, stages: list[Stage]) -> Term:
        """Chain the blocks; each result is the next one's c."""

        def sum_of(block: int | None, lanes: slice, c: Term, fmt: Format) -> Term:
            return self._block(block, x.a[lanes], x.b[lanes], c, fmt, stages)

        blocks = [slice(first, first + self.n_fma) for first in range(0, self.k, self.n_fma)]
        return chained(blocks, (x.c, self.c_format), self.d_format, sum_of)

    def _block(
        self,
        block: int | None,
        a: Sequence[Term],
        b: Sequence[Term],
        c: Term,
        c_format: Format,
        stages: list[Stage],
    ) -> Term:
        def seen(kind: Kind, value: Value, term: Term, lane: int | None = None) -> None:
            stages.append(Stage(block, kind, lane, value, term))

        products = []
        for lane, (x, y) in enumerate(zip(a, b, strict=True)):
            product = dp.multiply(dp.decode(self.a_format, x), dp.decode(self.b_format, y))
            if self.product_limit is not None:
                product = dp.overflowing(product, self.product_limit)
            seen(Kind.PRODUCT, product, product.significand, lane)
            products.append(product)
        addend = dp.decode(c_format, c)
        # a zero product stays below every other exponent, c's included
        nowhere = Exponent.constant(min(addend.exponent.low, *(p.exponent.low for p in products)))
        entering = [p.exponent.or_where(p.zero, nowhere) for p in products]
        sums = []
        for group in range(self.lane_groups):
            top = dp.largest(entering[group :: self.lane_groups], nowhere.low)
            fixed = self._sum(products[group :: self.lane_groups], top)
            number = group if self.lane_groups > 1 else None
            seen(Kind.LARGEST_EXPONENT, top, top.term, number)
            seen(Kind.SUM_OF_PRODUCTS, fixed, fixed.word, number)
            sums.append(fixed)
        dot = sums[0]
        if len(sums) > 1:
            top = dp.largest([s.exponent for s in sums], nowhere.low)
            aligned = [dp.realign(s, top, self.fraction_bits, self.realignment) for s in sums]
            dot = dp.accumulate(aligned, max(s.word.width for s in aligned) + len(sums).bit_length())
            seen(Kind.SUM_OF_GROUPS, dot, dot.word)
        total = self._with_c(dot, addend)
        seen(Kind.SUM, total, total.word)
        if self.normalised_fraction_bits is not None:
            total = dp.round_down_normalised(total, self.normalised_fraction_bits, self.d_format.e_min)
            seen(Kind.ROUNDED_DOWN, total, total.word)
        rounded = dp.sign_and_magnitude(total)
        magnitude = dp.round_to(self.d_format, rounded, self.rounding)
        infinite, infinity_sign, nan = dp.special_cases([*products, addend])
        nan_word = self.d_format.nan_word or 0
        result = dp.encode(self.d_format, rounded.sign, magnitude, infinite, infinity_sign, nan, nan_word)
        seen(Kind.RESULT, self.d_format, result)
        return result

    def _sum(self, products: Sequence[Number], top: Exponent) -> Fixed:
        aligned = [dp.align(p, top, self.fraction_bits, self.alignment) for p in products]
        return dp.accumulate(aligned, 3 + self.fraction_bits + len(products).bit_length())

    def _with_c(self, dot: Fixed, c: Number) -> Fixed:
        top = dp.largest([dot.exponent, c.exponent], dot.exponent.low)
        word = c.significand.zext(c.significand.width + 1)
        alone = Fixed(c.sign.ite(-word, word), c.exponent, c.fraction_bits)
        added = dp.realign(alone, top, self.fraction_bits, self.realignment)
        if self.c_reach is not None:
            distance = top.minus(c.exponent)
            near = distance.ule(self.c_reach) if self.c_reach >> distance.width == 0 else None
            added = added if near is None else replace(added, word=near.ite(added.word, 0))
        shifted = dp.realign(dot, top, self.dot_fraction_bits, self.realignment)
        realigned = dp.realign(added, top, self.dot_fraction_bits, self.realignment)
        return dp.accumulate([shifted, realigned], 1 + max(shifted.word.width, realigned.word.width))
