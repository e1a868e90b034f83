"""The parts of a fused dot-add.

Features that exclude each other are closed alternatives, so that a unit with both cannot be written. Each
part holds parameters of :class:`.FusedParameters`, which says what they mean, under their own names; ``part``
says which values choose it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeAlias

from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.nans import NanRule
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.matrix_units.models.composition import GIVEN, part

RTZ = ROUNDINGS["RTZ"]


# --- lanes: which products are one fused sum ---------------------------------------------------------------


@part({})
class Contiguous:
    """Blocks of neighbouring lanes."""

    n_fma: int

    def blocks(self, k: int) -> list[list[int]]:
        """Return the lanes of each block, in the order in which blocks are chained."""
        return _neighbours(range(k), self.n_fma)


@part({"interleave": GIVEN})
class Interleaved:
    """Groups of lanes are dealt to the blocks in turn."""

    n_fma: int
    interleave: int

    def blocks(self, k: int) -> list[list[int]]:
        """Return the lanes of each block, in the order in which blocks are chained."""
        count = k // self.n_fma
        return [
            [lane for lane in range(k) if lane // self.interleave % count == block] for block in range(count)
        ]


@part({"order": GIVEN})
class Ordered:
    """Blocks of lanes that are neighbours in an order of their own."""

    n_fma: int
    order: tuple[int, ...]

    def blocks(self, k: int) -> list[list[int]]:
        """Return the lanes of each block, in the order in which blocks are chained."""
        return _neighbours(self.order, self.n_fma)


Lanes: TypeAlias = Ordered | Interleaved | Contiguous


def _neighbours(lanes: Sequence[int], n_fma: int) -> list[list[int]]:
    return [list(lanes[i : i + n_fma]) for i in range(0, len(lanes), n_fma)]


# --- factors: what is multiplied ----------------------------------------------------------------------------


@part({})
class UnconvertedFactors:
    """a and b as they are."""

    operand_format: ClassVar[None] = None
    flush_inputs: bool
    flush_c: bool


@part({"operand_format": GIVEN})
class ConvertedFactors:
    """a and b in a wider format, in which their subnormal numbers may be normal."""

    flush_inputs: ClassVar[bool] = False
    operand_format: Format
    flush_c: bool


Factors: TypeAlias = ConvertedFactors | UnconvertedFactors


# --- terms: what is aligned beside c ------------------------------------------------------------------------


@part({})
class Products:
    """The products as they are."""

    products: str


@part({"group_fraction_bits": GIVEN})
class GroupSums:
    """Sums of products, each group on a grid of its own."""

    products: str
    group: int
    group_fraction_bits: int


@part({"scale_format": GIVEN})
class ScaledProducts:
    """The products, each times its block's scales."""

    scale_format: Format
    scale_block: int
    group: ClassVar[int] = 1
    products: ClassVar[str] = "unnormalised"


@part({"scale_format": GIVEN, "group": GIVEN})
class ScaledGroups:
    """Exact sums of groups of products, times their block's scales."""

    scale_format: Format
    scale_block: int
    group: int
    group_dropped_below: int | None
    products: ClassVar[str] = "unnormalised"


Terms: TypeAlias = ScaledGroups | ScaledProducts | GroupSums | Products


# --- what becomes of the bits that alignment shifts out -----------------------------------------------------


@part({})
class RoundedBits:
    """Low bits that decide a rounding; RTZ is truncation of the magnitude."""

    alignment: Rounding


@part({"alignment_sticky": True})
class StickyBit:
    """Low bits that are truncated; their OR is kept in one more bit."""

    alignment: ClassVar[Rounding] = RTZ


ShiftedOut: TypeAlias = StickyBit | RoundedBits


# --- sum: how terms and c are added -------------------------------------------------------------------------


@part({})
class OneGrid:
    """All terms and c aligned to the largest exponent among them, and added."""

    terms: Terms
    fraction_bits: int
    shifted_out: ShiftedOut
    carry_bits: int | None
    zero_exponent: int | None
    zero_c: str
    c_exponent_offset: int
    c_dropped_above: int | None


@part({"alignment_complement": True})
class ComplementedGrid:
    """One grid, on which a product whose sign is not c's is subtracted by its ones' complement."""

    terms: Products
    fraction_bits: int
    carry_bits: int | None
    zero_exponent: int | None
    zero_c: str
    c_exponent_offset: int


@part({"c_enters": "leading_by_group"})
class LeadsByGroup:
    """A leading c: where it does not lead, a group with no larger exponent is rounded to its grid."""


@part({"c_enters": "leading", "inner_group": GIVEN})
class LeadsInnerGroups:
    """A leading c: where it is zero or does not lead, parts of the groups are summed and aligned apart."""

    inner_group: int


@part({"c_enters": "leading"})
class LeadsAll:
    """A c that leads where no product that is not zero has a larger exponent, its scales' included."""


@part({"c_enters": GIVEN})
class LedGrid:
    """One grid of scaled groups, which c decides only where it leads."""

    terms: ScaledGroups
    fraction_bits: int
    shifted_out: RoundedBits
    zero_exponent: int | None
    zero_c: str
    c_leads: LeadsByGroup | LeadsInnerGroups | LeadsAll


@part({"c_position": "summed"})
class ProductsThenC:
    """Products on a grid of their own; their unrounded sum and c aligned once more."""

    terms: Products
    fraction_bits: int
    shifted_out: ShiftedOut
    carry_bits: int | None
    zero_exponent: int | None


@part({"normalisation": "every"})
class OneByOne:
    """c, then each product: sums of two, normalised and truncated each time."""

    terms: Products
    fraction_bits: int
    shifted_out: RoundedBits
    zero_exponent: int


@part({"c_position": "last"})
class CLast:
    """Blocks chained from +0, each on one grid; c added after them, by an IEEE addition."""

    terms: Products
    fraction_bits: int
    shifted_out: ShiftedOut
    carry_bits: int | None
    zero_exponent: int | None
    c_rounding: Rounding

    @property
    def grid(self) -> OneGrid:
        """Return the sum of a block, whose c is the result of the block before."""
        return OneGrid(
            terms=self.terms,
            fraction_bits=self.fraction_bits,
            shifted_out=self.shifted_out,
            carry_bits=self.carry_bits,
            zero_exponent=self.zero_exponent,
            zero_c="zero_exponent",
            c_exponent_offset=0,
            c_dropped_above=None,
        )


FusedSum: TypeAlias = OneByOne | ProductsThenC | CLast | ComplementedGrid | LedGrid | OneGrid


# --- final: from a sum to a word ----------------------------------------------------------------------------


@part({})
class RoundedToD:
    """Rounded at the last bit of D's format."""

    round_fraction_bits: ClassVar[None] = None
    rounded_format: ClassVar[None] = None


@part({"round_fraction_bits": GIVEN})
class AtFractionBit:
    """Rounded at an earlier bit."""

    round_fraction_bits: int
    rounded_format: ClassVar[None] = None


@part({"rounded_format": GIVEN})
class RoundedWider:
    """Rounded to a wider format, whose low bits are cut off."""

    round_fraction_bits: ClassVar[None] = None
    rounded_format: Format


Precision: TypeAlias = AtFractionBit | RoundedWider | RoundedToD


@part({})
class RoundedSubnormals:
    """Subnormal results are rounded as others are."""


@part({"flush_outputs": True})
class FlushedSubnormals:
    """Subnormal sums that become zero."""

    tininess: str


@part({"subnormal_results": "misplaced"})
class MisplacedSubnormals:
    """Subnormal sums that are shifted by the biased exponent, as RVBNA's pseudo-code (RISC-V) says."""


Subnormals: TypeAlias = FlushedSubnormals | MisplacedSubnormals | RoundedSubnormals


@part({})
class Final:
    """The rounding of the sum, once, and the words of what is no number."""

    rounding: Rounding
    precision: Precision
    overflow: str
    subnormals: Subnormals
    negative_zero: bool
    nan: NanRule | None
