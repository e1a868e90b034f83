"""The truncated fused dot-product-add of NVIDIA's units, with and without block scales."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from tcsmt.arithmetic import datapath as dp
from tcsmt.arithmetic import ieee
from tcsmt.arithmetic.datapath import Exponent, Fixed, Number
from tcsmt.arithmetic.formats import FORMATS, Format
from tcsmt.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.models.base import Model, Trace, choice
from tcsmt.models.stages import Kind, Stage, Value
from tcsmt.terms import Term, const

__all__ = ["FusedDotAdd"]

RTZ, RNE = ROUNDINGS["RTZ"], ROUNDINGS["RNE"]
NVIDIA_NAN = {"f32": 0x7FFFFFFF, "f16": 0x7FFF}


@dataclass(frozen=True, kw_only=True)
class FusedDotAdd(Model):
    """The truncated fused dot-product-add of NVIDIA's units, with every feature a parameter.

    Decisions where sources differ: products are not normalised before alignment (measured: the
    2.25 product test); a subnormal operand or c keeps the smallest exponent; a finite product
    never overflows (only the rounded result does); an infinite c passes through a chain unless a
    NaN or the other infinity meets it; every NaN is the canonical one; zero results are +0;
    tf32's low 13 bits are ignored, so that a NaN whose payload lies there reads as infinity.

    n_fma: products in one fused sum (block FMA size N_FMA); divides k.
    interleave: 0 chains contiguous blocks; g > 0 deals groups of g lanes to the blocks in turn.
    fraction_bits: alignment fraction bits F: below the binary point of the largest exponent.
    products: ``unnormalised`` (significand in [1, 4)) or ``normalised`` before alignment.
    alignment: rounding of the bits that alignment shifts out; RTZ is truncation of the magnitude.
    alignment_sticky: they are truncated, and their OR is kept in one more bit.
    carry_bits: accumulator bits above the two integer bits; None: enough; fewer wrap.
    normalisation: ``once`` at the end, or ``every`` addition (c first, then lanes in order).
    c_position: ``aligned`` with the products; ``summed`` with their unrounded sum; ``last``, by an
        IEEE addition with rounding ``c_rounding`` after all blocks.
    scale_format, scale_block: format of the block scales, and lanes that share one (None and 0:
        none). Scales join the exponents of the products; a NaN scale makes the result a NaN.
    group: lanes whose products are summed exactly, before the scales and the alignment; the
        alignment sees such a sum as one term with the exponent of its scales, even if it cancels;
        it is a zero term only where every product, or a scale, is zero.
    zero_exponent: exponent with which a zero product or zero c enters the maximum; None: the
        exponent that its fields have.
    rounding, round_fraction_bits: final rounding, and the fraction bit at which it happens
        (None: the format's last).
    overflow: ``infinity``, ``saturate``, or ``ieee`` (by the rounding mode).
    flush_inputs, flush_outputs: subnormal numbers become zero.
    negative_zero: a zero sum of negative zeros, or a negative sum that rounds to zero, is -0
        (else every zero is +0).
    nan: the word of every NaN result; None: NVIDIA's canonical NaN.
    Sources: MMA-Sim III-C, III-D and III-E (GDFS); Khattak and Mikaitis, Table II and Fig. 2-5.
    """

    kind: ClassVar[str] = "fused-dot-add"
    title: ClassVar[str] = "one fused sum of products and c"
    n_fma: int
    interleave: int = 0
    fraction_bits: int
    products: str = choice("unnormalised", "normalised")
    alignment: Rounding = RTZ
    alignment_sticky: bool = False
    carry_bits: int | None = None
    normalisation: str = choice("once", "every")
    c_position: str = choice("aligned", "summed", "last")
    c_rounding: Rounding = RNE
    scale_format: Format | None = None
    scale_block: int = 0
    group: int = 1
    zero_exponent: int | None
    rounding: Rounding
    round_fraction_bits: int | None = None
    overflow: str = choice("infinity", "saturate", "ieee")
    flush_inputs: bool = False
    flush_outputs: bool = False
    negative_zero: bool = False
    nan: int | None = None

    def validate(self) -> None:
        """Ranges, and combinations that contradict each other."""
        blocks = self.k // self.n_fma if 1 <= self.n_fma <= self.k else 0
        self.check("n_fma", blocks * self.n_fma == self.k, f"a divisor of k = {self.k}")
        self.check(
            "interleave",
            self.interleave == 0
            or (blocks > 1 and self.interleave > 0 and self.n_fma % self.interleave == 0),
            "0, or, with more than one block, a divisor of n_fma",
        )
        self.check("fraction_bits", 1 <= self.fraction_bits <= 1024, "from 1 to 1024")
        carry = self.carry_bits
        self.check("carry_bits", carry is None or 0 <= carry <= 16, "None (enough) or 0 to 16")
        if self.normalisation == "every":
            self.check("c_position", self.c_position == "aligned", "aligned, as normalisation = every")
            self.check("alignment_sticky", not self.alignment_sticky, "False, as normalisation = every")
            self.check("carry_bits", carry is None, "None, as normalisation = every")
            self.check(
                "zero_exponent",
                self.zero_exponent is not None,
                "a number, as normalisation = every",
            )
        self._validate_scales()
        if self.alignment_sticky:
            self.check("alignment", self.alignment is RTZ, "RTZ, as alignment_sticky = True")
        zero = self.zero_exponent
        self.check("zero_exponent", zero is None or -4096 <= zero <= 4096, "None or -4096 to 4096")
        kept = self.round_fraction_bits
        most = self.d_format.fraction_bits
        self.check("round_fraction_bits", kept is None or 1 <= kept <= most, f"None or from 1 to {most}")
        self.check("d_format", self.d_format.has_infinity, "a format with infinities")
        nan = self.nan
        self.check("nan", nan is None or self.d_format.is_nan(nan), f"a NaN of {self.d_format.name}")

    def _validate_scales(self) -> None:
        scaled, block = self.scale_format is not None, self.scale_block
        whole = 1 <= block <= self.k and self.k % block == 0
        if not scaled:
            self.check("scale_block", block == 0, "0, as scale_format = None")
            self.check("group", self.group == 1, "1, as scale_format = None")
            return
        self.check("scale_block", whole, f"a divisor of k = {self.k}, as there are scales")
        shared = min(self.n_fma, block)
        self.check("group", 1 <= self.group <= shared and shared % self.group == 0, f"a divisor of {shared}")
        self.check("interleave", self.interleave == 0, "0, as there are scales")
        self.check("products", self.products == "unnormalised", "unnormalised, as there are scales")
        self.check("normalisation", self.normalisation == "once", "once, as there are scales")
        self.check("c_position", self.c_position == "aligned", "aligned, as there are scales")

    @property
    def scales(self) -> int:
        """Block scales of a, and of b."""
        return self.k // self.scale_block if self.scale_block else 0

    @property
    def extra_alignment_bits(self) -> int:
        """n_eab: alignment fraction bits beyond the output's (F - 23 for FP32 output).

        Khattak and Mikaitis count them against FP32 whatever the output format is.
        """
        return self.fraction_bits - FORMATS["f32"].fraction_bits

    @property
    def enough_carry_bits(self) -> int:
        """Carry bits that always suffice: ceil(log2(t + 1)), t = n_fma / group terms and c."""
        return (self.n_fma // self.group).bit_length()

    @property
    def nan_word(self) -> int:
        """The word of every NaN result."""
        if self.nan is not None:
            return self.nan
        return NVIDIA_NAN.get(self.d_format.name, self.d_format.nan_word or 0)

    @property
    def blocks(self) -> list[list[int]]:
        """The lanes of each fused sum, in the order in which the blocks are chained."""
        count = self.k // self.n_fma
        if not self.interleave:
            return [list(range(i * self.n_fma, (i + 1) * self.n_fma)) for i in range(count)]
        return [
            [lane for lane in range(self.k) if lane // self.interleave % count == block]
            for block in range(count)
        ]

    def apply(
        self,
        a: Sequence[Term],
        b: Sequence[Term],
        c: Term,
        scale_a: Sequence[Term] = (),
        scale_b: Sequence[Term] = (),
    ) -> Trace:
        """Chain the blocks; each result is the next one's c."""
        stages: list[Stage] = []
        last = self.c_position == "last"
        word, fmt = (const(0, self.d_format.width), self.d_format) if last else (c, self.c_format)
        for number, lanes in enumerate(self.blocks):
            block = number if len(self.blocks) > 1 else None
            scales = self._scales_of(lanes, scale_a, scale_b)
            word = self._block(block, [a[i] for i in lanes], [b[i] for i in lanes], word, fmt, scales, stages)
            fmt = self.d_format
        if last:
            added = self._add_last(word, c)
            word = added.word()
            stages.append(Stage(None, Kind.C_ADDED, None, fmt, word, added))
        return Trace(tuple(a), tuple(b), c, tuple(stages), word, tuple(scale_a), tuple(scale_b))

    def _scales_of(
        self, lanes: Sequence[int], scale_a: Sequence[Term], scale_b: Sequence[Term]
    ) -> list[Number]:
        """The product of both scales of each group of lanes; empty without scales."""
        fmt = self.scale_format
        if fmt is None:
            return []
        owners = [lane // self.scale_block for lane in lanes[:: self.group]]
        return [dp.multiply(dp.decode(fmt, scale_a[i]), dp.decode(fmt, scale_b[i])) for i in owners]

    def _block(
        self,
        block: int | None,
        a: Sequence[Term],
        b: Sequence[Term],
        c: Term,
        c_format: Format,
        scales: Sequence[Number],
        stages: list[Stage],
    ) -> Term:
        def seen(kind: Kind, value: Value, term: Term, lane: int | None = None) -> None:
            stages.append(Stage(block, kind, lane, value, term))

        products = []
        for x, y in zip(a, b, strict=True):
            product = dp.multiply(
                dp.decode(self.a_format, x, flush=self.flush_inputs),
                dp.decode(self.b_format, y, flush=self.flush_inputs),
            )
            if self.products == "normalised":
                product = dp.normalise_number(product)
            products.append(product)
        addend = dp.decode(c_format, c, flush=self.flush_inputs)
        for lane, product in enumerate(products):
            seen(Kind.PRODUCT, product, product.significand, lane)
        if self.group > 1:
            products = [
                dp.exact_total(products[i : i + self.group]) for i in range(0, len(products), self.group)
            ]
            for number, product in enumerate(products):
                seen(Kind.GROUP_SUM, product, product.significand, number)
        if scales:
            products = [dp.multiply(p, scale) for p, scale in zip(products, scales, strict=True)]
            kind = Kind.SCALED_PRODUCT if self.group == 1 else Kind.SCALED_GROUP
            for number, product in enumerate(products):
                seen(kind, product, product.significand, number)
        terms = [*products, addend]
        if self.normalisation == "every":
            fixed = self._sum_one_by_one(terms)
        elif self.c_position == "summed":
            fixed = self._sum_then_c(products, addend)
        else:
            top = self._largest(terms)
            seen(Kind.LARGEST_EXPONENT, top, top.term)
            fixed = self._sum(terms, top, seen)
        seen(Kind.SUM, fixed, fixed.word)
        rounded = dp.sign_and_magnitude(fixed)
        magnitude = dp.round_to(
            self.d_format,
            rounded,
            self.rounding,
            fraction_bits=self.round_fraction_bits,
            overflow=self.overflow,
            flush=self.flush_outputs,
        )
        if self.negative_zero:
            sign = rounded.sign | dp.all_negative_zero(terms)
        else:
            sign = rounded.sign & magnitude.ne(0)
        infinite, infinity_sign, nan = dp.special_cases(terms)
        result = dp.encode(self.d_format, sign, magnitude, infinite, infinity_sign, nan, self.nan_word)
        seen(Kind.RESULT, self.d_format, result)
        return result

    def _largest(self, terms: Sequence[Number]) -> Exponent:
        """The maximum exponent, with ``zero_exponent`` for zero terms.

        Alignment shifts a zero term by whatever its fields say: it stays zero.
        """
        # counted from a base that leaves room for any zero_exponent in use, so that models which
        # differ in it are the same graph from here on
        base = min(t.exponent.low for t in terms) - 16
        return dp.largest([self._entering(t) for t in terms], base)

    def _entering(self, x: Number) -> Exponent:
        if self.zero_exponent is None:
            return x.exponent
        return x.exponent.or_where(x.zero, Exponent.constant(self.zero_exponent))

    def _aligned(self, x: Number, top: Exponent) -> Fixed:
        return dp.align(x, top, self.fraction_bits, self.alignment, sticky=self.alignment_sticky)

    def _sum(self, terms: Sequence[Number], top: Exponent, seen: Any = None) -> Fixed:
        """The fused sum, in a register of ``carry_bits`` where they are given."""
        aligned = [self._aligned(t, top) for t in terms]
        if seen:
            *products, c = aligned
            for lane, product in enumerate(products):
                seen(Kind.ALIGNED_PRODUCT, product, product.word, lane)
            seen(Kind.ALIGNED_C, c, c.word)
        # two integer bits hold a product; a scaled sum of a group may need more
        integer = max(2, *(t.integer_bits for t in terms)) if self.scale_format is not None else 2
        whole = 1 + integer + self.fraction_bits + self.alignment_sticky
        if self.carry_bits is None:
            return dp.accumulate(aligned, whole + self.enough_carry_bits)
        # one bit more than any sum needs, so that "enough" is a theorem and not a definition
        spare = max(self.carry_bits, self.enough_carry_bits + 1)
        return dp.accumulate(aligned, whole + spare, whole + self.carry_bits)

    def _sum_then_c(self, products: Sequence[Number], c: Number) -> Fixed:
        """Products summed exactly on their own grid; that sum and c aligned once more."""
        own = self._largest(products)
        aligned = [self._aligned(p, own) for p in products]
        whole = dp.accumulate(aligned, 3 + aligned[0].fraction_bits + self.enough_carry_bits)
        return self._sum([dp.as_number(whole), c], dp.largest([own, self._entering(c)], own.low))

    def _sum_one_by_one(self, terms: Sequence[Number]) -> Fixed:
        """c, then each product: two-operand sums, normalised and truncated to F bits each time."""
        bits = self.fraction_bits
        partial = terms[-1]
        for term in terms[:-1]:
            top = self._largest([partial, term])
            pair = [self._aligned(partial, top), self._aligned(term, top)]
            whole = dp.normalise_number(dp.sign_and_magnitude(dp.accumulate(pair, 5 + bits)).number)
            width = whole.significand.width
            partial = replace(
                whole,
                significand=whole.significand[width - 1 : width - 1 - bits],
                fraction_bits=bits,
            )
        return dp.as_fixed(partial)

    def _add_last(self, word: Term, c: Term) -> ieee.RoundedSum:
        return ieee.RoundedSum(
            terms=(dp.decode(self.d_format, word), dp.decode(self.c_format, c, flush=self.flush_inputs)),
            format=self.d_format,
            rounding=self.c_rounding,
            flush=self.flush_outputs,
            nan_word=self.nan_word,
            zeros=ieee.Zeros.IEEE if self.negative_zero else ieee.Zeros.POSITIVE,
        )
