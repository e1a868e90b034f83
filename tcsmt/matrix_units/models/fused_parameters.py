"""The declared parameters of the truncated fused dot-add."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.nans import NanRule
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.matrix_units.models.base import Parameters, choice, lane_count, number

RTZ, RNE = ROUNDINGS["RTZ"], ROUNDINGS["RNE"]


@dataclass(frozen=True, kw_only=True)
class FusedParameters(Parameters):
    """Every feature of a fused dot-add as a parameter, in the order of files and tables.

    Which values exclude each other follows from the parts that hold them
    (:mod:`tcsmt.matrix_units.models.fused_parts`).

    a_format, b_format, c_format, d_format: formats, or their names.
    k: products in one instruction, per element of D.
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
        (:data:`tcsmt.matrix_units.models.fused.CANONICAL_NAN`).
    Sources: MMA-Sim III-C, III-D and III-E (GDFS); Khattak and Mikaitis, Table II and Fig. 2-5; AMD's
    published models of RDNA3 and RDNA4; RISC-V's manual; sf-tensor/tcgen05 (c_enters, inner_group,
    group_dropped_below).
    """

    qualifiers: ClassVar[frozenset[str]] = frozenset({"c_rounding"})
    a_format: Format
    b_format: Format
    c_format: Format
    d_format: Format
    k: int
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
