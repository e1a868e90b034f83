"""The truncated fused dot-add, with and without block scales."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import ClassVar

from tcsmt.language.terms import Term, const
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic.datapath import Exponent, Fixed, Number
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.matrix_units.arithmetic.ieee import Zeros, widen
from tcsmt.matrix_units.arithmetic.nans import NanRule, Operand
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.matrix_units.models.base import Model, Terms, chained, choice, lane_count, number
from tcsmt.matrix_units.models.fused_block import (
    LastAddition,
    ResultParameters,
    SumParameters,
    block_result,
    block_sum,
)
from tcsmt.matrix_units.models.stages import Kind, Stage, Value

__all__ = ["EXCLUSIONS", "FusedDotAdd"]

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
    order: the lanes in the order in which blocks take them (None: 0, 1, 2, ...).
    operand_format: a and b are converted to it first, so that a subnormal number that is normal there has the
        exponent of its leading bit (None: they are multiplied as they are).
    fraction_bits: alignment fraction bits F: below the binary point of the largest exponent.
    products: ``unnormalised`` (significand in [1, 4)) or ``normalised`` before alignment.
    alignment: rounding of the bits that alignment shifts out; RTZ is truncation of the magnitude.
    alignment_sticky: they are truncated, and their OR is kept in one more bit.
    alignment_complement: a product whose sign is not c's is subtracted by its ones' complement, so that it
        counts one unit of the grid more, a zero or vanished one too; a sum of zeros alone is zero.
    carry_bits: accumulator bits above the two integer bits; None: enough; fewer wrap.
    normalisation: ``once`` at the end, or ``every`` addition (c first, then lanes in order).
    c_position: ``aligned`` with the products; ``summed`` with their unrounded sum; ``last``, by an
        IEEE addition after all blocks.
    c_rounding: rounding of that addition.
    scale_format, scale_block: format of the block scales, and lanes that share one (None and 0:
        none). Scales join the exponents of the products; a NaN scale makes the result a NaN.
    group: lanes whose products are summed first, before the scales and the alignment. With scales the
        sum is exact, and the alignment sees it as one term with the exponent of its scales, even if it
        cancels; it is a zero term only where every product, or a scale, is zero.
    group_fraction_bits: without scales, the products of a group are aligned to the largest exponent among
        them, with so many fraction bits, and their sum has that exponent (None: no such groups).
    zero_exponent: exponent with which a zero product or zero c enters the maximum; None: the
        exponent that its fields have.
    zero_c: a zero c enters with ``zero_exponent``, too, or with the exponent of its ``fields``.
    c_exponent_offset: c enters the maximum with its exponent and this.
    c_dropped_above: a c smaller than one unit of the grid adds nothing where that unit is larger than 2 to
        the power of this (None: it is rounded as every term).
    c_enters: c takes part in the maximum ``always``; or, with groups and scales, only where it is
        ``leading``: where no product that is not zero has a larger exponent, its scales' included.
        ``leading_by_group``: the same, and where c does not lead, a group of which no product has a larger
        exponent than c is rounded to the grid that c would decide, if that is coarser.
    inner_group: where c is zero or does not lead, so many lanes of a group are summed and aligned apart
        (None: the group is summed whole everywhere).
    group_dropped_below: where the sum lies among the subnormal numbers of D, a group whose exponent is not
        the largest among the groups adds nothing if its aligned magnitude is below 2 to the power of this
        (None: it adds what it is).
    rounding, round_fraction_bits: final rounding, and the fraction bit at which it happens
        (None: the format's last).
    rounded_format: the format to which the sum is rounded, if it is not that of the result: its low bits are
        then cut off (None: d_format).
    overflow: ``infinity``, ``saturate``, or ``ieee`` (by the rounding mode).
    flush_inputs, flush_c, flush_outputs: subnormal a, b and c are read as zero, c alone is, or subnormal
        results become zero.
    subnormal_results: ``rounded`` as others are; or ``misplaced``: the magnitude of the sum, in units of the
        grid, shifted right by its biased exponent plus D's fraction bits, with a sticky bit that looks at the
        bits below D's fraction bits less that many (what RISC-V's pseudo-code of RVBNA says to the letter).
    tininess: which results are subnormal: those whose rounded value is below the smallest normal number
        (``result``), whose exact value is (``before``), or whose value is when rounded with exponents that
        have no lower end (``after``); IEEE 754 (7.5) has the last two.
    negative_zero: a zero sum of negative zeros, or a negative sum that rounds to zero, is -0
        (else every zero is +0).
    nan: the word of every NaN result, or cases such as ``factors: 0xffc00a3d, products: 0xffc00000, c,
        0xffc00000`` (:mod:`tcsmt.matrix_units.arithmetic.nans`); None: the canonical NaN
        (:data:`CANONICAL_NAN`).
    Sources: MMA-Sim III-C, III-D and III-E (GDFS); Khattak and Mikaitis, Table II and Fig. 2-5; AMD's
    published models of RDNA3 and RDNA4; RISC-V's manual; sf-tensor/tcgen05 (c_enters, inner_group,
    group_dropped_below).
    """

    kind: ClassVar[str] = "fused-dot-add"
    title: ClassVar[str] = "one fused sum of products and c"
    a_format: Format
    b_format: Format
    c_format: Format
    d_format: Format
    n_fma: int = lane_count()
    interleave: int = lane_count(default=0)
    order: tuple[int, ...] | None = None
    operand_format: Format | None = None
    fraction_bits: int = number(1, 1024)
    products: str = choice("unnormalised", "normalised")
    alignment: Rounding = RTZ
    alignment_sticky: bool = False
    alignment_complement: bool = False
    carry_bits: int | None = number(0, 16, default=None)
    normalisation: str = choice("once", "every")
    c_position: str = choice("aligned", "summed", "last")
    c_rounding: Rounding = RNE
    scale_format: Format | None = None
    scale_block: int = 0
    group: int = lane_count(default=1)
    group_fraction_bits: int | None = number(1, 1024, default=None)
    zero_exponent: int | None = number(-4096, 4096)
    zero_c: str = choice("zero_exponent", "fields")
    c_exponent_offset: int = number(-16, 16, default=0)
    c_dropped_above: int | None = number(-4096, 4096, default=None)
    c_enters: str = choice("always", "leading", "leading_by_group")
    inner_group: int | None = None
    group_dropped_below: int | None = number(-4096, 4096, default=None)
    rounding: Rounding
    round_fraction_bits: int | None = None
    rounded_format: Format | None = None
    overflow: str = choice("infinity", "saturate", "ieee")
    flush_inputs: bool = False
    flush_c: bool = False
    flush_outputs: bool = False
    subnormal_results: str = choice("rounded", "misplaced")
    tininess: str = choice("result", "before", "after")
    negative_zero: bool = False
    nan: NanRule | None = None

    def validate(self) -> None:
        """What formats and lengths allow, and :data:`EXCLUSIONS`."""
        blocks = self.k // self.n_fma if 1 <= self.n_fma <= self.k else 0
        self.check("n_fma", blocks * self.n_fma == self.k, f"a divisor of k = {self.k}")
        dealt = blocks > 1 and self.interleave > 0 and self.n_fma % self.interleave == 0
        allowed = "0, or, with more than one block, a divisor of n_fma"
        self.check("interleave", self.interleave == 0 or dealt, allowed)
        if isinstance(self.order, Sequence):
            object.__setattr__(self, "order", tuple(self.order))
        lanes = list(range(self.k))
        ordered = self.order is None or (isinstance(self.order, tuple) and sorted(self.order) == lanes)
        self.check("order", ordered, f"a permutation of {lanes}")
        for excludes, others, when in EXCLUSIONS:
            if excludes(self):
                for name in others:
                    usual = _DEFAULTS[name]
                    self.check(name, getattr(self, name) == usual, f"{usual} when {when.format(m=self)}")
        zeros = self.normalisation == "once" or self.zero_exponent is not None
        self.check("zero_exponent", zeros, "a number when normalisation = every")
        self.check("d_format", self.d_format.has_infinity, "a format with infinities")
        least = min(0, 1 - self.c_format.fraction_bits)
        allowed = "0 or more, or above minus c_format's fraction bits"
        self.check("c_exponent_offset", self.c_exponent_offset >= least, allowed)
        self._validate_groups()
        self._validate_formats()
        self._validate_nan()

    def _validate_groups(self) -> None:
        shared = self.n_fma
        if self.scale_format is not None:
            whole = 1 <= self.scale_block <= self.k and self.k % self.scale_block == 0
            self.check("scale_block", whole, f"a divisor of k = {self.k} when the unit has scales")
            shared = min(shared, self.scale_block)
        self.check("group", 1 <= self.group <= shared and shared % self.group == 0, f"a divisor of {shared}")
        inner = self.inner_group
        fits = inner is None or (1 <= inner < self.group and self.group % inner == 0)
        self.check("inner_group", fits, f"None, or a divisor of group = {self.group}, and smaller")

    def _validate_formats(self) -> None:
        factors, wide, d = self.operand_format, self.rounded_format, self.d_format
        held = factors is None or all(_holds(factors, fmt) for fmt in (self.a_format, self.b_format))
        allowed = "None, or a format that has every value of a and b, NaNs and signs included"
        self.check("operand_format", held, allowed)
        alike = wide is None or (
            (wide.exponent_bits, wide.bias, wide.has_infinity) == (d.exponent_bits, d.bias, True)
            and wide.width >= d.width
        )
        self.check("rounded_format", alike, f"None, or a format of which {d.name} is the upper bits")
        kept, most = self.round_fraction_bits, d.fraction_bits
        self.check("round_fraction_bits", kept is None or 1 <= kept <= most, f"None or from 1 to {most}")

    def _validate_nan(self) -> None:
        nan, d = self.nan, self.d_format
        if nan is None:
            return
        objection = nan.objection(self.a_format, self.b_format, self.c_format, d)
        if nan.cases and not objection:
            objection = nan.objection(self.a_format, self.b_format, d, d)
        self.check("nan", not objection, f"a NaN of {d.name}, or cases: {objection}")
        self.check("nan", not (nan.cases and self.c_position == "last"), "one word when c_position = last")
        self.check("nan", not (nan.cases and self.scale_format), "one word when the unit has scales")

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
    def integer_bits(self) -> int:
        """Integer bits of a sum's register below its carry bits: two where products and c are as usual."""
        if self.normalisation == "every":
            return 2
        (*_, whole) = replace(self, carry_bits=None).trace.of(Kind.SUM)
        assert isinstance(whole.value, Fixed)
        return whole.value.word.width - 1 - whole.value.fraction_bits - self.enough_carry_bits

    @property
    def nan_word(self) -> int:
        """The word of a NaN result, if no case of :attr:`nan` says another one."""
        if self.nan is not None:
            return self.nan.otherwise
        return CANONICAL_NAN.get(self.d_format.name, self.d_format.nan_word or 0)

    @property
    def blocks(self) -> list[list[int]]:
        """The lanes of each fused sum, in the order in which the blocks are chained."""
        count = self.k // self.n_fma
        lanes = self.order or range(self.k)
        if not self.interleave:
            return [list(lanes[i * self.n_fma : (i + 1) * self.n_fma]) for i in range(count)]
        return [
            [lane for lane in range(self.k) if lane // self.interleave % count == block]
            for block in range(count)
        ]

    @property
    def factor_formats(self) -> tuple[Format, Format]:
        """The formats of what is multiplied, a's side and b's."""
        return self.operand_format or self.a_format, self.operand_format or self.b_format

    def result(self, x: Terms, stages: list[Stage]) -> Term:
        """Chain the blocks; each result is the next one's c."""
        formats = (self.a_format, self.b_format)
        left, right = (
            [widen(word, own, wide) for word in side]
            for side, own, wide in zip((x.a, x.b), formats, self.factor_formats, strict=True)
        )
        last = self.c_position == "last"

        def sum_of(block: int | None, lanes: Sequence[int], c: Term, fmt: Format) -> Term:
            a, b = ([side[i] for i in lanes] for side in (left, right))
            return self._block(block, a, b, c, fmt, self._scales_of(lanes, x), stages)

        first = (const(0, self.d_format.width), self.d_format) if last else (x.c, self.c_format)
        word = chained(self.blocks, first, self.d_format, sum_of)
        if last:
            added = self.last_addition.sum(word, x.c)
            word = added.word()
            stages.append(Stage(None, Kind.C_ADDED, None, self.d_format, word, added))
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

        nan_word = self._nan_of(a, b, c, c_format)
        result = block_result(
            self.result_parameters(nan_word), block_sum(self.sum_parameters(c_format), a, b, c, scales, seen)
        )
        seen(Kind.RESULT, self.d_format, result, None)
        return result

    def _nan_of(self, a: Sequence[Term], b: Sequence[Term], c: Term, c_format: Format) -> Term:
        """The word that a block's NaN has."""
        rule = self.nan or NanRule((), self.nan_word)

        def operand(fmt: Format, word: Term, *, flush: bool) -> Operand:
            return Operand(fmt, word, dp.decode(fmt, word, flush=const(flush, 1)))

        flush = self.flush_inputs
        of_a, of_b = self.factor_formats
        lanes = [
            (operand(of_a, x, flush=flush), operand(of_b, y, flush=flush)) for x, y in zip(a, b, strict=True)
        ]
        return rule.result(self.d_format, lanes, operand(c_format, c, flush=flush or self.flush_c))

    def sum_parameters(self, c_format: Format) -> SumParameters:
        """What decides a block's sum, where its c is of this format."""
        carry, zero = (
            None if x is None else Exponent.constant(x) for x in (self.carry_bits, self.zero_exponent)
        )
        a, b = self.factor_formats
        return SumParameters(
            a_format=a,
            b_format=b,
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
            flush_c=const(self.flush_c, 1),
            group=self.group,
            group_fraction_bits=self.group_fraction_bits,
            c_exponent_offset=self.c_exponent_offset,
            zero_c_by_fields=self.zero_c == "fields",
            complement=self.alignment_complement,
            c_dropped_above=self.c_dropped_above,
            c_enters=self.c_enters,
            inner_group=self.inner_group,
            group_dropped_below=self.group_dropped_below,
            d_format=self.d_format,
        )

    def result_parameters(self, nan_word: Term) -> ResultParameters:
        """What decides the word that a block's sum becomes."""
        return ResultParameters(
            format=self.d_format,
            rounded_format=self.rounded_format,
            rounding=self.rounding,
            fraction_bits=self.round_fraction_bits,
            overflow=self.overflow,
            flush=const(self.flush_outputs, 1),
            tininess=self.tininess,
            misplaced=self.subnormal_results == "misplaced",
            negative_zero=const(self.negative_zero, 1),
            nan_word=nan_word,
        )

    @property
    def last_addition(self) -> LastAddition:
        """What decides the result where c is added after all blocks."""
        return LastAddition(
            c_format=self.c_format,
            d_format=self.d_format,
            rounding=self.c_rounding,
            flush_input=const(self.flush_inputs or self.flush_c, 1),
            flush_output=self.flush_outputs,
            zeros=Zeros.IEEE if self.negative_zero else Zeros.POSITIVE,
            nan_word=self.nan_word,
        )


#: What only sums that align c with the products, once, have.
_ON_ONE_GRID = (
    "alignment_complement", "c_exponent_offset", "zero_c", "c_dropped_above", "group_fraction_bits",
)  # fmt: skip
#: Features that exclude others: where a unit has one, the parameters of the others have their defaults; in
#: words, when that is.
EXCLUSIONS: tuple[tuple[Callable[[FusedDotAdd], object], tuple[str, ...], str], ...] = (
    (lambda m: m.order, ("interleave",), "order is given"),
    (
        lambda m: m.normalisation == "every",
        ("c_position", "alignment_sticky", "carry_bits", *_ON_ONE_GRID, "subnormal_results"),
        "normalisation = every",
    ),
    (lambda m: m.c_position == "summed", _ON_ONE_GRID, "c_position = summed"),
    (
        lambda m: m.c_position == "last",
        (*_ON_ONE_GRID, "rounded_format", "tininess"),
        "c_position = last",
    ),
    (lambda m: m.alignment_sticky, ("alignment",), "alignment_sticky = True"),
    (
        lambda m: m.alignment_complement,
        ("alignment", "alignment_sticky", "scale_format", "group_fraction_bits", "c_dropped_above"),
        "alignment_complement = True",
    ),
    (
        lambda m: m.scale_format is not None,
        ("order", "interleave", "products", "normalisation", "c_position", "group_fraction_bits"),
        "the unit has scales",
    ),
    (lambda m: m.scale_format is None, ("scale_block",), "scale_format = None"),
    (
        lambda m: m.scale_format is None and m.group_fraction_bits is None,
        ("group",),
        "scale_format and group_fraction_bits are None",
    ),
    (
        lambda m: m.scale_format is not None and m.scale_format.has_infinity,
        ("group",),
        "scales may be infinite",
    ),
    (
        lambda m: m.scale_format is None or m.group == 1,
        ("c_enters", "group_dropped_below"),
        "the unit has no scales, or group = 1",
    ),
    (
        lambda m: m.c_enters != "always",
        ("alignment_sticky", "carry_bits", "c_exponent_offset", "c_dropped_above"),
        "c_enters = {m.c_enters}",
    ),
    (lambda m: m.c_enters != "leading", ("inner_group",), "c_enters is not leading"),
    (lambda m: m.inner_group is not None, ("group_dropped_below",), "inner_group is given"),
    (lambda m: m.flush_inputs, ("operand_format",), "flush_inputs = True"),
    (
        lambda m: m.nan is not None and any(case.word is None for case in m.nan.cases),
        ("operand_format",),
        "nan keeps payloads",
    ),
    (lambda m: m.round_fraction_bits is not None, ("rounded_format",), "round_fraction_bits is given"),
    (lambda m: not m.flush_outputs, ("tininess",), "flush_outputs = False"),
    (lambda m: m.flush_outputs, ("subnormal_results",), "flush_outputs = True"),
    (lambda m: m.rounded_format is not None, ("subnormal_results",), "rounded_format is given"),
    (lambda m: m.d_format.ignored_low_bits, ("subnormal_results",), "bits of d_format are ignored"),
)
_DEFAULTS = {one.name: one.default for one in fields(FusedDotAdd)}


def _holds(wide: Format, narrow: Format) -> bool:
    """Whether a format has every value of another: its numbers, its negative zero, infinities and a NaN."""
    infinities = wide.has_infinity >= narrow.has_infinity
    zeros = wide.has_negative_zero >= narrow.has_negative_zero
    nans = wide.nan_word is not None or narrow.nan_word is None
    return wide.holds(narrow) and infinities and zeros and nans
