"""The truncated fused dot-add, with and without block scales."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tcsmt.arithmetic import datapath as dp
from tcsmt.arithmetic.datapath import Exponent, Number
from tcsmt.arithmetic.formats import FORMATS, Format
from tcsmt.arithmetic.ieee import Zeros
from tcsmt.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.models.base import Model, Terms, choice
from tcsmt.models.fused_block import (
    LastAddition,
    ResultParameters,
    SumParameters,
    block_result,
    block_sum,
)
from tcsmt.models.stages import Kind, Stage, Value
from tcsmt.terms import Term, const

__all__ = ["FusedDotAdd"]

RTZ, RNE = ROUNDINGS["RTZ"], ROUNDINGS["RNE"]
#: The NaN of units that know one alone; of other formats it is the quiet NaN that IEEE 754 prefers.
CANONICAL_NAN = {"f32": 0x7FFFFFFF, "f16": 0x7FFF}


@dataclass(frozen=True, kw_only=True)
class FusedDotAdd(Model):
    """The truncated fused dot-add, with every feature a parameter.

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
    nan: the word of every NaN result; None: the canonical NaN (:data:`CANONICAL_NAN`).
    Sources: MMA-Sim III-C, III-D and III-E (GDFS); Khattak and Mikaitis, Table II and Fig. 2-5.
    """

    kind: ClassVar[str] = "fused-dot-add"
    title: ClassVar[str] = "one fused sum of products and c"
    a_format: Format
    b_format: Format
    c_format: Format
    d_format: Format
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
        self.check(
            "carry_bits", carry is None or 0 <= carry <= 16, "None (as many as needed) or from 0 to 16"
        )
        if self.normalisation == "every":
            self.check("c_position", self.c_position == "aligned", "aligned when normalisation = every")
            self.check("alignment_sticky", not self.alignment_sticky, "False when normalisation = every")
            self.check("carry_bits", carry is None, "None when normalisation = every")
            self.check(
                "zero_exponent",
                self.zero_exponent is not None,
                "a number when normalisation = every",
            )
        self._validate_scales()
        if self.alignment_sticky:
            self.check("alignment", self.alignment is RTZ, "RTZ when alignment_sticky = True")
        zero = self.zero_exponent
        self.check("zero_exponent", zero is None or -4096 <= zero <= 4096, "None or from -4096 to 4096")
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
            self.check("scale_block", block == 0, "0 when scale_format = None")
            self.check("group", self.group == 1, "1 when scale_format = None")
            return
        self.check("scale_block", whole, f"a divisor of k = {self.k} when the unit has scales")
        shared = min(self.n_fma, block)
        self.check("group", 1 <= self.group <= shared and shared % self.group == 0, f"a divisor of {shared}")
        self.check("interleave", self.interleave == 0, "0 when the unit has scales")
        self.check("products", self.products == "unnormalised", "unnormalised when the unit has scales")
        self.check("normalisation", self.normalisation == "once", "once when the unit has scales")
        self.check("c_position", self.c_position == "aligned", "aligned when the unit has scales")

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
        return CANONICAL_NAN.get(self.d_format.name, self.d_format.nan_word or 0)

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

    def result(self, x: Terms, stages: list[Stage]) -> Term:
        """Chain the blocks; each result is the next one's c."""
        last = self.c_position == "last"
        word, fmt = (const(0, self.d_format.width), self.d_format) if last else (x.c, self.c_format)
        for number, lanes in enumerate(self.blocks):
            block = number if len(self.blocks) > 1 else None
            a, b = ([side[i] for i in lanes] for side in (x.a, x.b))
            word = self._block(block, a, b, word, fmt, self._scales_of(lanes, x), stages)
            fmt = self.d_format
        if last:
            added = self.last_addition.sum(word, x.c)
            word = added.word()
            stages.append(Stage(None, Kind.C_ADDED, None, fmt, word, added))
        return word

    def _scales_of(self, lanes: Sequence[int], x: Terms) -> list[Number]:
        """The product of both scales of each group of lanes; empty without scales."""
        fmt, scale_a, scale_b = self.scale_format, x.scale_a, x.scale_b
        if fmt is None or scale_a is None or scale_b is None:
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
        def seen(kind: Kind, value: Value, term: Term, lane: int | None) -> None:
            stages.append(Stage(block, kind, lane, value, term))

        result = block_result(
            self.result_parameters, block_sum(self.sum_parameters(c_format), a, b, c, scales, seen)
        )
        seen(Kind.RESULT, self.d_format, result, None)
        return result

    def sum_parameters(self, c_format: Format) -> SumParameters:
        """What decides a block's sum, where its c is of this format."""
        carry, zero = (
            None if x is None else Exponent.constant(x) for x in (self.carry_bits, self.zero_exponent)
        )
        return SumParameters(
            a_format=self.a_format,
            b_format=self.b_format,
            c_format=c_format,
            normalised_products=self.products == "normalised",
            normalised_each=self.normalisation == "every",
            c_after=self.c_position == "summed",
            fraction_bits=self.fraction_bits,
            alignment=self.alignment,
            alignment_sticky=self.alignment_sticky,
            carry_bits=carry,
            zero_exponent=zero,
            flush=const(self.flush_inputs, 1),
            group=self.group,
        )

    @property
    def result_parameters(self) -> ResultParameters:
        """What decides the word that a block's sum becomes."""
        return ResultParameters(
            format=self.d_format,
            rounding=self.rounding,
            fraction_bits=self.round_fraction_bits,
            overflow=self.overflow,
            flush=const(self.flush_outputs, 1),
            negative_zero=const(self.negative_zero, 1),
            nan_word=self.nan_word,
        )

    @property
    def last_addition(self) -> LastAddition:
        """What decides the result where c is added after all blocks."""
        return LastAddition(
            c_format=self.c_format,
            d_format=self.d_format,
            rounding=self.c_rounding,
            flush_input=const(self.flush_inputs, 1),
            flush_output=self.flush_outputs,
            zeros=Zeros.IEEE if self.negative_zero else Zeros.POSITIVE,
            nan_word=self.nan_word,
        )
