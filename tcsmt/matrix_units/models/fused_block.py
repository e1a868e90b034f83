"""One block of a fused dot-add: from input words to a sum, and from the sum to a word.

Parameters are numbers, or terms. A unit's own are constants, which fold away, so that nothing of them is left
in its graph. Where they are variables (:mod:`tcsmt.identification.units.open_block`), one graph serves a
family of units. The order of the stages is stated here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from tcsmt.language.terms import FALSE, TRUE, Term, all_of, const
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic.datapath import Exponent, Fixed, Number, SignMagnitude
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.ieee import RoundedSum, Zeros
from tcsmt.matrix_units.arithmetic.integers import signed, signed_word
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.matrix_units.models.leading import Leading, without_small
from tcsmt.matrix_units.models.stages import Kind, Value

__all__ = ["BlockSum", "LastAddition", "ResultParameters", "SumParameters", "block_result", "block_sum"]

#: Told of every stage: its kind, value and term, and the lane or group that it is of.
StageObserver = Callable[[Kind, Value, Term, int | None], None]

NOTHING_LESS = Exponent.constant(0)
_TRUNCATE = ROUNDINGS["RTZ"]


@dataclass(frozen=True, kw_only=True)
class SumParameters:
    """What decides the sum of a block; :class:`.FusedDotAdd` says what most of them mean.

    a_format, b_format, c_format: c is the result of the block before, where there is one.
    c_after: whether the products are summed before c is aligned with their sum.
    normalised_each: whether every addition is normalised (c first, then lanes in order).
    fraction_bits, coarser: F is ``fraction_bits`` less ``coarser``, from 0 to ``fraction_bits``.
    carry_bits: as a number of a known range; None: enough.
    zero_exponent, zero_given: zeros enter the maximum with ``zero_exponent`` where ``zero_given`` is 1, and
        with the exponent of their fields where it is 0, or where ``zero_exponent`` is None.
    d_format: of the result; needed where ``group_dropped_below`` is given.
    flush, flush_c: whether subnormal inputs are read as zeros, or c alone.
    """

    a_format: Format
    b_format: Format
    c_format: Format
    normalised_products: bool
    normalised_each: bool
    c_after: bool
    fraction_bits: int
    coarser: Exponent = NOTHING_LESS
    alignment: Rounding
    alignment_sticky: bool = False
    carry_bits: Exponent | None
    zero_exponent: Exponent | None
    zero_given: Term = TRUE
    flush: Term
    flush_c: Term = FALSE
    group: int = 1
    group_fraction_bits: int | None = None
    c_exponent_offset: int = 0
    zero_c_by_fields: bool = False
    complement: bool = False
    c_dropped_above: int | None = None
    c_enters: str = "always"
    inner_group: int | None = None
    group_dropped_below: int | None = None
    d_format: Format | None = None


@dataclass(frozen=True, kw_only=True)
class ResultParameters:
    """What decides the word that a sum becomes; :class:`.FusedDotAdd` says what they mean.

    fraction_bits: at which the result is rounded; None: the format's last. nan_word: of a NaN.
    """

    format: Format
    rounded_format: Format | None = None
    rounding: Rounding
    fraction_bits: int | None
    overflow: str
    flush: Term
    tininess: str = "result"
    misplaced: bool = False
    negative_zero: Term
    nan_word: Term


@dataclass(frozen=True, kw_only=True)
class LastAddition:
    """What decides the word where c is added after all blocks, by an IEEE addition.

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
        """The last block's word plus c."""
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
    """What a block's result is made of: the sum, infinities and NaNs, and whether all is negative zeros."""

    value: SignMagnitude
    infinite: Term
    infinity_sign: Term
    nan: Term
    all_negative_zero: Term


def block_sum(
    p: SumParameters,
    a: Sequence[Term],
    b: Sequence[Term],
    c: Term,
    scales: Sequence[Number],
    seen: StageObserver,
) -> BlockSum:
    """The sum of c and the products of the words in a and b, in lane order.

    scales: of each group of lanes; empty where there are none.
    """
    lanes = []
    for x, y in zip(a, b, strict=True):
        product = dp.multiply(
            dp.decode(p.a_format, x, flush=p.flush), dp.decode(p.b_format, y, flush=p.flush)
        )
        lanes.append(dp.normalise_number(product) if p.normalised_products else product)
    addend = _addend(p, c)
    for lane, product in enumerate(lanes):
        seen(Kind.PRODUCT, product, product.significand, lane)
    groups = _groups(p, lanes, scales, seen)
    if p.normalised_each:
        fixed = _sum_one_by_one(p, [*groups, addend])
    elif p.c_after:
        fixed = _sum_then_c(p, groups, addend)
    else:
        fixed = _sum_on_one_grid(p, _Terms(lanes, scales, groups, addend), seen)
    seen(Kind.SUM, fixed, fixed.word, None)
    special = [*(lanes if p.group_fraction_bits is not None else groups), addend]
    return BlockSum(dp.sign_and_magnitude(fixed), *dp.special_cases(special), dp.all_negative_zero(special))


@dataclass(frozen=True)
class _Terms:
    """What a block adds up: the products of its lanes, in groups that are scaled, and c."""

    lanes: Sequence[Number]
    scales: Sequence[Number]
    groups: Sequence[Number]
    c: Number


def _groups(
    p: SumParameters, lanes: Sequence[Number], scales: Sequence[Number], seen: StageObserver
) -> Sequence[Number]:
    """The terms that are aligned: products, or sums of groups of them, by their scales if there are any."""
    groups = lanes
    if p.group > 1 or p.group_fraction_bits is not None:
        total = dp.exact_total if p.group_fraction_bits is None else partial(_group_sum, p)
        groups = [total(lanes[i : i + p.group]) for i in range(0, len(lanes), p.group)]
        for number, group in enumerate(groups):
            seen(Kind.GROUP_SUM, group, group.significand, number)
    if scales:
        groups = [dp.multiply(x, scale) for x, scale in zip(groups, scales, strict=True)]
        kind = Kind.SCALED_PRODUCT if p.group == 1 else Kind.SCALED_GROUP
        for number, group in enumerate(groups):
            seen(kind, group, group.significand, number)
    return groups


def _sum_on_one_grid(p: SumParameters, x: _Terms, seen: StageObserver) -> Fixed:
    """All terms aligned to the largest exponent among them, and added."""
    leading = None if p.c_enters == "always" else Leading.of(x.lanes, x.scales, x.c)
    addend = x.c if leading is None else leading.c
    if leading is not None:
        seen(Kind.LARGEST_PRODUCT, leading.highest, leading.highest.term, None)
    base = _base([*x.groups, addend])
    entering = [_entering(p, term) for term in x.groups]
    if leading is None:
        c_enters = _entering_c(p, addend)
    else:
        c_enters = leading.entering(_entering_c(p, replace(addend, exponent=leading.own)), base)
    top = dp.largest([*entering, c_enters], base)
    seen(Kind.LARGEST_EXPONENT, top, top.term, None)
    others = [_aligned(p, term, top) for term in x.groups]
    if leading is not None:
        others = _aligned_groups(p, x, top, leading, others)
    if p.complement:
        others = [_complemented(y, t.sign ^ addend.sign) for y, t in zip(others, x.groups, strict=True)]
    last = _aligned_c(p, addend, top)
    integer_bits = _integer_bits(p, [*x.groups, addend], scaled=bool(x.scales))
    if p.group_dropped_below is not None:
        assert p.d_format is not None
        whole = _sum(p, [*others, last], len(x.groups), integer_bits)
        others = without_small(others, x.groups, entering, whole, p.group_dropped_below, p.d_format)
    for number, aligned in enumerate(others):
        seen(Kind.ALIGNED_PRODUCT, aligned, aligned.word, number)
    seen(Kind.ALIGNED_C, last, last.word, None)
    total = _sum(p, [*others, last], len(x.groups), integer_bits)
    if p.complement:  # the sum of zeros is zero, although their complements are not
        return replace(total, word=all_of(t.zero for t in [*x.lanes, x.c]).ite(0, total.word))
    return total


def _integer_bits(p: SumParameters, terms: Sequence[Number], *, scaled: bool) -> int:
    """Two hold a product; a sum of a group, or c with another exponent, may need more."""
    usual = not scaled and p.group_fraction_bits is None and not p.c_exponent_offset
    return 2 if usual else max(2, *(t.integer_bits for t in terms))


def block_result(p: ResultParameters, x: BlockSum) -> Term:
    """The word of a block's sum, rounded once."""
    fmt = p.rounded_format or p.format
    magnitude = dp.round_to(
        fmt, x.value, p.rounding,
        fraction_bits=p.fraction_bits, overflow=p.overflow, flush=p.flush, tininess=p.tininess,
    )  # fmt: skip
    sign = x.value.sign
    if p.misplaced:
        small, word = dp.misplaced(fmt, x.value)
        magnitude = small.ite(word[fmt.sign_bit - 1 : 0], magnitude)
        sign = sign | small & word[fmt.sign_bit]
    sign = p.negative_zero.ite(sign | x.all_negative_zero, sign & magnitude.ne(0))
    magnitude = magnitude[fmt.width - 2 : fmt.width - p.format.width]
    return dp.encode(p.format, sign, magnitude, x.infinite, x.infinity_sign, x.nan, p.nan_word)


def _addend(p: SumParameters, c: Term) -> Number:
    """c as it takes part in the alignment: with another exponent, its significand's point is elsewhere."""
    decoded = dp.decode(p.c_format, c, flush=p.flush | p.flush_c)
    offset = p.c_exponent_offset
    return replace(
        decoded, exponent=decoded.exponent.plus(offset), fraction_bits=decoded.fraction_bits + offset
    )


def _group_sum(p: SumParameters, products: Sequence[Number]) -> Number:
    """The sum of some products on a grid of their own, as one number of their largest exponent."""
    assert p.group_fraction_bits is not None
    top = _largest(p, products)
    aligned = [dp.align(x, top, p.group_fraction_bits, p.alignment) for x in products]
    # two integer bits hold a product; rounded down, a sum reaches the lower end of its range
    width = 1 + 2 + p.group_fraction_bits + (len(products) - 1).bit_length()
    return dp.as_number(dp.accumulate(aligned, width))


def _largest(p: SumParameters, terms: Sequence[Number]) -> Exponent:
    """The maximum exponent, with ``zero_exponent`` for zero terms.

    Alignment shifts a zero term by whatever its fields say: it stays zero.
    """
    return dp.largest([_entering(p, t) for t in terms], _base(terms))


def _base(terms: Sequence[Number]) -> int:
    """Where the maximum is counted from: with room for any zero_exponent in use, so that models which differ
    in it are the same graph from there on."""
    return min(t.exponent.low for t in terms) - 16


def _entering_c(p: SumParameters, c: Number) -> Exponent:
    return c.exponent if p.zero_c_by_fields else _entering(p, c)


def _entering(p: SumParameters, x: Number) -> Exponent:
    if p.zero_exponent is None:
        return x.exponent
    return x.exponent.or_where(x.zero & p.zero_given, p.zero_exponent)


def _aligned(p: SumParameters, x: Number, top: Exponent) -> Fixed:
    """On the grid of F fraction bits below ``top``: of ``fraction_bits`` below ``top + coarser``."""
    return dp.align(x, top + p.coarser, p.fraction_bits, p.alignment, sticky=p.alignment_sticky)


def _aligned_groups(
    p: SumParameters, x: _Terms, top: Exponent, leading: Leading, aligned: list[Fixed]
) -> list[Fixed]:
    """Groups on the grid where c decides it only if it leads. aligned: as if it always did."""

    def align(term: Number, to: Exponent) -> Fixed:
        return _aligned(p, term, to)

    if p.c_enters == "leading_by_group":
        return [leading.on_grid_of_c(i, group, top, align) for i, group in enumerate(x.groups)]
    if p.inner_group is None:
        return aligned
    apart = []
    for number, (whole, scale) in enumerate(zip(aligned, x.scales, strict=True)):
        own = x.lanes[number * p.group : (number + 1) * p.group]
        parts = [dp.exact_total(own[i : i + p.inner_group]) for i in range(0, p.group, p.inner_group)]
        apart.append(leading.apart(whole, [align(dp.multiply(part, scale), top) for part in parts]))
    return apart


def _aligned_c(p: SumParameters, c: Number, top: Exponent) -> Fixed:
    """c aligned, or nothing of it where it is smaller than a unit that is large enough to drop it."""
    aligned = _aligned(p, c, top)
    if p.c_dropped_above is None:
        return aligned
    whole = dp.align(c, top, p.fraction_bits, _TRUNCATE)
    drops = signed_word(p.c_dropped_above).slt(signed(top.plus(-p.fraction_bits)))
    return replace(aligned, word=(drops & whole.word.eq(0)).ite(0, aligned.word))


def _complemented(x: Fixed, opposite: Term) -> Fixed:
    """An aligned term, one unit farther from zero where its sign is not c's: a word is complemented to change
    its sign, and the one that two's complement adds is missing."""
    assert isinstance(x.source, Number)
    wide = x.word.sext(x.word.width + 1)
    unit = x.source.sign.ite(const(-1, wide.width), const(1, wide.width))
    return replace(x, word=opposite.ite(wide + unit, wide))


def _sum(p: SumParameters, aligned: Sequence[Fixed], products: int, integer_bits: int = 2) -> Fixed:
    """The sum of aligned terms, in a register of ``carry_bits`` where they are given."""
    whole = 1 + integer_bits + p.fraction_bits + p.alignment_sticky
    enough = products.bit_length()
    if p.carry_bits is None:
        return dp.accumulate(aligned, whole + enough)
    # one bit more than any sum needs, so that "enough" is a theorem and not a definition
    spare = max(p.carry_bits.high, enough + 1)
    lacking = Exponent(Exponent.constant(spare).minus(p.carry_bits), 0, spare - p.carry_bits.low)
    return dp.accumulate(aligned, whole + spare, lacking + p.coarser)


def _sum_then_c(p: SumParameters, products: Sequence[Number], c: Number) -> Fixed:
    """Products summed exactly on their own grid; that sum and c aligned once more."""
    own = _largest(p, products)
    aligned = [_aligned(p, x, own) for x in products]
    enough = len(products).bit_length()
    total = dp.as_number(dp.accumulate(aligned, 3 + aligned[0].fraction_bits + enough))
    top = dp.largest([own, _entering(p, c)], own.low)
    return _sum(p, [_aligned(p, x, top) for x in (total, c)], len(products))


def _sum_one_by_one(p: SumParameters, terms: Sequence[Number]) -> Fixed:
    """c, then each product: two-operand sums, normalised and truncated to F bits each time."""
    bits = p.fraction_bits
    total = terms[-1]
    for term in terms[:-1]:
        top = _largest(p, [total, term])
        pair = [_aligned(p, total, top), _aligned(p, term, top)]
        whole = dp.normalise_number(dp.sign_and_magnitude(dp.accumulate(pair, 5 + bits)).number)
        width = whole.significand.width
        kept = whole.significand[width - 1 : width - 1 - bits]
        beyond = p.coarser.within(0, p.coarser.high).zext(kept.width)
        total = replace(whole, significand=(kept >> beyond) << beyond, fraction_bits=bits)
    return dp.as_fixed(total)
