"""The truncated fused dot-add, with and without block scales."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tcsmt.language.terms import Term, const
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic.datapath import Fixed, Number
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.matrix_units.arithmetic.ieee import Zeros, widen
from tcsmt.matrix_units.arithmetic.nans import NanRule, Operand
from tcsmt.matrix_units.models.base import Parameters, Terms, chained
from tcsmt.matrix_units.models.composition import ComposedModel
from tcsmt.matrix_units.models.fused_block import (
    BlockWords,
    FreeParameters,
    LastAddition,
    block_result,
    block_sum,
)
from tcsmt.matrix_units.models.fused_parameters import FusedParameters
from tcsmt.matrix_units.models.fused_parts import (
    CLast,
    ComplementedGrid,
    ConvertedFactors,
    Factors,
    Final,
    FlushedSubnormals,
    FusedSum,
    Interleaved,
    Lanes,
    LeadsInnerGroups,
    LedGrid,
    MisplacedSubnormals,
    OneByOne,
    OneGrid,
    Ordered,
    Products,
    RoundedWider,
    ScaledGroups,
    ScaledProducts,
)
from tcsmt.matrix_units.models.stages import Kind, Stage, Value

#: The NaN of units that know one alone; of other formats it is the quiet NaN that IEEE 754 prefers.
CANONICAL_NAN = {"f32": 0x7FFFFFFF, "f16": 0x7FFF}


@dataclass(frozen=True, kw_only=True)
class FusedDotAdd(ComposedModel[FusedParameters]):
    """The truncated fused dot-add, composed of its stages.

    ``FusedDotAdd.of(...)`` makes it of flat parameters, which :class:`.FusedParameters` declares and
    :attr:`parameters` gives back; the stages are the closed alternatives of
    :mod:`tcsmt.matrix_units.models.fused_parts`.

    lanes: which products are one fused sum. factors: what is multiplied. sum: how products and c are added.
    final: from the sum to a word.

    Decisions where sources differ: products are not normalised before alignment (measured: the
    2.25 product test); a subnormal operand or c keeps the smallest exponent; a finite product
    never overflows (only the rounded result does); an infinite c passes through a chain unless a
    NaN or the other infinity meets it; every NaN is the canonical one; zero results are +0;
    tf32's low 13 bits are ignored, so that a NaN whose payload lies there reads as infinity.

    >>> FusedDotAdd.of(
    ...     a_format="f16", b_format="f16", c_format="f32", d_format="f32", k=4, n_fma=4,
    ...     fraction_bits=23, zero_exponent=-126, rounding="RTZ",
    ... ).sum.fraction_bits
    23
    """

    kind: ClassVar[str] = "fused-dot-add"
    declared: ClassVar[type[Parameters]] = FusedParameters
    title: ClassVar[str] = "one fused sum of products and c"
    a_format: Format
    b_format: Format
    c_format: Format
    d_format: Format
    lanes: Lanes
    factors: Factors
    sum: FusedSum
    final: Final

    def validate(self) -> None:
        """Check what formats and lengths allow, and what a stage's values exclude in another stage."""
        lanes, n_fma = self.lanes, self.lanes.n_fma
        blocks = self.k // n_fma if 1 <= n_fma <= self.k else 0
        self.check("n_fma", blocks * n_fma == self.k, f"a divisor of k = {self.k}")
        if isinstance(lanes, Interleaved):
            dealt = blocks > 1 and lanes.interleave > 0 and n_fma % lanes.interleave == 0
            self.check("interleave", dealt, "0, or, with more than one block, a divisor of n_fma")
        if isinstance(lanes, Ordered):
            every = [*range(self.k)]
            self.check("order", sorted(lanes.order) == every, f"a permutation of {every}")
        self.check("d_format", self.d_format.has_infinity, "a format with infinities")
        self._validate_sum()
        self._validate_terms()
        self._validate_formats()
        self._validate_final()
        self._validate_nan()

    def _validate_sum(self) -> None:
        total = self.sum
        if isinstance(total, OneByOne):
            self.check(
                "zero_exponent", total.zero_exponent is not None, "a number when normalisation = every"
            )
        if isinstance(total, (OneGrid, ComplementedGrid)):
            least = min(0, 1 - self.c_format.fraction_bits)
            allowed = "0 or more, or above minus c_format's fraction bits"
            self.check("c_exponent_offset", total.c_exponent_offset >= least, allowed)
        if isinstance(total, LedGrid) and isinstance(total.c_leads, LeadsInnerGroups):
            inner, group = total.c_leads.inner_group, total.terms.group
            fits = 1 <= inner < group and group % inner == 0
            self.check("inner_group", fits, f"None, or a divisor of group = {group}, and smaller")
            kept = total.terms.group_dropped_below is None
            self.check("group_dropped_below", kept, "None when inner_group is given")

    def _validate_terms(self) -> None:
        terms, shared = self.sum.terms, self.lanes.n_fma
        if isinstance(terms, (ScaledGroups, ScaledProducts)):
            block = terms.scale_block
            divides = 1 <= block <= self.k and self.k % block == 0
            self.check("scale_block", divides, f"a divisor of k = {self.k} when the unit has scales")
            shared = min(shared, block)
            for name, kind, usual in (("order", Ordered, None), ("interleave", Interleaved, 0)):
                self.check(name, not isinstance(self.lanes, kind), f"{usual} when the unit has scales")
        if not isinstance(terms, Products):
            self.check(
                "group", 1 <= terms.group <= shared and shared % terms.group == 0, f"a divisor of {shared}"
            )
        if isinstance(terms, ScaledGroups):
            self.check("group", not terms.scale_format.has_infinity, "1 when scales may be infinite")

    def _validate_formats(self) -> None:
        d = self.d_format
        if isinstance(self.factors, ConvertedFactors):
            wide, nan = self.factors.operand_format, self.final.nan
            held = all(_holds(wide, fmt) for fmt in (self.a_format, self.b_format))
            allowed = "None, or a format that has every value of a and b, NaNs and signs included"
            self.check("operand_format", held, allowed)
            payloads = nan is not None and any(case.word is None for case in nan.cases)
            self.check("operand_format", not payloads, "None when nan keeps payloads")
        kept, most = self.final.precision.round_fraction_bits, d.fraction_bits
        self.check("round_fraction_bits", kept is None or 1 <= kept <= most, f"None or from 1 to {most}")
        if isinstance(self.final.precision, RoundedWider):
            wide = self.final.precision.rounded_format
            alike = (wide.exponent_bits, wide.bias, wide.has_infinity) == (d.exponent_bits, d.bias, True)
            allowed = f"None, or a format of which {d.name} is the upper bits"
            self.check("rounded_format", alike and wide.width >= d.width, allowed)

    def _validate_final(self) -> None:
        wider, small = isinstance(self.final.precision, RoundedWider), self.final.subnormals
        if isinstance(self.sum, CLast):
            self.check("rounded_format", not wider, "None when c_position = last")
            usual = not isinstance(small, FlushedSubnormals) or small.tininess == "result"
            self.check("tininess", usual, "result when c_position = last")
        if isinstance(small, MisplacedSubnormals):
            name, rounded = "subnormal_results", "rounded when"
            once = not isinstance(self.sum, OneByOne)
            self.check(name, once, f"{rounded} normalisation = every")
            self.check(name, not wider, f"{rounded} rounded_format is given")
            self.check(name, not self.d_format.ignored_low_bits, f"{rounded} bits of d_format are ignored")

    def _validate_nan(self) -> None:
        nan, d = self.final.nan, self.d_format
        if nan is None:
            return
        objection = nan.objection(self.a_format, self.b_format, self.c_format, d)
        if nan.cases and not objection:
            objection = nan.objection(self.a_format, self.b_format, d, d)
        self.check("nan", not objection, f"a NaN of {d.name}, or cases: {objection}")
        last = isinstance(self.sum, CLast)
        self.check("nan", not (nan.cases and last), "one word when c_position = last")
        self.check("nan", not (nan.cases and self.scale_format), "one word when the unit has scales")

    @property
    def scale_format(self) -> Format | None:
        """Return the format of the block scales; None: the unit has none."""
        terms = self.sum.terms
        return terms.scale_format if isinstance(terms, (ScaledGroups, ScaledProducts)) else None

    @property
    def scales(self) -> int:
        """Return how many block scales a has, and b."""
        terms = self.sum.terms
        return self.k // terms.scale_block if isinstance(terms, (ScaledGroups, ScaledProducts)) else 0

    @property
    def group(self) -> int:
        """Return how many lanes' products are one term."""
        return 1 if isinstance(self.sum.terms, Products) else self.sum.terms.group

    @property
    def extra_alignment_bits(self) -> int:
        """Return n_eab: alignment fraction bits beyond the output's (F - 23 for FP32 output).

        Khattak and Mikaitis count them against FP32 whatever the output format is.
        """
        return self.sum.fraction_bits - FORMATS["f32"].fraction_bits

    @property
    def enough_carry_bits(self) -> int:
        """Return how many carry bits always suffice: ceil(log2(t + 1)), t = n_fma / group terms and c."""
        return (self.lanes.n_fma // self.group).bit_length()

    @property
    def integer_bits(self) -> int:
        """Return a sum register's integer bits below its carry bits: two where products and c are usual."""
        if isinstance(self.sum, OneByOne):
            return 2
        (*_, total) = self.replace(carry_bits=None).trace.of(Kind.SUM)
        assert isinstance(total.value, Fixed)
        return total.value.word.width - 1 - total.value.fraction_bits - self.enough_carry_bits

    @property
    def nan_word(self) -> int:
        """Return the word of a NaN result, if no case of the rule says another one."""
        if self.final.nan is not None:
            return self.final.nan.otherwise
        return CANONICAL_NAN.get(self.d_format.name, self.d_format.nan_word or 0)

    @property
    def blocks(self) -> list[list[int]]:
        """Return the lanes of each fused sum, in the order in which the blocks are chained."""
        return self.lanes.blocks(self.k)

    @property
    def factor_formats(self) -> tuple[Format, Format]:
        """Return the formats of what is multiplied, a's side and b's."""
        operand_format = self.factors.operand_format
        return operand_format or self.a_format, operand_format or self.b_format

    def result(self, x: Terms, stages: list[Stage]) -> Term:
        """Chain the blocks; each result is the next one's c."""
        formats = (self.a_format, self.b_format)
        left, right = (
            [widen(word, own, wide) for word in side]
            for side, own, wide in zip((x.a, x.b), formats, self.factor_formats, strict=True)
        )

        def sum_of(block: int | None, lanes: Sequence[int], c: Term, fmt: Format) -> Term:
            a, b = self.factor_formats
            words = BlockWords(
                a_format=a, b_format=b, c_format=fmt, d_format=self.d_format,
                a=[left[i] for i in lanes], b=[right[i] for i in lanes], c=c,
                scales=self._scales_of(lanes, x),
            )  # fmt: skip
            return self._block(block, words, stages)

        if not isinstance(self.sum, CLast):
            return chained(self.blocks, (x.c, self.c_format), self.d_format, sum_of)
        zero = (const(0, self.d_format.width), self.d_format)
        added = self.last_addition.sum(chained(self.blocks, zero, self.d_format, sum_of), x.c)
        word = added.word()
        stages.append(Stage(None, Kind.C_ADDED, None, self.d_format, word, added))
        return word

    def _scales_of(self, lanes: Sequence[int], x: Terms) -> list[Number]:
        """Return the product of both scales of each group of lanes; empty without scales."""
        terms, scale_a, scale_b = self.sum.terms, x.scale_a, x.scale_b
        if not isinstance(terms, (ScaledGroups, ScaledProducts)) or scale_a is None or scale_b is None:
            return []
        fmt, owners = terms.scale_format, [lane // terms.scale_block for lane in lanes[:: terms.group]]
        return [dp.multiply(dp.decode(fmt, scale_a[i]), dp.decode(fmt, scale_b[i])) for i in owners]

    def _block(self, block: int | None, x: BlockWords, stages: list[Stage]) -> Term:
        def seen(kind: Kind, value: Value, term: Term, lane: int | None) -> None:
            stages.append(Stage(block, kind, lane, value, term))

        nan_word = self._nan_of(x)
        total = block_sum(self.sum, FreeParameters.of(self.factors, self.sum), x, seen)
        flushes = isinstance(self.final.subnormals, FlushedSubnormals)
        result = block_result(
            self.final, self.d_format, total,
            flush=const(flushes, 1), negative_zero=const(self.final.negative_zero, 1), nan_word=nan_word,
        )  # fmt: skip
        seen(Kind.RESULT, self.d_format, result, None)
        return result

    def _nan_of(self, x: BlockWords) -> Term:
        """Return the word that a block's NaN has."""
        rule = self.final.nan or NanRule((), self.nan_word)

        def operand(fmt: Format, word: Term, *, flush: bool) -> Operand:
            return Operand(fmt, word, dp.decode(fmt, word, flush=const(flush, 1)))

        flush = self.factors.flush_inputs
        lanes = [
            (operand(x.a_format, a, flush=flush), operand(x.b_format, b, flush=flush))
            for a, b in zip(x.a, x.b, strict=True)
        ]
        return rule.result(
            self.d_format, lanes, operand(x.c_format, x.c, flush=flush or self.factors.flush_c)
        )

    @property
    def last_addition(self) -> LastAddition:
        """Return what decides the result if c is added after all blocks. Raises :class:`TypeError` else."""
        if not isinstance(self.sum, CLast):
            raise TypeError("c is not added after all blocks")
        return LastAddition(
            c_format=self.c_format,
            d_format=self.d_format,
            rounding=self.sum.c_rounding,
            flush_input=const(self.factors.flush_inputs or self.factors.flush_c, 1),
            flush_output=isinstance(self.final.subnormals, FlushedSubnormals),
            zeros=Zeros.IEEE if self.final.negative_zero else Zeros.POSITIVE,
            nan_word=self.nan_word,
        )


def _holds(wide: Format, narrow: Format) -> bool:
    """Return whether a format has every value of another: numbers, negative zero, infinities, a NaN."""
    infinities = wide.has_infinity >= narrow.has_infinity
    zeros = wide.has_negative_zero >= narrow.has_negative_zero
    nans = wide.nan_word is not None or narrow.nan_word is None
    return wide.holds(narrow) and infinities and zeros and nans
