"""One block of a fused dot-add: from input words to a sum, and from the sum to a word.

One function for each way of adding, and each stage is stated here and nowhere else. Most parameters are
numbers; those of :class:`FreeParameters` may be variables (:mod:`tcsmt.identification.units.open_block`), so
that one graph serves a family of units. A unit's own are constants, which fold away, so that nothing of them
is left in its graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tcsmt.language.terms import FALSE, TRUE, Term, all_of, const
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic.datapath import Exponent, Fixed, Number, SignMagnitude
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.ieee import RoundedSum, Zeros
from tcsmt.matrix_units.arithmetic.integers import signed, signed_word
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.matrix_units.models.fused_parts import (
    CLast,
    ComplementedGrid,
    Factors,
    Final,
    FlushedSubnormals,
    FusedSum,
    GroupSums,
    LeadsByGroup,
    LeadsInnerGroups,
    LedGrid,
    MisplacedSubnormals,
    OneByOne,
    OneGrid,
    Products,
    ProductsThenC,
    ScaledGroups,
    StickyBit,
)
from tcsmt.matrix_units.models.leading import Leading, without_small
from tcsmt.matrix_units.models.stages import Kind, Value

#: Told of every stage: its kind, value and term, and the lane or group that it is of.
StageObserver = Callable[[Kind, Value, Term, int | None], None]

NOTHING_LESS = Exponent.constant(0)
_TRUNCATE = ROUNDINGS["RTZ"]


@dataclass(frozen=True, kw_only=True)
class FreeParameters:
    """Parameters that may be variables of a block's sum; :class:`.FusedParameters` says what most mean.

    coarser: F is the sum's ``fraction_bits`` less this, from 0 to ``fraction_bits``.
    carry_bits: as a number of a known range; None: enough.
    zero_exponent, zero_given: zeros enter the maximum with ``zero_exponent`` where ``zero_given`` is 1, and
        with the exponent of their fields where it is 0, or where ``zero_exponent`` is None.
    flush, flush_c: whether subnormal inputs are read as zeros, or c alone.
    """

    coarser: Exponent = NOTHING_LESS
    carry_bits: Exponent | None
    zero_exponent: Exponent | None
    zero_given: Term = TRUE
    flush: Term
    flush_c: Term = FALSE

    @classmethod
    def of(cls, factors: Factors, total: FusedSum) -> FreeParameters:
        """Return those of a unit."""
        carry_bits = None if isinstance(total, (OneByOne, LedGrid)) else total.carry_bits
        carry, zero = (None if x is None else Exponent.constant(x) for x in (carry_bits, total.zero_exponent))
        flush, flush_c = const(factors.flush_inputs, 1), const(factors.flush_c, 1)
        return cls(carry_bits=carry, zero_exponent=zero, flush=flush, flush_c=flush_c)


@dataclass(frozen=True, kw_only=True)
class BlockWords:
    """The words that a block adds up, with their formats.

    a, b: factors, in lane order. c: the result of the block before, where there is one. scales: of each group
    of lanes; empty where there are none. d_format: of the result.
    """

    a_format: Format
    b_format: Format
    c_format: Format
    d_format: Format
    a: Sequence[Term]
    b: Sequence[Term]
    c: Term
    scales: Sequence[Number] = ()


@dataclass(frozen=True, kw_only=True)
class LastAddition:
    """The operands that decide the word where c is added after all blocks, by an IEEE addition.

    flush_input: whether a subnormal c is read as zero. flush_output: whether a subnormal result is zero.
    """

    c_format: Format
    d_format: Format
    rounding: Rounding
    flush_input: Term
    flush_output: bool
    zeros: Zeros
    nan_word: int

    def sum(self, word: Term, c: Term) -> RoundedSum:
        """Return the last block's word plus c."""
        return RoundedSum(
            terms=(dp.decode(self.d_format, word), dp.decode(self.c_format, c, flush=self.flush_input)),
            format=self.d_format,
            rounding=self.rounding,
            flush=self.flush_output,
            nan_word=self.nan_word,
            zeros=self.zeros,
        )


@dataclass(frozen=True)
class BlockSum:
    """The parts of a block's result: the sum, infinities and NaNs, and whether all is negative zeros."""

    value: SignMagnitude
    infinite: Term
    infinity_sign: Term
    nan: Term
    all_negative_zero: Term


def block_sum(total: FusedSum, free: FreeParameters, x: BlockWords, seen: StageObserver) -> BlockSum:
    """Return the sum of c and the products of a and b."""
    lanes = []
    for left, right in zip(x.a, x.b, strict=True):
        product = dp.multiply(
            dp.decode(x.a_format, left, flush=free.flush), dp.decode(x.b_format, right, flush=free.flush)
        )
        normalised = total.terms.products == "normalised"
        lanes.append(dp.normalise_number(product) if normalised else product)
    c = dp.decode(x.c_format, x.c, flush=free.flush | free.flush_c)
    if isinstance(total, (OneGrid, ComplementedGrid)):  # c's significand has its point elsewhere
        offset = total.c_exponent_offset
        c = replace(c, exponent=c.exponent.plus(offset), fraction_bits=c.fraction_bits + offset)
    for lane, product in enumerate(lanes):
        seen(Kind.PRODUCT, product, product.significand, lane)
    block = _Block(total, free, x.d_format, lanes, x.scales, c, seen)
    groups = _groups(block)
    match total:
        case OneGrid():
            fixed = _on_one_grid(total, block, groups)
        case CLast():
            fixed = _on_one_grid(total.grid, block, groups)
        case ComplementedGrid():
            fixed = _on_complemented_grid(total, block)
        case LedGrid():
            fixed = _on_led_grid(total, block, groups)
        case ProductsThenC():
            fixed = _products_then_c(block)
        case OneByOne():
            fixed = _one_by_one(total, block)
    seen(Kind.SUM, fixed, fixed.word, None)
    special = [*(lanes if isinstance(total.terms, GroupSums) else groups), c]
    return BlockSum(dp.sign_and_magnitude(fixed), *dp.special_cases(special), dp.all_negative_zero(special))


@dataclass(frozen=True)
class _Block:
    """The terms of a block: the products of its lanes, the scales of its groups, and c; and how."""

    total: FusedSum
    free: FreeParameters
    d_format: Format
    lanes: Sequence[Number]
    scales: Sequence[Number]
    c: Number
    seen: StageObserver

    def entering(self, x: Number) -> Exponent:
        """Return the exponent with which a term takes part in the maximum."""
        zero = self.free.zero_exponent
        return x.exponent if zero is None else x.exponent.or_where(x.zero & self.free.zero_given, zero)

    def entering_c(self, zero_c: str) -> Exponent:
        """Return that of c."""
        return self.c.exponent if zero_c == "fields" else self.entering(self.c)

    def largest(self, terms: Sequence[Number]) -> Exponent:
        """Return the maximum exponent, with ``zero_exponent`` for zero terms.

        Alignment shifts a zero term by whatever its fields say: it stays zero.
        """
        return dp.largest([self.entering(t) for t in terms], _base(terms))

    def aligned(self, x: Number, top: Exponent) -> Fixed:
        """Align to F fraction bits below ``top``: to ``fraction_bits`` below ``top + coarser``."""
        if isinstance(self.total, ComplementedGrid):
            mode, sticky = _TRUNCATE, False
        else:
            mode, sticky = self.total.shifted_out.alignment, isinstance(self.total.shifted_out, StickyBit)
        return dp.align(x, top + self.free.coarser, self.total.fraction_bits, mode, sticky=sticky)

    def register(self, aligned: Sequence[Fixed], products: int, integer_bits: int = 2) -> Fixed:
        """Return the sum of aligned terms, in a register of ``carry_bits`` where they are given."""
        sticky = aligned[0].fraction_bits - self.total.fraction_bits
        whole, enough = 1 + integer_bits + self.total.fraction_bits + sticky, products.bit_length()
        carry_bits = self.free.carry_bits
        if carry_bits is None:
            return dp.accumulate(aligned, whole + enough)
        # one bit more than any sum needs, so that "enough" is a theorem and not a definition
        spare = max(carry_bits.high, enough + 1)
        lacking = Exponent(Exponent.constant(spare).minus(carry_bits), 0, spare - carry_bits.low)
        return dp.accumulate(aligned, whole + spare, lacking + self.free.coarser)

    def added(self, groups: Sequence[Fixed], c: Fixed, integer_bits: int) -> Fixed:
        """Return the sum of aligned terms, each a stage."""
        for number, aligned in enumerate(groups):
            self.seen(Kind.ALIGNED_PRODUCT, aligned, aligned.word, number)
        self.seen(Kind.ALIGNED_C, c, c.word, None)
        return self.register([*groups, c], len(groups), integer_bits)

    def without_small(
        self, aligned: Sequence[Fixed], groups: Sequence[Number], c: Fixed, integer_bits: int
    ) -> Sequence[Fixed]:
        """Return aligned groups, without those that a subnormal sum drops."""
        terms = self.total.terms
        if not isinstance(terms, ScaledGroups) or terms.group_dropped_below is None:
            return aligned
        total = self.register([*aligned, c], len(groups), integer_bits)
        entering = [self.entering(x) for x in groups]
        return without_small(aligned, groups, entering, total, terms.group_dropped_below, self.d_format)


def _base(terms: Sequence[Number]) -> int:
    """Return where the maximum is counted from: with room for each zero_exponent in use, so that models which
    differ in it are the same graph from there on.
    """
    return min(t.exponent.low for t in terms) - 16


def _groups(x: _Block) -> Sequence[Number]:
    """Return the terms that are aligned: products, or sums of groups of them, by their scales if any."""
    groups, terms = x.lanes, x.total.terms
    if isinstance(terms, (GroupSums, ScaledGroups)):
        members = [x.lanes[i : i + terms.group] for i in range(0, len(x.lanes), terms.group)]
        if isinstance(terms, GroupSums):
            groups = [_sum_on_own_grid(x, own, terms.group_fraction_bits) for own in members]
        else:
            groups = [dp.exact_total(own) for own in members]
        for number, group in enumerate(groups):
            x.seen(Kind.GROUP_SUM, group, group.significand, number)
    if x.scales:
        groups = [dp.multiply(group, scale) for group, scale in zip(groups, x.scales, strict=True)]
        kind = Kind.SCALED_GROUP if isinstance(terms, ScaledGroups) else Kind.SCALED_PRODUCT
        for number, group in enumerate(groups):
            x.seen(kind, group, group.significand, number)
    return groups


def _sum_on_own_grid(x: _Block, products: Sequence[Number], fraction_bits: int) -> Number:
    """Return the sum of some products on a grid of their own, as one number of their largest exponent."""
    assert isinstance(x.total, OneGrid)
    top = x.largest(products)
    aligned = [dp.align(product, top, fraction_bits, x.total.shifted_out.alignment) for product in products]
    # two integer bits hold a product; rounded down, a sum reaches the lower end of its range
    width = 1 + 2 + fraction_bits + (len(products) - 1).bit_length()
    return dp.as_number(dp.accumulate(aligned, width))


def _on_one_grid(total: OneGrid, x: _Block, groups: Sequence[Number]) -> Fixed:
    """Align all terms to the largest exponent among them, and add them."""
    entering = [*(x.entering(group) for group in groups), x.entering_c(total.zero_c)]
    top = dp.largest(entering, _base([*groups, x.c]))
    x.seen(Kind.LARGEST_EXPONENT, top, top.term, None)
    aligned: Sequence[Fixed] = [x.aligned(group, top) for group in groups]
    last = x.aligned(x.c, top)
    if total.c_dropped_above is not None:
        last = _dropped(total, last, x.c, top, total.c_dropped_above)
    # two integer bits hold a product; a sum of a group, or c with another exponent, may need more
    usual = isinstance(total.terms, Products) and not total.c_exponent_offset
    integer_bits = 2 if usual else max(2, *(t.integer_bits for t in [*groups, x.c]))
    return x.added(x.without_small(aligned, groups, last, integer_bits), last, integer_bits)


def _dropped(total: OneGrid, aligned: Fixed, c: Number, top: Exponent, above: int) -> Fixed:
    """Return c aligned, or nothing of it where it is smaller than a unit that is large enough to drop it."""
    aligned_c = dp.align(c, top, total.fraction_bits, _TRUNCATE)
    drops = signed_word(above).slt(signed(top.plus(-total.fraction_bits)))
    return replace(aligned, word=(drops & aligned_c.word.eq(0)).ite(0, aligned.word))


def _on_complemented_grid(total: ComplementedGrid, x: _Block) -> Fixed:
    """Add on one grid, products whose sign is not c's by their ones' complement."""
    entering = [*(x.entering(product) for product in x.lanes), x.entering_c(total.zero_c)]
    top = dp.largest(entering, _base([*x.lanes, x.c]))
    x.seen(Kind.LARGEST_EXPONENT, top, top.term, None)
    aligned = [_complemented(x.aligned(product, top), product.sign ^ x.c.sign) for product in x.lanes]
    integer_bits = max(2, *(t.integer_bits for t in [*x.lanes, x.c])) if total.c_exponent_offset else 2
    whole = x.added(aligned, x.aligned(x.c, top), integer_bits)
    # the sum of zeros is zero, although their complements are not
    return replace(whole, word=all_of(t.zero for t in [*x.lanes, x.c]).ite(0, whole.word))


def _complemented(x: Fixed, opposite: Term) -> Fixed:
    """Return an aligned term, one unit farther from zero where its sign is not c's: a word is complemented to
    change its sign, and the one that two's complement adds is missing.
    """
    assert isinstance(x.source, Number)
    extended = x.word.sext(x.word.width + 1)
    unit = x.source.sign.ite(const(-1, extended.width), const(1, extended.width))
    return replace(x, word=opposite.ite(extended + unit, extended))


def _on_led_grid(total: LedGrid, x: _Block, groups: Sequence[Number]) -> Fixed:
    """Add on one grid, which c decides only where it leads."""
    leading = Leading.of(x.lanes, x.scales, x.c)
    c = leading.c
    x.seen(Kind.LARGEST_PRODUCT, leading.highest, leading.highest.term, None)
    base = _base([*groups, c])
    entering = [x.entering(group) for group in groups]
    top = dp.largest([*entering, leading.entering(x.entering_c(total.zero_c), base)], base)
    x.seen(Kind.LARGEST_EXPONENT, top, top.term, None)
    aligned: Sequence[Fixed] = [x.aligned(group, top) for group in groups]
    if isinstance(total.c_leads, LeadsByGroup):
        aligned = [leading.on_grid_of_c(i, group, top, x.aligned) for i, group in enumerate(groups)]
    elif isinstance(total.c_leads, LeadsInnerGroups):
        aligned = _inner_groups(total.c_leads.inner_group, x, leading, top, aligned)
    last = x.aligned(c, top)
    integer_bits = max(2, *(t.integer_bits for t in [*groups, c]))
    return x.added(x.without_small(aligned, groups, last, integer_bits), last, integer_bits)


def _inner_groups(
    size: int, x: _Block, leading: Leading, top: Exponent, aligned: Sequence[Fixed]
) -> list[Fixed]:
    """Return groups whose parts of so many lanes are summed and aligned apart where c does not lead.

    aligned: each as if c did.
    """
    apart, group = [], len(x.lanes) // len(aligned)
    for number, (whole, scale) in enumerate(zip(aligned, x.scales, strict=True)):
        own = x.lanes[number * group : (number + 1) * group]
        parts = [dp.exact_total(own[i : i + size]) for i in range(0, group, size)]
        apart.append(leading.apart(whole, [x.aligned(dp.multiply(part, scale), top) for part in parts]))
    return apart


def _products_then_c(x: _Block) -> Fixed:
    """Sum products exactly on their own grid; align that sum and c once more."""
    top_of_products = x.largest(x.lanes)
    aligned = [x.aligned(product, top_of_products) for product in x.lanes]
    enough = len(x.lanes).bit_length()
    total = dp.as_number(dp.accumulate(aligned, 3 + aligned[0].fraction_bits + enough))
    top = dp.largest([top_of_products, x.entering(x.c)], top_of_products.low)
    return x.register([x.aligned(total, top), x.aligned(x.c, top)], len(x.lanes))


def _one_by_one(total: OneByOne, x: _Block) -> Fixed:
    """Add c, then each product: two-operand sums, normalised and truncated to F bits each time."""
    bits, coarser = total.fraction_bits, x.free.coarser
    result = x.c
    for product in x.lanes:
        top = x.largest([result, product])
        pair = [x.aligned(result, top), x.aligned(product, top)]
        whole = dp.normalise_number(dp.sign_and_magnitude(dp.accumulate(pair, 5 + bits)).number)
        width = whole.significand.width
        kept = whole.significand[width - 1 : width - 1 - bits]
        beyond = coarser.within(0, coarser.high).zext(kept.width)
        result = replace(whole, significand=(kept >> beyond) << beyond, fraction_bits=bits)
    return dp.as_fixed(result)


def block_result(
    final: Final, fmt: Format, x: BlockSum, *, flush: Term, negative_zero: Term, nan_word: Term
) -> Term:
    """Return the word of a block's sum, rounded once.

    flush: whether subnormal results become zero. negative_zero: whether there is a -0. nan_word: of a NaN.
    """
    tininess = final.subnormals.tininess if isinstance(final.subnormals, FlushedSubnormals) else "result"
    rounded = final.precision.rounded_format or fmt
    magnitude = dp.round_to(
        rounded, x.value, final.rounding,
        fraction_bits=final.precision.round_fraction_bits, overflow=final.overflow, flush=flush,
        tininess=tininess,
    )  # fmt: skip
    sign = x.value.sign
    if isinstance(final.subnormals, MisplacedSubnormals):
        small, word = dp.misplaced(rounded, x.value)
        magnitude = small.ite(word[rounded.sign_bit - 1 : 0], magnitude)
        sign = sign | small & word[rounded.sign_bit]
    sign = negative_zero.ite(sign | x.all_negative_zero, sign & magnitude.ne(0))
    magnitude = magnitude[rounded.width - 2 : rounded.width - fmt.width]
    return dp.encode(fmt, sign, magnitude, x.infinite, x.infinity_sign, x.nan, nan_word)
