"""Sums of groups of lanes, each on a grid of its own, aligned together with c."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from tcsmt.language.terms import FALSE, TRUE, Term, const
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic.datapath import Exponent, Fixed, Number
from tcsmt.matrix_units.arithmetic.formats import Format, Specials
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.matrix_units.models.base import Model, Terms, choice, lane_count, number
from tcsmt.matrix_units.models.stages import Kind, Stage

RNA, RNU = ROUNDINGS["RNA"], ROUNDINGS["RNU"]


@dataclass(frozen=True, kw_only=True)
class GroupedDotAdd(Model):
    """Sums of slices' products in groups of lanes, to which c is added after a second alignment.

    A multiplier that is narrower than the significands takes some bits of them in each pass (a fidelity
    phase); the passes are instructions. A zero result is +0. All formats are formats of finite numbers.

    group_lanes: lanes in a group: contiguous ones, summed on a grid of their own; divides k.
    a_first_bit, a_bits: the significand bits of a that are multiplied: ``a_bits`` of them, the first
        ``a_first_bit`` places below the leading one.
    b_first_bit, b_bits: the same of b.
    fraction_bits: fraction bits F of the groups' grids, counted from the largest exponent of a product.
    alignment: rounding of products on them.
    zero_exponent: the exponent with which a product that has a zero factor takes part in the maximum. A
        product whose multiplied bits are zero takes part with its own.
    least_exponent: a group whose largest exponent is smaller is left out (None: no group is).
    sum_fraction_bits: fraction bits of the grid on which the groups' sums and c are added.
    group_alignment: rounding of the groups' sums on it.
    c_alignment: rounding of c on it.
    kept_fraction_bits: fraction bits to which c and the groups' sums are then rounded once more, by the
        same roundings (None: they are not).
    minus_one_shift: a sum of -1 unit counts as -2^minus_one_shift units: a counter of leading sign bits
        finds nothing else in its word (None: it counts as what it is).
    rounding: final rounding.
    largest_result: the word of the magnitude that stands for every larger one (None: the largest one of
        the format).
    flush_inputs: subnormal inputs are read as zero.
    flush_outputs: subnormal results become zero.
    tininess: which results are subnormal: those whose value is below the smallest normal number when rounded
        with exponents that have no lower end (``after``), whose exact value is (``before``), or whose rounded
        value is (``result``).
    Sources: tenstorrent/ttsim 1.10.0 (mvmul, fpu_accum_normalize_encode); tt-isa-documentation (MVMUL).
    """

    kind: ClassVar[str] = "grouped-dot-add"
    title: ClassVar[str] = "sums of groups of lanes, to which c is added after a second alignment"
    a_format: Format
    b_format: Format
    c_format: Format
    d_format: Format
    group_lanes: int = lane_count()
    a_first_bit: int = 0
    a_bits: int = number(1, 64)
    b_first_bit: int = 0
    b_bits: int = number(1, 64)
    fraction_bits: int = number(1, 1024)
    alignment: Rounding = RNA
    zero_exponent: int = number(-4096, 4096)
    least_exponent: int | None = number(-4096, 4096, default=None)
    sum_fraction_bits: int = number(1, 1024)
    group_alignment: Rounding = RNU
    c_alignment: Rounding = RNA
    kept_fraction_bits: int | None = None
    minus_one_shift: int | None = number(1, 1024, default=None)
    rounding: Rounding = RNA
    largest_result: int | None = None
    flush_inputs: bool = True
    flush_outputs: bool = True
    tininess: str = choice("after", "before", "result")

    def validate(self) -> None:
        """Check ranges, and combinations that contradict each other."""
        groups = 1 <= self.group_lanes <= self.k and self.k % self.group_lanes == 0
        self.check("group_lanes", groups, f"a divisor of k = {self.k}")
        for name in ("a_format", "b_format", "c_format", "d_format"):
            fmt = getattr(self, name)
            finite = fmt.specials is Specials.NONE and fmt.has_subnormals
            self.check(name, finite, "a format with a fraction and without infinities and NaNs")
        for side, fmt in (("a", self.a_format), ("b", self.b_format)):
            first, most = f"{side}_first_bit", fmt.fraction_bits
            self.check(first, 0 <= getattr(self, first) <= most, f"from 0 to {most}, the last of {fmt.name}")
        kept, most = self.kept_fraction_bits, self.sum_fraction_bits
        self.check("kept_fraction_bits", kept is None or 1 <= kept <= most, f"None or from 1 to {most}")
        d, largest = self.d_format, self.largest_result
        held = largest is None or (0 < largest <= d.largest_finite_word and self._stored(largest))
        self.check("largest_result", held, f"None or the word of a positive {d.name} number")

    def _stored(self, word: int) -> bool:
        return not word & ((1 << self.d_format.ignored_low_bits) - 1)

    @property
    def parts(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return the significand bits of a and of b that are multiplied: the first one, and how many."""
        return (self.a_first_bit, self.a_bits), (self.b_first_bit, self.b_bits)

    def result(self, x: Terms, stages: list[Stage]) -> Term:
        """Compute each group on its own grid; the groups' sums and c on another; the result."""

        def seen(kind: Kind, value: Exponent | Fixed | Number, term: Term, lane: int | None = None) -> None:
            stages.append(Stage(None, kind, lane, value, term))

        flush = TRUE if self.flush_inputs else FALSE
        products = []
        for lane, (a, b) in enumerate(zip(x.a, x.b, strict=True)):
            left = dp.decode(self.a_format, a, flush=flush)
            right = dp.decode(self.b_format, b, flush=flush)
            product = dp.multiply(
                dp.chosen_bits(left, self.a_first_bit, self.a_bits),
                dp.chosen_bits(right, self.b_first_bit, self.b_bits),
            )
            seen(Kind.PRODUCT, product, product.significand, lane)
            products.append(product)
        c = dp.as_fixed(dp.decode(self.c_format, x.c, flush=flush))
        sums, entering = [], [c.exponent]
        for group in range(self.k // self.group_lanes):
            lanes = products[group * self.group_lanes : (group + 1) * self.group_lanes]
            fixed, left_out = self._group(lanes)
            seen(Kind.LARGEST_EXPONENT, fixed.exponent, fixed.exponent.term, group)
            seen(Kind.SUM_OF_PRODUCTS, fixed, fixed.word, group)
            sums.append(fixed)
            # c's exponent is always there: the smallest one that it can have changes no maximum
            entering.append(fixed.exponent.or_where(left_out, Exponent.constant(c.exponent.low)))
        top = dp.largest(entering)
        seen(Kind.LARGEST_EXPONENT, top, top.term)
        aligned = [self._aligned(c, top, self.c_alignment)]
        aligned += [self._aligned(s, top, self.group_alignment) for s in sums]
        total = dp.accumulate(aligned, max(s.word.width for s in aligned) + len(aligned).bit_length())
        seen(Kind.SUM, total, total.word)
        if self.minus_one_shift is not None:
            total = _minus_one_as(total, self.minus_one_shift)
            seen(Kind.COUNTED_SUM, total, total.word)
        return self._rounded(total, stages)

    def _group(self, products: Sequence[Number]) -> tuple[Fixed, Term]:
        """Return the sum on the group's grid, and whether it is left out: it is zero then.

        Its exponent may then lie above the largest one, and the shift that follows be any: it stays zero.
        """
        zero = Exponent.constant(self.zero_exponent)
        top = dp.largest([p.exponent.or_where(p.zero, zero) for p in products], self.zero_exponent)
        aligned = [dp.align(p, top, self.fraction_bits, self.alignment) for p in products]
        total = dp.accumulate(aligned, 3 + self.fraction_bits + len(products).bit_length())
        if self.least_exponent is None or self.least_exponent <= top.low:
            return total, FALSE
        counted = top.within(top.low, max(top.high, self.least_exponent))
        left_out = counted.ult(self.least_exponent - top.low)
        return replace(total, word=left_out.ite(0, total.word)), left_out

    def _aligned(self, x: Fixed, top: Exponent, rounding: Rounding) -> Fixed:
        aligned = dp.realign(x, top, self.sum_fraction_bits, rounding)
        if self.kept_fraction_bits is None:
            return aligned
        return replace(dp.realign(aligned, top, self.kept_fraction_bits, rounding), source=x)

    def _rounded(self, whole: Fixed, stages: list[Stage]) -> Term:
        d = self.d_format
        signed = dp.sign_and_magnitude(whole)
        flush = TRUE if self.flush_outputs else FALSE
        magnitude = dp.round_to(
            d, signed, self.rounding, overflow="saturate", flush=flush, tininess=self.tininess
        )
        if self.largest_result is not None:
            magnitude = magnitude.ult(self.largest_result).ite(magnitude, self.largest_result)
        sign = signed.sign & magnitude.ne(0)
        result = dp.encode(d, sign, magnitude, FALSE, FALSE, FALSE, 0)
        stages.append(Stage(None, Kind.RESULT, None, d, result))
        return result


def _minus_one_as(x: Fixed, shift: int) -> Fixed:
    """Return the sum, where it is not -1 unit; else -2^shift units."""
    width = max(x.word.width, shift + 1)
    word = x.word.sext(width)
    return replace(x, word=word.eq(-1).ite(const(-1 << shift, width), word))
